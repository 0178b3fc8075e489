import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { NOTES, openAgentCorpus } from "../agent-corpus.ts";
import type { Bench } from "../harness.ts";

const WAITS = `sleep 3; echo more >> ${NOTES}`;

export const agentRace: Bench = {
  name: "agent-race",
  what: "a race of three agents that wait three seconds, with the verification of their one change",
  baseline: "one such run with its verification",
  corpus: "N small files in folders of a hundred, one commit",
  sizes: [5_000],
  goal: { kind: "time", atMost: 1.2 },
  maxRounds: 3,
  onAsking: true,
  async prepare(size) {
    const corpus = await openAgentCorpus(size);
    const asked = { goal: "more", verify: ["true"] };
    const command = ["sh", "-c", WAITS];
    return {
      async ours() {
        const { members } = await corpus.app.call("agent.race", { ...asked, count: 3, command });
        if (members.some(({ outcome }) => outcome !== "verified")) throw new Error("a member did not get there");
      },
      baseline: () => corpus.app.call("agent.run", { ...asked, command }),
      close: () => corpus.close(),
    };
  },
};

/** As much as a run may leave besides its change. */
const LEAST = 1_000_000;

export const agentDisk: Bench = {
  name: "agent-disk",
  what: "bytes on the disk that an ended run leaves on an unchanged tree, once the next one has slimmed it",
  baseline: "1 MB, and the change itself",
  corpus: "N small files in folders of a hundred, one commit",
  sizes: [5_000, 50_000],
  unit: "bytes",
  goal: { kind: "time", atMost: 1 },
  maxRounds: 2,
  onAsking: true,
  async prepare(size) {
    const { root, app, base, close } = await openAgentCorpus(size);
    const places = [join(root, ".verbatim"), base];
    const run = async () => {
      const asked = { goal: "more", no_verify: true, command: ["sh", "-c", `echo more >> ${NOTES}`] };
      const { changes } = await app.call("agent.run", asked);
      await app.call("agent.prune", {});
      return changes.added_lines;
    };
    // The first ones leave what all later ones share.
    await run();
    await run();
    return {
      async ours() {
        const before = measure(places);
        await run();
        return { bytes: measure(places) - before };
      },
      baseline: () => ({ bytes: LEAST }),
      close,
    };
  },
};

/** What the files below some folders take, in bytes of theirs and not in blocks. */
function measure(places: readonly string[]): number {
  const files = (place: string): Dirent[] =>
    readdirSync(place, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return places
    .flatMap(files)
    .reduce((sum, one) => sum + (statSync(join(one.parentPath, one.name), { throwIfNoEntry: false })?.size ?? 0), 0);
}
