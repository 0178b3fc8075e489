import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import type { KeptTree, TreeScan } from "../../../rooms/catalytic/ports.ts";
import { nodeCrypto } from "../../crypto/node-crypto.ts";
import { snapshotTree } from "../tree/tree-snapshot.ts";
import { createTreeMemory } from "./tree-memory.ts";

const base = mkdtempSync(join(diskFolder(), "verbatim-look-"));
afterAll(() => rmSync(base, { recursive: true }));

const OPTIONS = { hidden: [".verbatim"], max_entries: 10_000 };
const KEPT: KeptTree = {
  trees: '{".":{"\\u00e9":1}}',
  manifests: '{".":{}}',
  inputs: "{}",
  state: { exists: true, content_root: "c", tree_root: "t", entries: 1, bytes: 2 },
  ignored: ["build/"],
};

/** From how many entries on a tree is compared with help: of a process where a file holds its table, else of a thread. */
let worthHelp = 0;

/** A tree whose files are old enough to be trusted. */
function makeTree(name: string): string {
  const root = join(base, `${name}-${worthHelp}`);
  for (const folder of ["a/é", "b", "empty", ".verbatim/state"]) mkdirSync(join(root, folder), { recursive: true });
  for (const path of ["top", "a/one", "a/é/two", "b/__proto__", "b/10", ".verbatim/state/own"]) {
    writeFileSync(join(root, path), path);
  }
  symlinkSync("../nowhere", join(root, "b/link"));
  return root;
}

interface Setting {
  readonly context?: string;
  readonly age?: number;
}

