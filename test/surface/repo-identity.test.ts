import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { hookPorts } from "../../src/app/compose/hook-ports.ts";
import { answerHook } from "../../src/app/hooks/answer-hook.ts";
import { buildChild } from "../support/child.ts";
import { makeFolder } from "../support/cli.ts";

/** A run belongs to the repository it was made in, not to every folder of that name. */

interface RunRecord {
  readonly repo_id: string;
  readonly repo_root: string;
  readonly common_dir: string;
}

const PATCH = "diff --git a/lamp.txt b/lamp.txt\n--- a/lamp.txt\n+++ b/lamp.txt\n@@ -1 +1 @@\n-off\n+on\n";

function git(cwd: string, ...args: string[]): void {
  execFileSync("git", ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", ...args], { cwd, stdio: "ignore" });
}

function makeRepository(root: string): string {
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "lamp.txt"), "off\n");
  // Unguarded copies are quick; this is not about isolation.
  writeFileSync(join(root, "verbatim.config.json"), '{"workflow":{"verify":{"isolation":"worktree"}}}');
  git(root, "init", "-q");
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "base");
  return root;
}

/** Repositories that share the folders of one user. */
function makeUser() {
  const base = makeFolder();
  const runs = join(base, "runs");
  const env = { PATH: process.env["PATH"], HOME: base, XDG_STATE_HOME: join(base, "state"), VERBATIM_RUNS_ROOT: runs };
  const call = async (root: string, name: string, input: object) => {
    const app = openApp({ surface: "library", start: root, env, platform: process.platform });
    try {
      return (await app.callUnknown(name, input)) as Record<string, unknown>;
    } finally {
      await app.close();
    }
  };
  const read = (root: string) =>
    JSON.parse(readFileSync(join(root, ".verbatim/state/repo.json"), "utf8")) as RunRecord & { root: string };
  return {
    base,
    runs,
    env,
    call,
    read,
    repository: (path: string) => makeRepository(join(base, path)),
    /** A run whose patch waits to be applied; its directory. */
    async verified(root: string, run_id: string): Promise<string> {
      const made = await call(root, "workflow.new", { goal: "light it", run_id, direct: true, verify: ["true"] });
      writeFileSync(join(base, "given.patch"), PATCH);
      await call(root, "workflow.submit", { artifact: "diff.patch", file: join(base, "given.patch"), run: run_id });
      return String(made["run_dir"]);
    },
    async listed(root: string): Promise<string[]> {
      const { runs: found } = (await call(root, "workflow.list", { all: true })) as { runs: { run_id: string }[] };
      return found.map(({ run_id }) => run_id);
    },
  };
}

/** Every verb that changes a run, by how it is called. */
const CHANGES: readonly (readonly [string, (run: string) => object])[] = [
  ["workflow.advance", (run) => ({ run, apply: true })],
  ["workflow.rollback", (run) => ({ run })],
  ["workflow.abort", (run) => ({ run, reason: "not mine" })],
  ["workflow.submit", (run) => ({ artifact: "diff.patch", file: "lamp.txt", run })],
];

