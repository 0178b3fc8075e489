// A whole repository as a view, with the weakest guard: everything may be changed, nothing stays, the changes come out as data.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCatalytic, recordTree, type TestRun } from "../../../../test/support/catalytic-repo.ts";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { listStrays, readRecord } from "../record/record-files.ts";
import { listLocks } from "../run/lock-files.ts";
import { verifyRun } from "../verify/verify.ts";
import { runInView, type ViewOptions } from "./view.ts";

let base: string;
let root: string;
let room: TestRun;
let before: Record<string, string>;
const tree = () => recordTree(root, (path) => path.startsWith(".verbatim"));

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-view-")));
  root = join(base, "repo");
  for (const folder of ["src/old", "node_modules/x"]) mkdirSync(join(root, folder), { recursive: true });
  for (const [path, text] of [
    ["src/a.txt", "one\n"],
    ["src/b.txt", "two\n"],
    ["src/old/c.txt", "three\n"],
    [".gitignore", "node_modules/\n"],
    ["node_modules/x/i.js", "ignored\n"],
  ] as const)
    writeFileSync(join(root, path), text);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
      cwd: root,
      stdio: "pipe",
    });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  room = openCatalytic(base, root);
  before = tree();
});
afterAll(async () => {
  await room.close();
  await runDisk.discard(base);
});

const view = (script: string, more: Partial<ViewOptions> = {}) =>
  runInView(room.ports, { ...room.places, command: ["sh", "-c", script], intent: "Try", guard: "audit", ...more });
const verify = (id: string) => {
  const folder = join(root, ".verbatim/runs", id);
  const [files, strays] = [readRecord(runDisk, folder), listStrays(runDisk, folder)];
  return verifyRun(
    room.ports.crypto,
    { name: id, files, strays },
    { pins: [], policy_sha256: null, tree: "skip", strict_tree: false },
  );
};