/** A look an hour after everything was written, unless said otherwise. */
async function look(root: string, { context = "same", age = 3_600_000 }: Setting = {}): Promise<TreeScan> {
  const memory = createTreeMemory({
    place: () => `${root}.memory`,
    context: async () => context,
    now: () => Date.now() + age,
    crypto: nodeCrypto,
    isTrusted: () => true,
    worthHelp,
  });
  return (await memory.look(root, OPTIONS))!;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const all = () => true;
const silent = () => undefined;

/** What was kept, without the files it lies in. */
function textsOf(kept: KeptTree | null): KeptTree | null {
  if (kept === null) return null;
  const { trees, manifests, inputs, state, ignored } = kept;
  return { trees, manifests, inputs, state, ignored };
}

/** Looks once, keeps something, and forgets the look. */
async function keep(root: string, setting: Setting = {}): Promise<void> {
  const first = await look(root, setting);
  await first.read(all, silent);
  first.setNote("git", "said so");
  first.keep("rules", KEPT);
  first.close();
}

describe.each([
  ["without help", Number.MAX_SAFE_INTEGER],
  ["with the help of a process or a thread", 0],
])("a look at a tree %s", (_help, worth) => {
  beforeAll(() => {
    worthHelp = worth;
  });

  it("reads what the careful reading reads, without what is hidden", async () => {
    const root = makeTree("plain");
    linkSync(join(root, "a/one"), join(root, "b/twin"));
    chmodSync(join(root, "top"), 0o4755);
    const one = await look(root);
    const skip = (path: string) => path === ".verbatim";
    const careful = await snapshotTree(root, { strict_mtime: false, max_entries: 1000, skip });
    expect([...(await one.read(all, silent))]).toEqual([...careful.entries]);
    expect(one.entries).toBe(careful.entries.size);
    one.close();
  });

  it("remembers a tree that did not change, and takes no hash from a file that it would have to read", async () => {
    const root = makeTree("same");
    await keep(root);
    const again = await look(root);
    expect([textsOf(again.recall("rules")), again.note("git")]).toEqual([KEPT, "said so"]);
    expect(again.recall("other rules")).toBeNull();
    again.close();
    const elsewhere = await look(root, { context: "another git" });
    expect([elsewhere.recall("rules"), elsewhere.note("git")]).toEqual([null, null]);
    elsewhere.close();
  });

  it("counts files, and those that are not as the last look saw them, without folders and what is git's", async () => {
    const root = makeTree("counted");
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, ".git/index"), "1");
    const first = await look(root);
    // top, a/one, a/é/two, b/__proto__, b/10, b/link, .git/index
    expect([first.files, first.changed]).toEqual([7, null]);
    first.close();
    await keep(root);
    const same = await look(root);
    expect([same.files, same.changed]).toEqual([7, 0]);
    same.close();
    writeFileSync(join(root, ".git/index"), "2");
    appendFileSync(join(root, "a/one"), "x");
    rmSync(join(root, "b/10"));
    mkdirSync(join(root, "new"));
    for (const name of ["1", "2"]) writeFileSync(join(root, "new", name), "");
    const other = await look(root);
    expect([other.files, other.changed]).toEqual([8, 4]);
    other.close();
  });

  it.each<[string, (root: string) => void]>([
    ["is written", (root) => appendFileSync(join(root, "a/one"), "x")],
    [
      "is written with the same size and its old time",
      (root) => {
        const { atime, mtime } = statSync(join(root, "a/one"));
        writeFileSync(join(root, "a/one"), "A/ONE");
        utimesSync(join(root, "a/one"), atime, mtime);
      },
    ],
    ["is new", (root) => writeFileSync(join(root, "b/new"), "")],
    ["is gone", (root) => rmSync(join(root, "a/é"), { recursive: true })],
    ["is renamed", (root) => renameSync(join(root, "a/one"), join(root, "a/eno"))],
    ["is made executable", (root) => chmodSync(join(root, "a/one"), 0o755)],
    ["is a folder with another mode", (root) => chmodSync(join(root, "empty"), 0o700)],
    [
      "is another link",
      (root) => {
        rmSync(join(root, "b/link"));
        symlinkSync("../nobody!", join(root, "b/link"));
      },
    ],
    [
      "is a folder in a folder that was empty",
      (root) => mkdirSync(join(root, "empty/deep/deeper"), { recursive: true }),
    ],
    ["is touched only", (root) => lutimesSync(join(root, "b/link"), 1, 1)],
  ])("forgets everything when something %s, and tells what it was", async (_, change) => {
    const root = makeTree(`changed-${_.replaceAll(" ", "-")}`);
    await keep(root);
    const during = await look(root);
    change(root);
    const { was, is } = await during.again();
    expect(was.size + is.size).toBeGreaterThan(0);
    for (const [path, packed] of was) expect(is.get(path)).not.toBe(packed);
    during.close();
    const after = await look(root);
    expect(after.recall("rules")).toBeNull();
    const careful = await snapshotTree(root, {
      strict_mtime: false,
      max_entries: 1000,
      skip: (p) => p === ".verbatim",
    });
    expect([...(await after.read(all, silent))]).toEqual([...careful.entries]);
    after.close();
  });

  it("sees nothing different where nothing is", async () => {
    const root = makeTree("still");
    const one = await look(root);
    writeFileSync(join(root, ".verbatim/state/own"), "changed");
    expect(await one.again()).toEqual({ was: new Map(), is: new Map() });
    one.close();
  });

  it("does not trust a file that is too young: it is read again", async () => {
    const root = makeTree("young");
    await keep(root, { age: 0 });
    const again = await look(root);
    expect(again.recall("rules")).toBeNull();
    again.close();
    expect(readFileSync(`${root}.memory`).includes(Buffer.from(sha256("top"), "hex"))).toBe(false);
  });

  it("is not disturbed by git touching its own folder, and notices a new index", async () => {
    const root = makeTree("git");
    execFileSync("git", ["init", "-q", root]);
    execFileSync("git", ["-C", root, "add", "top"]);
    await keep(root);
    writeFileSync(join(root, ".git/index.lock"), "");
    rmSync(join(root, ".git/index.lock"));
    const touched = await look(root);
    expect(textsOf(touched.recall("rules"))).toEqual(KEPT);
    touched.close();
    execFileSync("git", ["-C", root, "add", "a"]);
    const staged = await look(root);
    expect(staged.recall("rules")).toBeNull();
    staged.close();
  });

  it("is not disturbed by git setting the times of objects, and writes no text again for it", async () => {
    const root = makeTree("objects");
    execFileSync("git", ["init", "-q", root]);
    execFileSync("git", ["-C", root, "add", "."]);
    await keep(root);
    const [folder] = readdirSync(join(root, ".git/objects")).filter((name) => name.length === 2);
    const [name] = readdirSync(join(root, ".git/objects", folder!));
    const texts = readdirSync(`${root}.memory.kept`);
    for (const time of [1_000, 2_000]) {
      utimesSync(join(root, ".git/objects", folder!, name!), time, time);
      const touched = await look(root);
      expect(textsOf(touched.recall("rules"))).toEqual(KEPT);
      expect(touched.note("git")).toBe("said so");
      touched.keep("rules", KEPT);
      expect(await touched.again()).toEqual({ was: new Map(), is: new Map() });
      touched.close();
    }
    expect(readdirSync(`${root}.memory.kept`)).toEqual(texts);
    writeFileSync(join(root, ".git/objects/info/alternates"), "/elsewhere\n");
    const borrowed = await look(root);
    expect(borrowed.recall("rules")).toBeNull();
    borrowed.close();
  });

  it("leaves names that are not UTF-8 and trees that are too large to others", async () => {
    const root = makeTree("odd");
    const memory = createTreeMemory({
      place: () => null,
      context: async () => "",
      now: () => Date.now(),
      crypto: nodeCrypto,
      isTrusted: () => true,
    });
    expect(await memory.look(root, { hidden: [], max_entries: 3 })).toBeNull();
    writeFileSync(Buffer.concat([Buffer.from(`${root}/b/`), Buffer.from([0xff])]), "");
    expect(await memory.look(root, OPTIONS)).toBeNull();
  });

  it("tells what differs also when a name appears that is not UTF-8", async () => {
    const root = makeTree("odd-later");
    const one = await look(root);
    writeFileSync(Buffer.concat([Buffer.from(`${root}/b/`), Buffer.from([0xff])]), "");
    const { was, is } = await one.again();
    expect([[...was.keys()], [...is.keys()].sort()]).toEqual([["b"], ["b", "b/\\xff"]]);
    one.close();
  });

  it("starts afresh when what was kept is cut off or is something else", async () => {
    const root = makeTree("broken");
    await keep(root);
    const whole = readFileSync(`${root}.memory`);
    for (const bytes of [whole.subarray(0, whole.length - 1), whole.subarray(0, 40), Buffer.from("nonsense\n")]) {
      writeFileSync(`${root}.memory`, bytes);
      const one = await look(root);
      expect(one.recall("rules")).toBeNull();
      expect((await one.read(all, silent)).get("top")).toMatchObject({ sha256: sha256("top") });
      one.close();
    }
  });

  it("compares a large tree on two threads", async () => {
    const root = join(base, `large-${worth}`);
    for (let i = 0; i < 40; i++) {
      mkdirSync(join(root, `d${i}`), { recursive: true });
      for (let k = 0; k < 100; k++) writeFileSync(join(root, `d${i}/f${k}`), "");
    }
    await keep(root);
    const again = await look(root);
    expect(textsOf(again.recall("rules"))).toEqual(KEPT);
    writeFileSync(join(root, "d7/f7"), "x");
    writeFileSync(join(root, "d39/new"), "x");
    const { was, is } = await again.again();
    expect([...was.keys()].sort()).toEqual(["d39", "d7/f7"]);
    expect([...is.keys()].sort()).toEqual(["d39", "d39/new", "d7/f7"]);
    again.close();
  });

  it("puts kept texts where they are asked for, and says whether somebody touched them", async () => {
    const root = makeTree("texts");
    await keep(root);
    const one = await look(root);
    const { trees } = one.recall("rules")!.files!;
    const bytes = Buffer.from(`${KEPT.trees}\n`);
    expect([trees.sha256, trees.size]).toEqual([sha256(bytes.toString()), bytes.length]);
    const [first, second] = [`${root}.first`, `${root}.second`];
    trees.putAt(first);
    expect([trees.isAt(first), trees.isAt(second)]).toEqual([true, false]);
    trees.putAt(second);
    expect([trees.isAt(first), trees.isAt(second), readFileSync(second)]).toEqual([true, true, bytes]);
    expect(statSync(first).mode & 0o777).toBe(0o600);
    expect(() => trees.putAt(first)).toThrow(/EEXIST/);
    rmSync(second);
    writeFileSync(second, bytes);
    expect(trees.isAt(second)).toBe(false);
    chmodSync(first, 0o640);
    expect(trees.isAt(first)).toBe(false);
    one.close();
  });

  it("takes no text that somebody wrote to, and copies one whose name is gone", async () => {
    const root = makeTree("damaged");
    await keep(root);
    const one = await look(root);
    const { inputs } = one.recall("rules")!.files!;
    rmSync(`${root}.memory.kept`, { recursive: true });
    inputs.putAt(`${root}.copy`);
    expect([readFileSync(`${root}.copy`, "utf8"), inputs.isAt(`${root}.copy`)]).toEqual(["{}\n", true]);
    one.close();
    const bare = await look(root);
    expect(bare.recall("rules")).toBeNull();
    bare.close();
    await keep(root);
    const [name] = readdirSync(`${root}.memory.kept`);
    appendFileSync(join(`${root}.memory.kept`, name!), "x");
    const touched = await look(root);
    expect(touched.recall("rules")).toBeNull();
    touched.close();
  });

  it("uses nothing of a text that somebody writes to while it is used, and makes lost ones again", async () => {
    const root = makeTree("shared");
    await keep(root);
    const one = await look(root);
    const { manifests } = one.recall("rules")!.files!;
    manifests.putAt(`${root}.other-run`);
    appendFileSync(`${root}.other-run`, "x");
    expect(manifests.isAt(`${root}.other-run`)).toBe(false);
    expect(() => manifests.putAt(`${root}.this-run`)).toThrow(
      expect.objectContaining({ code: "ARTIFACT_WRITE_FAILED" }),
    );
    expect(() => manifests.read()).toThrow(expect.objectContaining({ code: "ARTIFACT_WRITE_FAILED" }));
    one.close();
    const two = await look(root);
    expect(two.recall("rules")).toBeNull();
    two.keep("rules", KEPT);
    two.close();
    const three = await look(root);
    expect(textsOf(three.recall("rules"))).toEqual(KEPT);
    three.close();
  });

  it("goes on with its own table when another look takes its place", async () => {
    const root = makeTree("replaced");
    await keep(root);
    const one = await look(root);
    writeFileSync(join(root, "a/later"), "x");
    await keep(root);
    const { was, is } = await one.again();
    expect([[...was.keys()], [...is.keys()].sort()]).toEqual([["a"], ["a", "a/later"]]);
    one.close();
  });
});
