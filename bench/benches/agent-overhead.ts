import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openApp } from "../../src/app/app.ts";
import type { Bench } from "../harness.ts";
import { keepCorpus } from "../kept-corpus.ts";

/** A repository of so many small files in folders of a hundred, committed; git writes them, which is the fastest. */
function makeRepository(root: string, files: number): void {
  const stream = ["commit refs/heads/main", "committer Bench <bench@example.org> 0 +0000", "data 6", "first"];
  for (let i = 0; i < files; i++) {
    const text = `file ${i}\nof ${files}\n`;
    const path = `d${Math.floor(i / 5000)}/s${Math.floor(i / 100)}/f${i}.txt`;
    stream.push(`M 100644 inline ${path}`, `data ${text.length}`, text);
  }
  // Nothing may work on the repository in the background while it is measured, and nobody needs it after a crash.
  const settings = ["-c", "gc.auto=0", "-c", "core.fsync=none", "-c", "core.compression=0"];
  const git = (args: readonly string[], input = "") =>
    execFileSync("git", [...settings, ...args], { cwd: root, input, stdio: ["pipe", "ignore", "ignore"] });
  git(["init", "-q", "-b", "main"]);
  git(["fast-import", "--quiet"], `${stream.join("\n")}\n`);
  git(["reset", "-q", "--hard"]);
  git(["status"]);
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
    const maker = "bench/benches/agent-overhead.ts";
    const root = await keepCorpus(`agent-${size}`, [maker], async (folder) => {
      makeRepository(folder, size);
      // A file that changed within the last two seconds is not trusted; the goal is about trees that rest.
      await wait(3_000);
    });
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