describe("a view", () => {
  it("takes every change and keeps none", async () => {
    const script =
      "set -e; echo more >> src/a.txt; rm src/b.txt; mv src/old src/moved; mkdir src/new; echo fresh > src/new/d.txt; chmod 755 src/new/d.txt; echo x > node_modules/x/i.js; mkfifo src/pipe; ln -s a.txt src/l";
    const { run, changes } = await view(script, { run_id: "view-1" });
    expect(run).toMatchObject({ accepted: true, condition: "RESTORED_IDENTICAL", violations: [], exit_code: 0 });
    expect(tree()).toEqual(before);
    expect([...changes.added.keys()]).toEqual(["src/l", "src/moved", "src/moved/c.txt", "src/new", "src/new/d.txt"]);
    expect([...changes.removed.keys()]).toEqual(["src/b.txt", "src/old", "src/old/c.txt"]);
    expect([...changes.changed.keys()]).toEqual(["src/a.txt"]);
    expect(changes.changed.get("src/a.txt")?.fields).toEqual(["sha256", "size"]);
    expect(changes.added.get("src/new/d.txt")).toMatchObject({ type: "file", mode: "0755", size: 6 });
    expect(changes.added.get("src/l")).toMatchObject({ type: "symlink", target: "a.txt" });
    expect(changes).toMatchObject({ refused: ["src/pipe"], ignored: 1, commits: 0 });
    const after = changes.changed.get("src/a.txt")?.after;
    const content = await room.ports.content();
    expect(Buffer.from(await content.get(after?.type === "file" ? after.sha256 : "")).toString()).toBe("one\nmore\n");
    const listed = JSON.parse(readFileSync(join(root, ".verbatim/runs/view-1/VIEW_CHANGES.json"), "utf8")) as Record<
      string,
      object
    >;
    expect(Object.keys(listed["removed"]!)).toEqual(["src/b.txt", "src/old", "src/old/c.txt"]);
    expect(await verify("view-1")).toMatchObject({ accepted: true, errors: [] });
  });

  it("counts the commits that were made in it", async () => {
    const commit =
      "echo x > src/x && git -c user.name=B -c user.email=b@example.org add -A && git -c user.name=B -c user.email=b@example.org commit -qm one";
    const { changes } = await view(commit);
    expect(changes.commits).toBe(1);
    expect(tree()).toEqual(before);
  });

  it("reads everything when asked to, and finds the same", async () => {
    const { run, changes } = await view("echo more >> src/a.txt", { hash_all: true, run_id: "view-2" });
    expect([run.accepted, [...changes.changed.keys()], changes.added.size, changes.removed.size]).toEqual([
      true,
      ["src/a.txt"],
      0,
      0,
    ]);
    expect(await verify("view-2")).toMatchObject({ accepted: true });
  });

  it("lists what is too large and what has no name, and takes neither", async () => {
    const script =
      "dd if=/dev/zero of=src/big bs=1 count=0 seek=34603008 2>&1; printf x > \"src/$(printf 'bad\\377')\"";
    const { changes } = await view(script);
    expect(changes).toMatchObject({ refused: ["src/bad\\xff", "src/big"], large: ["src/big"] });
    expect(changes.added.size).toBe(0);
  });

  it("lists what was left at forbidden places, and takes nothing of it", async () => {
    mkdirSync(join(root, "law"));
    for (const name of ["kept", "same", "longer", "gone"]) writeFileSync(join(root, "law", name), "law\n");
    const config = { forbidden_roots: ["law"] };
    const script =
      "cd law && touch kept && printf 'LAW\\n' > same && echo longer > longer && rm gone && echo x > new && mkdir folder";
    const { changes } = await view(script, { config });
    expect(changes.reserved).toEqual(["law/gone", "law/longer", "law/new", "law/same"]);
    expect([changes.added.size, changes.changed.size, changes.removed.size]).toEqual([0, 0, 0]);
    await runDisk.discard(join(root, "law"));
  });

  it("shares the tree with other views, and takes no lock where the caller has it", async () => {
    const seen: unknown[] = [];
    const locks = () => listLocks(runDisk, room.ports.host, room.places.state).map(({ lock }) => lock);
    const ports = { ...room.ports, onOutput: () => void seen.push(...locks()) };
    const look = (locked: boolean) =>
      runInView(ports, { ...room.places, command: ["echo", "here"], intent: "Try", guard: "audit", locked });
    await look(false);
    expect(seen).toMatchObject([{ path: ".", shared: true }]);
    await look(true);
    expect([seen.length, locks()]).toEqual([1, []]);
  });

  it("where a stat proves nothing is compared by its bytes", async () => {
    const disk = { ...room.ports.disk, isStatTrusted: () => false };
    const command = ["sh", "-c", "echo more >> src/a.txt; touch src/b.txt; rm src/old/c.txt"];
    const { run, changes } = await runInView(
      { ...room.ports, disk },
      { ...room.places, command, intent: "Try", guard: "audit" },
    );
    expect(run.accepted).toBe(true);
    expect([[...changes.added.keys()], [...changes.changed.keys()], [...changes.removed.keys()]]).toEqual([
      [],
      ["src/a.txt"],
      ["src/old/c.txt"],
    ]);
  });

  it("of which something is ignored does not tell of it", async () => {
    const { changes } = await view("echo x > src/a.txt; echo y > src/b.txt", { ignored: ["src/b.txt"] });
    expect([...changes.changed.keys()]).toEqual(["src/a.txt"]);
  });

  it("that ends badly is not accepted, and hands its changes out all the same", async () => {
    const { run, changes } = await view("echo x > src/a.txt; exit 4");
    expect(run).toMatchObject({ accepted: false, condition: "COMMAND_FAILED", exit_code: 4 });
    expect([...changes.changed.keys()]).toEqual(["src/a.txt"]);
    expect(tree()).toEqual(before);
  });

  it("has the words, the variables and the time it was given", async () => {
    const { run } = await view('test "$GIVEN" = yes && test "$ADDED" = too && test -z "$HOME"', {
      env_allow: ["PATH"],
      env_set: { GIVEN: "yes" },
      extra_env: { ADDED: "too" },
    });
    expect(run.exit_code).toBe(0);
    expect((await view(`test "$HOME" = ${JSON.stringify(base)}`)).run.exit_code).toBe(0);
    expect((await view('test "$(ls -ld . .verbatim | cut -c1-10 | sort -u)" = drwxr-xr-x')).run.exit_code).toBe(0);
    expect((await view("exit 5", { expected_exit_codes: [5] })).run.accepted).toBe(true);
    expect((await view("sleep 60", { timeout_ms: 300 })).run.condition).toBe("COMMAND_TIMED_OUT");
  });

  it("of a tree that somebody changes meanwhile says so", async () => {
    const { run } = await view(`echo mine > ${JSON.stringify(join(root, "src/b.txt"))}`, { run_id: "view-3" });
    expect(run.accepted).toBe(false);
    writeFileSync(join(root, "src/b.txt"), "two\n");
  });
});
