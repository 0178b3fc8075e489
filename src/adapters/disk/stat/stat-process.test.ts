import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { findTool } from "../../guards/tools.ts";
import { type TreeFile, writeTreeFile } from "../tree/tree-file.ts";
import { packEntry, readTable } from "../tree/tree-table.ts";
import { StatProcess } from "./stat-process.ts";

const base = mkdtempSync(join(diskFolder(), "verbatim-stat-"));
afterAll(() => rmSync(base, { recursive: true }));

const isHere = process.platform === "linux" && findTool("perl") !== null;
const HIDDEN = { "": [".verbatim"] };

/** A tree, and the file that holds its table as it would lie in the cache. */
function makeTree(name: string): { readonly root: string; readonly file: TreeFile } {
  const root = join(base, name);
  for (const folder of ["a/é b", "a/10", "empty", ".verbatim"]) mkdirSync(join(root, folder), { recursive: true });
  for (const path of ["top", "a/0", "a/one", "a/é b/two\nlines", "a/10/__proto__"])
    writeFileSync(join(root, path), path);
  symlinkSync("nowhere", join(root, "a/link"));
  // Both times of this one differ, so that one cannot stand for the other.
  utimesSync(join(root, "top"), 1, 1);
  const table = readTable(root, HIDDEN, 1000, null, () => false)!;
  const facts = { context: "", root, hidden: HIDDEN, top: packEntry(table, 0), kept: {}, unsure: [], notes: {} };
  // An hour later nothing of it is young.
  return { root, file: writeTreeFile(join(base, `${name}.tree`), { ...facts, taken: Date.now() + 3_600_000 }, table) };
}

function replaceLink(root: string): void {
  rmSync(join(root, "a/link"));
  symlinkSync("x", join(root, "a/link"));
}

function replaceByFolder(root: string): void {
  rmSync(join(root, "top"));
  mkdirSync(join(root, "top"));
}

describe("the process that looks at trees", () => {
  beforeEach(({ skip }) => skip(!isHere, "needs Linux and perl"));

  const ask = async (root: string, file: TreeFile) => {
    const one = StatProcess.start()!;
    const changed = await one.check(root, HIDDEN, file.source);
    one.close();
    const { folders } = file.load();
    return changed === null ? null : [...changed].map((i) => folders[i]!).sort();
  };

  it("finds nothing where nothing changed, as often as it is asked", async () => {
    const { root, file } = makeTree("same");
    const one = StatProcess.start()!;
    for (let i = 0; i < 3; i++) expect(await one.check(root, HIDDEN, file.source)).toEqual(new Set());
    writeFileSync(join(root, ".verbatim/own"), "");
    expect(await one.check(root, HIDDEN, file.source)).toEqual(new Set());
    one.close();
  });

  it.each<[string, (root: string) => void, string[]]>([
    ["a file was written", (root) => writeFileSync(join(root, "a/one"), "other"), ["a"]],
    ["a file was touched", (root) => utimesSync(join(root, "a/10/__proto__"), 1, 1), ["a/10"]],
    ["a mode changed", (root) => chmodSync(join(root, "a/é b/two\nlines"), 0o600), ["a/é b"]],
    ["a file is new", (root) => writeFileSync(join(root, "empty/new"), ""), ["", "empty"]],
    ["a file is gone", (root) => rmSync(join(root, "a/0")), ["", "a"]],
    ["a link has another target", replaceLink, ["", "a"]],
    ["a folder was renamed", (root) => renameSync(join(root, "a/10"), join(root, "a/11")), ["", "a", "a/10"]],
    ["a file is a folder", replaceByFolder, [""]],
  ])("names the folders when %s", async (name, change, folders) => {
    const { root, file } = makeTree(name.replaceAll(" ", "-"));
    change(root);
    expect(await ask(root, file)).toEqual(folders);
  });

  it("says on the way how many files it has seen, never more than there are, and in the end all of them", async () => {
    const { root } = makeTree("seen");
    for (let i = 0; i < 400; i++) mkdirSync(join(root, `a/10/folder ${i}`));
    const table = readTable(root, HIDDEN, 1000, null, () => false)!;
    const facts = { context: "", root, hidden: HIDDEN, top: packEntry(table, 0), kept: {}, unsure: [], notes: {} };
    const many = writeTreeFile(join(base, "seen-many.tree"), { ...facts, taken: Date.now() + 3_600_000 }, table);
    const one = StatProcess.start()!;
    const seen: number[] = [];
    expect(await one.check(root, HIDDEN, many.source, (files) => seen.push(files))).toEqual(new Set());
    one.close();
    // top, a/0, a/one, a/link, two lines, __proto__
    expect([seen.at(-1), seen.every((files, i) => files >= (seen[i - 1] ?? 0))]).toEqual([6, true]);
    expect(seen.length).toBeLessThan(30);
  });

  it("sees what only moved the time that nobody can set", async () => {
    const { root, file } = makeTree("same-time");
    chmodSync(join(root, "a/one"), statSync(join(root, "a/one")).mode & 0o7777);
    expect(await ask(root, file)).toEqual(["a"]);
  });

  it("lists a folder that is too young to vouch for its names, and believes one that is not", async () => {
    const { root } = makeTree("young");
    writeFileSync(join(root, "empty/unseen"), "");
    const table = readTable(root, { ...HIDDEN, empty: ["unseen"] }, 1000, null, () => false)!;
    const facts = { context: "", root, hidden: HIDDEN, top: packEntry(table, 0), kept: {}, unsure: [], notes: {} };
    const file = writeTreeFile(join(base, "young.tree"), { ...facts, taken: Date.now() }, table);
    expect(await ask(root, file)).toEqual(["empty"]);
    expect(await ask(root, { ...file, source: { ...file.source, taken: Date.now() + 3_600_000 } })).toEqual([]);
  });

  it("says that it cannot tell when the file is another one or cut off", async () => {
    const { root, file } = makeTree("other");
    expect(await ask(root, { ...file, source: { ...file.source, id: "f".repeat(32) } })).toBeNull();
    expect(await ask(root, { ...file, source: { ...file.source, place: join(base, "none") } })).toBeNull();
    expect(await ask(root, { ...file, source: { ...file.source, entries: 1_000_000 } })).toBeNull();
  });

  it("answers nothing after it ended", async () => {
    const { root, file } = makeTree("ended");
    const one = StatProcess.start()!;
    one.close();
    expect(await one.check(root, HIDDEN, file.source)).toBeNull();
  });
});
