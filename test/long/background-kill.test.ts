// kill -9 of the supervisor, a client, the guard or the relay, or the agent of runs in the background, at two hundred moments.
import { afterAll, expect, it } from "vitest";
import { killBackground, makeLighthouse, TARGETS } from "../support/background-kill.ts";
import { findObstacle } from "../support/network-origin.ts";
import { makeDice } from "../support/patch-fuzz.ts";

const obstacle = await findObstacle();
const ROUNDS = Number(process.env["VERBATIM_KILL_ROUNDS"] ?? 200);
const GROUP = 10;
const LONGEST = 1400;

const ends = new Map<string, number>();
afterAll(() => console.log([...ends].map(([end, count]) => `${end}: ${count}`).join(", ")));

it.each(Array.from({ length: Math.ceil(ROUNDS / GROUP) }, (_, i) => i * GROUP))(
  "rounds from %i on leave no process and no mount, the tree as it was, and work that can be applied",
  async (first) => {
    const dice = makeDice(first + 1);
    const repo = makeLighthouse();
    // Without a way to limit the network there is no relay to be killed.
    const flags = obstacle === null ? ["--host", "api.example.com"] : [];
    for (let i = first; i < Math.min(ROUNDS, first + GROUP); i++) {
      const target = TARGETS[dice(TARGETS.length)]!;
      const end = await killBackground(repo, i, target, dice(LONGEST), flags);
      ends.set(end, (ends.get(end) ?? 0) + 1);
      expect([i, end]).toEqual([
        i,
        expect.stringMatching(/: (?:verified|unchanged)$|: interrupted \(.*nothing that can be applied/),
      ]);
    }
  },
  3_600_000,
);
