import { execFileSync } from "node:child_process";
import { openAgentCorpus } from "../agent-corpus.ts";
import type { Bench } from "../harness.ts";

/** An agent that does nothing, proof included, once the first run has filled the stat cache. */
export const agentOverhead: Bench = {
  name: "agent-overhead",
  what: "an isolated agent that does nothing, proof included, stat cache warm",
  baseline: "git status on the same tree",
  corpus: "N small files in folders of a hundred, one commit",
  sizes: [5_000, 50_000],
  goal: { kind: "time", atMost: 3 },
  async prepare(size) {
    const { root, app, close } = await openAgentCorpus(size);
    const ours = () => app.call("agent.run", { goal: "nothing", no_verify: true, command: ["true"] });
    await ours();
    await ours();
    return {
      ours,
      baseline: () => execFileSync("git", ["status", "--porcelain"], { cwd: root, stdio: "ignore" }),
      close,
    };
  },
};
