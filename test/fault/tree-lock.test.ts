// Guards: whoever changes the real tree has it alone. Each contender is a process of its own.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN, runCli } from "../support/cli.ts";

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("bell.txt", "still\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

interface Working {
  /** What it said so far. */
  said(): string;
  /** Lets it go on. */
  go(): void;
  readonly ended: Promise<number | null>;
}

/** Starts `verbatim` in a process of its own. */
function start(repo: AgentRepo, args: readonly string[], env = repo.env): Working {
  const child = spawn(process.execPath, [BIN, ...args], { cwd: repo.root, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => void (said += text.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return { said: () => said, go: () => void child.stdin.end("go\n"), ended };
}

const contend = (repo: AgentRepo, ...args: string[]) => runCli(args, { cwd: repo.root, env: repo.env });
const view = (script: string) => [
  "agent",
  "--goal",
  "look",
  "--no-verify",
  "--apply",
  "never",
  "--",
  "sh",
  "-c",
  script,
];
const isBusy = expect.stringContaining("error[DOMAIN_BUSY]");

describe("while an agent looks at the tree", () => {
  it("no run is rolled back and none is recovered into it; both work when it has ended", async () => {
    const repo = makeSample();
    const { summary } = await repo.agent(["--no-verify", "--apply", "auto"], ["sh", "-c", "echo on > lamp.txt"]);
    expect(summary.outcome).toBe("applied");
    const state = join(summary.run_dir, "agent/run.json");
    const applied = readFileSync(state, "utf8");
    const looking = start(repo, view("echo looking; read line"));
    await vi.waitUntil(() => looking.said().includes("looking"), { timeout: 200_000 });

    const rollback = await contend(repo, "workflow", "rollback", summary.run_id);
    expect([rollback.exit, rollback.stderr]).toEqual([4, isBusy]);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("on\n");

    // What a process that died while the change landed leaves.
    const before = JSON.parse(applied) as { readonly candidate: number };
    const back_to = {
      state: "unverified",
      reason: "you asked for --no-verify",
      candidate: before.candidate,
      verification: null,
    };
    writeFileSync(state, JSON.stringify({ ...before, state: "landing", back_to }));
    const recovery = await contend(repo, "agent", "apply", summary.run_id);
    expect([recovery.exit, recovery.stderr]).toEqual([4, isBusy]);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("on\n");
    writeFileSync(state, applied);

    looking.go();
    expect(await looking.ended).toBe(0);
    expect((await contend(repo, "workflow", "rollback", summary.run_id)).exit).toBe(0);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("off\n");
  });
});

describe("an apply that is at work", () => {
  it("keeps its lock when another process tries to apply the same run", async () => {
    const repo = makeSample();
    const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", "echo on > lamp.txt"]);
    // The tree has moved on, so git is asked how. That of this one process waits, as one does on a slow disk.
    repo.write("notes.txt", "a local file\n");
    const slow = join(repo.base, "slow");
    mkdirSync(slow);
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const wait = `touch ${slow}/writing; while [ ! -e ${slow}/go ]; do sleep 0.05; done`;
    const git = `#!/bin/sh\ncase "$*" in *"diff-tree -r -z --name-only"*) ${wait};; esac\nexec ${real} "$@"\n`;
    writeFileSync(join(slow, "git"), git, { mode: 0o755 });
    onTestFinished(() => writeFileSync(join(slow, "go"), ""));
    const env = { ...repo.env, PATH: `${slow}:${repo.env["PATH"]}` };
    const applying = start(repo, ["agent", "apply", summary.run_id], env);
    await vi.waitUntil(() => existsSync(join(slow, "writing")), { timeout: 200_000 });

    const second = await contend(repo, "agent", "apply", summary.run_id);
    expect([second.exit, second.stderr]).toEqual([
      4,
      expect.stringMatching(/^error\[RUN_AT_WORK\] the run is at work \(process [0-9]+\): /),
    ]);
    const look = await contend(repo, ...view("true"));
    expect([look.exit, look.stderr]).toEqual([4, isBusy]);

    writeFileSync(join(slow, "go"), "");
    expect(await applying.ended).toBe(0);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("on\n");
    expect((await contend(repo, ...view("true"))).exit).toBe(0);
  });
});
