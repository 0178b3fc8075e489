// kill -9 of the tool, or of everything it started, at two hundred moments of an agent run and of its landing. Nothing of it
// may reach the tree that was not applied whole, and the next verb goes on from whatever was left.
import { afterAll, expect, it } from "vitest";
import { KILLED, killRound, makeHarbour } from "../support/agent-kill.ts";

const ROUNDS = 200;
const GROUP = 10;
/** Spread by a fixed sequence over a run and a little longer. */
const LONGEST = 2400;

const ends = new Map<string, number>();
afterAll(() => console.log([...ends].map(([end, count]) => `${end}: ${count}`).join(", ")));

it.each(Array.from({ length: ROUNDS / GROUP }, (_, i) => i * GROUP))(
  "rounds from %i on leave the tree as it was, or as it was applied",
  async (first) => {
    // One repository for some rounds: what is left of one run is met by the next.
    const repo = makeHarbour();
    for (let i = first; i < first + GROUP; i++) {
      const moment = (i * 389) % LONGEST;
      const end = await killRound(repo, moment, KILLED[i % 3 === 2 ? 1 : 0]!);
      ends.set(end, (ends.get(end) ?? 0) + 1);
      expect([i, moment, end]).toEqual([
        i,
        moment,
        expect.stringMatching(/landed|nothing began|_|unchanged|verified|interrupted/),
      ]);
    }
  },
  1_800_000,
);
