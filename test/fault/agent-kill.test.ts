// Guards: whoever kills the tool itself in the middle of an agent run loses no work. What was at work is told to others, what
// is left is repaired by the next verb, and the tree is as it was before or as it is after, never between.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { type AgentRepo, makeAgentRepo, type Summary } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { findClosedFolder, SOMEBODY } from "../support/somebody.ts";

/** The verify command waits as long as this file is there, which git ignores. */
const WAIT = "wait.txt";

function start(
  repo: AgentRepo,
  ...args: string[]
): { readonly pid: number; readonly ended: Promise<void>; kill(): Promise<void> } {
  const child: ChildProcess = spawn(process.execPath, [BIN, "agent", ...args], {
    cwd: repo.root,
    env: repo.env,
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  return { pid: child.pid!, ended, kill };
}

type Listed = Pick<Summary, "run_id" | "run_dir" | "outcome" | "reason">;

async function look(repo: AgentRepo): Promise<Listed> {
  const { stdout } = await repo.verbatim("agent", "list", "--json");
  return (JSON.parse(stdout) as { runs: Listed[] }).runs[0]!;
}

/** How the run stands in the eyes of the workflow room, by each of its verbs that say it. */
async function listStates(repo: AgentRepo): Promise<string[]> {
  const { stdout } = await repo.verbatim("workflow", "list", "--json");
  const [listed] = (JSON.parse(stdout) as { runs: { status: string }[] }).runs;
  const [status, next, show] = await Promise.all(
    ["status", "next", "show"].map(async (verb) => {
      return JSON.parse((await repo.verbatim("workflow", verb, "@", "--json")).stdout) as Record<string, string>;
    }),
  );
  expect([next!["message"], next!["prompt"]]).toEqual([status!["message"], null]);
  return [listed!.status, status!["status"]!, show!["status"]!, status!["code"]!, status!["message"]!];
}

async function waitFor(repo: AgentRepo, outcome: string): Promise<void> {
  await vi.waitFor(async () => expect((await look(repo))?.outcome).toBe(outcome), { timeout: 200_000, interval: 200 });
}

it("a run whose tool is killed while it verifies, and again while it lands, reaches the tree all the same", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write(".gitignore", `${WAIT}\n`);
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const lamp = () => readFileSync(join(repo.root, "lamp.txt"), "utf8");

  repo.write(WAIT, "");
  const verify = ["--verify-sh", `test ! -e ${WAIT} || sleep 300`];
  const working = start(repo, "--goal", "light the lamp", ...verify, "--", "sh", "-c", "echo on > lamp.txt");
  await waitFor(repo, "verifying");
  const atWork = ["running", "running", "running", "RUN_AT_WORK", "an agent run is at work: verifying"];
  expect(await listStates(repo)).toEqual(atWork);
  const busy = await repo.verbatim("agent", "discard", "@");
  expect([busy.exit, busy.stderr.split("\n")[0]]).toEqual([
    4,
    `error[RUN_AT_WORK] the run is at work (process ${working.pid}): verifying`,
  ]);
  await working.kill();
  // Nobody is at work on it any more, and nothing has repaired it yet.
  const { run_id, outcome, reason } = await look(repo);
  const lost = `Verbatim ended while it judged the change; start again with: verbatim agent verify ${run_id}`;
  expect(await listStates(repo)).toEqual(["blocked", "blocked", "blocked", "RUN_NOT_RUNNING", lost]);
  expect([outcome, reason]).toEqual(["interrupted", expect.stringContaining(`verbatim agent verify ${run_id}`)]);
  rmSync(join(repo.root, WAIT));
  const again = await repo.verbatim("agent", "verify", "@");
  expect([again.exit, (await look(repo)).outcome, lamp()]).toEqual([0, "verified", "off\n"]);

  // The tree has moved on, so the change is verified once more while it lands.
  repo.write("notes.txt", "a local file\n");
  repo.write(WAIT, "");
  const landing = start(repo, "apply", "@");
  await waitFor(repo, "landing");
  const other = await repo.verbatim("agent", "verify", "@");
  expect([other.exit, other.stderr.split("\n")[0]]).toEqual([
    4,
    `error[RUN_AT_WORK] the run is at work (process ${landing.pid}): landing`,
  ]);
  await landing.kill();
  expect(lamp()).toBe("off\n");
  rmSync(join(repo.root, WAIT));
  const landed = await repo.verbatim("agent", "apply", "@");
  expect([landed.exit, (await look(repo)).outcome, lamp()]).toEqual([0, "applied", "on\n"]);
  expect(landed.stderr).toContain("the tree was put back to what it was before the landing");
});

/** Everything that an overlay keeps apart: whiteouts, an opaque folder, a renamed one, modes, links, what git ignores. */
const BUSY_AGENT = [
  "echo on > lamp.txt",
  "rm old.txt",
  "mv harbour port",
  "mv quay wharf && mv wharf/inner wharf/deep && echo mine > wharf/deep/own.txt",
  "mv pier jetty",
  "rm -r shed && mkdir shed && echo new > shed/list.txt",
  "printf 'a\\000b' > light.bin",
  "ln -s lamp.txt now",
  "chmod +x run.sh",
  "echo seen > wait.txt",
  "echo ready",
  "sleep 300",
].join("; ");

// The two ways an agent's tree is kept apart; landlock works on a copy as ns-bind does.
it.each(["ns-overlay", "landlock"])(
  "what an agent had done when its tool was killed is a candidate for the next verb (%s)",
  async (guard) => {
    const repo = makeAgentRepo();
    const files = ["lamp.txt", "old.txt", "harbour/a.txt", "harbour/b/c.txt", "shed/list.txt", "shed/x.txt"];
    for (const path of [...files, "quay/inner/x.txt", "pier/y.txt", "pier/z.txt"]) repo.write(path, `${path}\n`);
    repo.write("run.sh", "#!/bin/sh\n", 0o644);
    repo.write(".gitignore", `${WAIT}\n`);
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");

    const flags = ["--verify", "test -x run.sh", "--guard", guard];
    const working = start(repo, "--goal", "light the lamp", ...flags, "--", "sh", "-c", BUSY_AGENT);
    await vi.waitFor(async () => expect((await repo.verbatim("agent", "logs", "@")).stdout).toBe("ready\n"), {
      timeout: 200_000,
      interval: 200,
    });
    await working.kill();
    const { run_id, outcome, reason } = await look(repo);
    expect([outcome, reason]).toEqual(["interrupted", expect.stringContaining(`verbatim agent verify ${run_id}`)]);
    // Somebody works on while the run waits: what is theirs is not in the candidate.
    repo.write("shed/x.txt", "edited since\n");
    repo.write("theirs.txt", "a local file\n");
    // Also in the folder that the agent renamed: in an overlay its new name shows what is in the old one today.
    repo.write("harbour/a.txt", "edited since\n");
    repo.write("harbour/b/theirs.txt", "a local file\n");
    // Nothing in the old folders is what it was: one is another one now, in one each file was edited or removed.
    rmSync(join(repo.root, "quay"), { recursive: true });
    repo.write("quay/inner/theirs.txt", "a local file\n");
    rmSync(join(repo.root, "pier/y.txt"));
    repo.write("pier/z.txt", "edited since\n");
    const verified = await repo.verbatim("agent", "verify", "@", "--json");
    expect([verified.exit, verified.stderr]).toEqual([0, expect.stringContaining("what the agent had done is kept")]);
    const { changes } = JSON.parse(verified.stdout) as {
      changes: { ignored: number; files: { path: string; operation: string; kind: string }[] };
    };
    expect(changes.files.map(({ path, operation, kind }) => `${operation} ${kind} ${path}`)).toEqual([
      "delete text harbour/a.txt",
      "delete text harbour/b/c.txt",
      "create text jetty/y.txt",
      "create text jetty/z.txt",
      "modify text lamp.txt",
      "create binary light.bin",
      "create link now",
      "delete text old.txt",
      "delete text pier/y.txt",
      "delete text pier/z.txt",
      "create text port/a.txt",
      "create text port/b/c.txt",
      "delete text quay/inner/x.txt",
      "mode mode run.sh",
      "modify text shed/list.txt",
      "delete text shed/x.txt",
      "create text wharf/deep/own.txt",
      "create text wharf/deep/x.txt",
    ]);
    expect(changes.ignored).toBe(1);

    const read = (path: string) => readFileSync(join(repo.root, path), "utf8");
    const theirs = ["shed/x.txt", "harbour/a.txt", "pier/z.txt"].flatMap((path) => ["--except", path]);
    expect((await repo.verbatim("agent", "apply", "@", ...theirs)).exit).toBe(0);
    const landed = ["lamp.txt", "port/a.txt", "port/b/c.txt", "jetty/y.txt", "jetty/z.txt", "wharf/deep/x.txt"];
    expect([...landed, "shed/x.txt", "harbour/a.txt", "pier/z.txt"].map(read)).toEqual([
      "on\n",
      "harbour/a.txt\n",
      "harbour/b/c.txt\n",
      "pier/y.txt\n",
      "pier/z.txt\n",
      "quay/inner/x.txt\n",
      "edited since\n",
      "edited since\n",
      "edited since\n",
    ]);
    expect(["harbour/b/c.txt", "port/b/theirs.txt"].map((path) => existsSync(join(repo.root, path)))).toEqual([
      false,
      false,
    ]);
  },
);

it("what an agent of an ordinary user had done when its tool was killed is kept as well", async ({ skip }) => {
  const repo = makeAgentRepo();
  const closed = findClosedFolder(dirname(BIN)) ?? findClosedFolder(dirname(repo.base));
  if (closed !== null) return skip(`another user may not enter ${closed}`);
  repo.write("lamp.txt", "off\n");
  repo.write("old.txt", "old\n");
  // Something is hidden, so the view needs what lies on top of it.
  repo.write(".env", "LAMP=tr0ub4dor-under-the-lamp\n");
  repo.write(".gitignore", ".env\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const { uid, gid } = SOMEBODY;
  if (uid !== undefined) execFileSync("chown", ["-R", `${uid}:${gid}`, repo.base]);
  const options = { cwd: repo.root, env: repo.env, ...SOMEBODY };
  const script = "echo on > lamp.txt; rm old.txt; mkdir quay; echo new > quay/a.txt; echo ready; sleep 300";
  const flags = ["--goal", "light the lamp", "--verify", "true", "--guard", "ns-overlay"];
  const child = spawn(process.execPath, [BIN, "agent", ...flags, "--", "sh", "-c", script], {
    ...options,
    stdio: "pipe",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve("ended")));
  const ready = new Promise<string>((resolve) => {
    child.stdout.on("data", (bytes: Buffer) => bytes.includes("ready") && resolve("ready"));
  });
  if ((await Promise.race([ready, ended])) === "ended") return skip("ordinary users have no overlays here");
  child.kill("SIGKILL");
  await ended;
  const verbatim = (...args: string[]) =>
    spawnSync(process.execPath, [BIN, "agent", ...args], { ...options, encoding: "utf8" });
  const { stdout, stderr } = verbatim("verify", "@", "--json");
  expect(stderr).toContain("what the agent had done is kept");
  const { outcome, changes } = JSON.parse(stdout) as Pick<Summary, "outcome" | "changes">;
  expect(outcome).toBe("verified");
  expect(changes.files.map(({ path, operation }) => `${operation} ${path}`)).toEqual([
    "modify lamp.txt",
    "delete old.txt",
    "create quay/a.txt",
  ]);
});

it("what an agent had done that reached the real tree is no candidate, when its tool was killed before it said so", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  // Nothing holds it back: it writes its copy and the real tree, and keeps the records as they are while it works.
  const [state, kept] = [join(repo.base, "state"), join(repo.base, "kept")];
  const script = `echo on > lamp.txt; echo on > "${repo.root}/lamp.txt"; cp -r "${state}" "${kept}"`;
  const working = start(repo, "--goal", "light the lamp", "--no-verify", "--guard", "audit", "--", "sh", "-c", script);
  await working.ended;
  const { run_id, run_dir } = await look(repo);
  const shown = (await repo.verbatim("agent", "show", run_id, "--json")).stdout;
  const { proof } = (JSON.parse(shown) as { summary: Summary }).summary;
  expect(proof.condition).toMatch(/^RESTORATION_FAILED/);

  // As after a kill between the proof and the word of it in the record.
  rmSync(state, { recursive: true });
  cpSync(kept, state, { recursive: true });
  const verified = await repo.verbatim("agent", "verify", run_id);
  expect(verified.stderr).toContain("the agent had changed nothing that can be applied");
  expect(verified.exit).not.toBe(0);
  expect((await look(repo)).outcome).toBe("interrupted");
  expect((await repo.verbatim("agent", "apply", run_id)).exit).not.toBe(0);
  expect(existsSync(join(run_dir, "agent/candidates"))).toBe(false);
});