describe("runs of two repositories with one name", () => {
  it("are listed, found and changed only where they were made", async () => {
    const user = makeUser();
    const [p, q] = [user.repository("p/app"), user.repository("q/app")];
    const dir = await user.verified(p, "mine");
    expect(basename(dirname(dir))).toBe(`app-${user.read(p).repo_id.slice(0, 8)}`);
    expect(await user.listed(p)).toEqual(["mine"]);
    expect(await user.listed(q)).toEqual([]);
    await expect(user.call(q, "workflow.advance", { run: "mine", apply: true })).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
    });
    for (const [name, input] of CHANGES) {
      await expect(user.call(q, name, input(dir)), name).rejects.toMatchObject({
        code: "RUN_OTHER_REPO",
        where: dir,
        details: { repo_root: p, repo_id: user.read(p).repo_id },
      });
    }
    expect(readFileSync(join(q, "lamp.txt"), "utf8")).toBe("off\n");
    expect(existsSync(join(dir, "run.lock"))).toBe(false);
    // Looking is free, and the owner still may.
    expect(await user.call(q, "workflow.show", { run: dir })).toMatchObject({ run_id: "mine" });
    expect(await user.call(p, "workflow.advance", { run: dir, apply: true })).toMatchObject({ status: "pass" });
    expect(readFileSync(join(p, "lamp.txt"), "utf8")).toBe("on\n");
  });

  it("may have one id without meeting", async () => {
    const user = makeUser();
    const [p, q] = [user.repository("p/app"), user.repository("q/app")];
    for (const root of [p, q]) await user.call(root, "workflow.new", { goal: "g", run_id: "same" });
    expect(readdirSync(user.runs)).toHaveLength(2);
    expect(await user.call(q, "workflow.status", { run: "same" })).toMatchObject({ run_id: "same" });
    await expect(user.call(q, "workflow.new", { goal: "g", run_id: "same" })).rejects.toMatchObject({
      code: "RUN_EXISTS",
    });
  });

  it("name their repository and the git folder it shares with its work trees", async () => {
    const user = makeUser();
    const p = user.repository("p/app");
    git(p, "worktree", "add", "-q", join(user.base, "tree"));
    const records = await Promise.all(
      [p, join(user.base, "tree")].map(async (root) => {
        const { run_dir } = await user.call(root, "workflow.new", { goal: "g" });
        return JSON.parse(readFileSync(join(String(run_dir), "RUN.json"), "utf8")) as RunRecord;
      }),
    );
    expect(records.map(({ common_dir }) => common_dir)).toEqual([join(p, ".git"), join(p, ".git")]);
    expect(records[0]!.repo_id).toMatch(/^[0-9a-f]{32}$/);
    expect(records[0]!.repo_id).not.toBe(records[1]!.repo_id);
  });
});

