import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { openApp } from "../../src/app/call.ts";
import { type CorpusFile, keepRepository } from "../git-corpus.ts";
import type { Bench } from "../harness.ts";

/** So many small files in folders of a hundred. */
function* makeFiles(count: number): Iterable<CorpusFile> {
  for (let i = 0; i < count; i++) {
    const path = `d${Math.floor(i / 5000)}/s${Math.floor(i / 100)}/f${i}.txt`;
    yield { path, text: `file ${i}\nof ${count}\n` };
  }
}

/** An agent that does nothing, proof included, once the first run has filled the stat cache. */
export const agentOverhead: Bench = {
  name: "agent-overhead",
  what: "an isolated agent that does nothing, proof included, stat cache warm",
  baseline: "git status on the same tree",
  corpus: "N small files in folders of a hundred, one commit",
  sizes: [5_000, 50_000],
  goal: { kind: "time", atMost: 3 },
  async prepare(size) {
    const makers = ["bench/benches/agent-overhead.ts"];
    const root = await keepRepository(`agent-${size}`, makers, () => makeFiles(size));
    // The state must not lie below the temporary folder, which an agent has for itself.
    const base = realpathSync(mkdtempSync(join(homedir(), ".verbatim-bench-")));
    const env = { PATH: process.env["PATH"], HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
    const app = openApp({ door: "library", start: root, env, platform: process.platform });
    const ours = () => app.call("agent.run", { goal: "nothing", no_verify: true, command: ["true"] });
    await ours();
    await ours();
    return {
      ours,
      baseline: () => execFileSync("git", ["status", "--porcelain"], { cwd: root, stdio: "ignore" }),
      async close() {
        await app.close();
        for (const made of [base, join(root, ".verbatim")]) rmSync(made, { recursive: true, force: true });
      },
    };
  },
};
