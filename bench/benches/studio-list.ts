import { openApp } from "../../src/app/call.ts";
import type { Bench } from "../harness.ts";
import { StudioCorpus } from "../studio-corpus.ts";

/** An operation over a table of so many runs, in process; judged at the 95th percentile. */
function operation(
  name: string,
  what: string,
  limit: number,
  ask: (app: ReturnType<typeof openApp>) => unknown,
): Bench {
  return {
    name,
    what,
    baseline: "the time it may take",
    corpus: "N runs in the table that the ledger feeds",
    sizes: [1_000, 10_000],
    goal: { kind: "time", atMost: 1 },
    maxGrowth: 0.9,
    tailRounds: 40,
    shares: "studio-list",
    onAsking: name !== "studio-list",
    async prepare(size) {
      const corpus = new StudioCorpus();
      await corpus.seedRuns(size);
      const app = openApp({ surface: "library", start: corpus.root, env: corpus.env, platform: process.platform });
      const { total } = await app.call("agent.list", {});
      if (total !== size) throw new Error(`${total} runs are listed, not ${size}`);
      const close = async () => {
        await app.close();
        await corpus.close();
      };
      return { ours: () => ask(app), baseline: limit, close };
    },
  };
}

export const list = operation("studio-list", "agent.list, a page of a hundred", 30, (app) =>
  app.call("agent.list", { limit: 100 }),
);

export const filtered = operation("studio-list-filtered", "agent.list, a page of one outcome", 30, (app) =>
  app.call("agent.list", { limit: 100, outcome: "rejected" }),
);

export const searched = operation(
  "studio-list-searched",
  "agent.list, a page of what has a word in its goal",
  60,
  (app) => app.call("agent.list", { limit: 100, q: "BOAT 77" }),
);