describe("the identity of a repository", () => {
  it("moves with its folder, runs included, also under another name", async () => {
    const user = makeUser();
    const old = user.repository("p/app");
    await user.verified(old, "mine");
    const { repo_id } = user.read(old);
    const moved = join(user.base, "elsewhere-now");
    renameSync(old, moved);
    // Looking notes the new place: a folder that comes to lie at the old one later must not be taken for the first.
    expect(await user.listed(moved)).toEqual(["mine"]);
    expect(user.read(moved)).toMatchObject({ repo_id, root: moved });
    expect(await user.call(moved, "workflow.advance", { run: "mine", apply: true })).toMatchObject({ status: "pass" });
    expect(user.read(moved)).toMatchObject({ repo_id, root: moved });
    const { run_dir } = await user.call(moved, "workflow.new", { goal: "g", run_id: "later", allow_dirty: true });
    expect(String(run_dir)).toContain(`elsewhere-now-${repo_id.slice(0, 8)}`);
    expect(await user.listed(moved)).toEqual(["later", "mine"]);
  });

  it("is new in a copy, which has no runs, and in a clone", async () => {
    const user = makeUser();
    const p = user.repository("p/app");
    const dir = await user.verified(p, "mine");
    for (const name of ["copy/app", "clone/app"]) {
      const root = join(user.base, name);
      if (name === "copy/app") cpSync(p, root, { recursive: true });
      else execFileSync("git", ["clone", "-q", p, root], { stdio: "ignore" });
      expect(await user.listed(root)).toEqual([]);
      await expect(user.call(root, "workflow.advance", { run: dir, apply: true })).rejects.toMatchObject({
        code: "RUN_OTHER_REPO",
      });
      await user.call(root, "workflow.new", { goal: "g", run_id: "own" });
      expect(await user.listed(root)).toEqual(["own"]);
      expect(user.read(root).repo_id).not.toBe(user.read(p).repo_id);
    }
    expect(await user.listed(p)).toEqual(["mine"]);
  });

  it("is another one when a second copy takes the place of the first", async () => {
    const user = makeUser();
    const p = user.repository("p/app");
    await user.call(p, "workflow.new", { goal: "g" });
    const copy = join(user.base, "copy/app");
    const ids = new Set<string>();
    for (const run_id of ["first", "second"]) {
      rmSync(copy, { recursive: true, force: true });
      cpSync(p, copy, { recursive: true });
      await user.call(copy, "workflow.new", { goal: "g", run_id });
      ids.add(user.read(copy).repo_id);
      expect(await user.listed(copy)).toEqual([run_id]);
    }
    expect(ids.size).toBe(2);
  });

  it("does not join clones of a repository that has our state folder committed", async () => {
    const user = makeUser();
    const p = user.repository("p/app");
    await user.call(p, "workflow.new", { goal: "g" });
    git(p, "add", "-f", ".verbatim/state/repo.json");
    git(p, "commit", "-q", "-m", "state");
    const roots = ["one/app", "two/app"].map((name) => join(user.base, name));
    for (const root of roots) execFileSync("git", ["clone", "-q", p, root], { stdio: "ignore" });
    rmSync(p, { recursive: true });
    const dir = await user.verified(roots[0]!, "mine");
    expect(await user.listed(roots[0]!)).toContain("mine");
    expect(await user.listed(roots[1]!)).not.toContain("mine");
    await expect(user.call(roots[1]!, "workflow.advance", { run: dir, apply: true })).rejects.toMatchObject({
      code: "RUN_OTHER_REPO",
    });
  });

  it("that is forged or broken is refused with its place, left as it is, and not waited for", async () => {
    const user = makeUser();
    const p = user.repository("p/app");
    const place = join(p, ".verbatim/state/repo.json");
    mkdirSync(dirname(place), { recursive: true });
    const say = (repo_id: string, root: string) =>
      JSON.stringify({ common_dir: null, repo_id, root, schema_version: "verbatim-repo-v1" });
    const texts = ["", "{", "[]", '{"repo_id":"0"}', say("0123", "/"), say("A".repeat(32), "/")];
    for (const text of [...texts, say("a".repeat(32), "/\0"), `{"x":"${"y".repeat(70_000)}"}`]) {
      writeFileSync(place, text);
      for (const [name, input] of [
        ["workflow.new", { goal: "g" }],
        ["workflow.list", {}],
      ] as const) {
        await expect(user.call(p, name, input)).rejects.toMatchObject({ code: "REPO_ID_INVALID", where: place });
      }
      expect(readFileSync(place, "utf8")).toBe(text);
    }
    for (const make of [
      () => symlinkSync("/dev/zero", place),
      () => execFileSync("mkfifo", [place]),
      () => mkdirSync(place),
    ]) {
      rmSync(place, { recursive: true });
      make();
      await expect(user.call(p, "workflow.new", { goal: "g" })).rejects.toMatchObject({ code: "REPO_ID_INVALID" });
    }
  });

  it("is one for processes that meet it first at the same time, also in a copy", async () => {
    const user = makeUser();
    const p = user.repository("p/app");
    const child = await buildChild("test/fault/children/repo-identity.ts");
    onTestFinished(() => child.remove());
    const children = Array.from({ length: 4 }, () => child.start([]));
    let told = 0;
    const heardAll = () =>
      Promise.all(
        children.map(
          ({ lines, onLine, ended }) =>
            new Promise<void>((done, fail) => {
              const look = () => lines.length > told && done();
              onLine(look);
              look();
              void ended.then(({ errors }) => fail(new Error(errors)));
            }),
        ),
      );
    await heardAll();
    const meet = async (root: string) => {
      told += 1;
      for (const one of children) one.process.stdin!.write(`${root}\n`);
      await heardAll();
      return new Set(children.map(({ lines }) => lines[told]));
    };
    const made = await meet(p);
    expect([...made]).toEqual([user.read(p).repo_id]);
    const ids = new Set(made);
    // Now and then two of them met while the file was being replaced: many copies, so that it is now.
    for (let turn = 0; turn < 100; turn += 1) {
      const copy = join(user.base, `copy-${turn}`);
      cpSync(p, copy, { recursive: true });
      const derived = await meet(copy);
      expect([...derived]).toEqual([user.read(copy).repo_id]);
      expect(readdirSync(join(copy, ".verbatim/state"))).toEqual(["repo.json"]);
      for (const id of derived) ids.add(id);
    }
    expect(ids.size).toBe(101);
    for (const one of children) one.process.stdin!.end();
  });
});

describe("runs of the first generation", () => {
  async function makeOld() {
    const user = makeUser();
    const [p, q] = [user.repository("p/app"), user.repository("q/app")];
    const dir = await user.verified(p, "old");
    const old = join(user.runs, "app", "old");
    mkdirSync(dirname(old));
    renameSync(dir, old);
    const file = join(old, "RUN.json");
    const { repo_id: _, common_dir: __, ...state } = JSON.parse(readFileSync(file, "utf8")) as RunRecord;
    writeFileSync(file, JSON.stringify(state));
    return { user, p, q, old };
  }

  it("are listed and applied only where their recorded root is", async () => {
    const { user, p, q, old } = await makeOld();
    expect(await user.listed(q)).toEqual([]);
    await expect(user.call(q, "workflow.advance", { run: old, apply: true })).rejects.toMatchObject({
      code: "RUN_OTHER_REPO",
    });
    rmSync(join(p, ".verbatim"), { recursive: true });
    expect(await user.listed(p)).toEqual(["old"]);
    expect(await user.call(p, "workflow.show", { run: "old" })).toMatchObject({ run_dir: old });
    expect(await user.call(p, "workflow.advance", { run: "old", apply: true })).toMatchObject({ status: "pass" });
  });

  it("can be discarded", async () => {
    const { user, p } = await makeOld();
    expect(await user.call(p, "workflow.abort", { run: "old", reason: "no" })).toMatchObject({ run_id: "old" });
  });
});

describe("a hook", () => {
  it("finds the run of its own repository and of no other with that name", async () => {
    const user = makeUser();
    const [p, q] = [user.repository("p/app"), user.repository("q/app")];
    await user.verified(p, "mine");
    const ask = (root: string, more: object = {}) => {
      const sent = { session_id: "s", cwd: root, hook_event_name: "PreToolUse", tool_name: "Write" };
      const bytes = Buffer.from(JSON.stringify({ ...sent, tool_input: { file_path: join(root, "lamp.txt") } }));
      const env = { ...user.env, VERBATIM_RUN: "mine", ...more };
      return answerHook(hookPorts, {
        client: "claude",
        event: "pre-tool",
        bytes,
        start: root,
        env,
        platform: process.platform,
      });
    };
    expect(await ask(p)).toMatchObject({ exit: 0, stdout: "" });
    expect(await ask(q)).toMatchObject({ exit: 2, stderr: expect.stringContaining("HOOK_RUN_INVALID") });
    // In the view of an agent the state folder is hidden, so the recorded root decides.
    mkdirSync(
      join(
        user.runs,
        basename(dirname(String((await user.call(p, "workflow.show", { run: "mine" }))["run_dir"]))),
        "mine",
        "hooks",
      ),
    );
    rmSync(join(p, ".verbatim"), { recursive: true });
    expect(await ask(p, { VERBATIM_RUN_ID: "cat-1" })).toMatchObject({ exit: 0, stdout: "" });
    expect(await ask(q, { VERBATIM_RUN_ID: "cat-1" })).toMatchObject({ exit: 2 });
  });
});
