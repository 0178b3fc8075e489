import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import type { Entry, FileEntry, Tree } from "../../../rooms/catalytic/tree/tree.ts";
import { beginSnapshot } from "./shared-snapshot.ts";
import { snapshotTree } from "./tree-snapshot.ts";

const base = mkdtempSync(join(diskFolder(), "verbatim-shared-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const OPTIONS = { strict_mtime: false, max_entries: 100_000 };

function makeTree(name: string): string {
  const root = join(base, name);
  for (let i = 0; i < 30; i++) {
    mkdirSync(join(root, `d${i}/é/x`), { recursive: true });
    for (let j = 0; j < 20; j++) writeFileSync(join(root, `d${i}/f${j}`), `${i} ${j}`);
    writeFileSync(join(root, `d${i}/f`), `${i}`);
    writeFileSync(join(root, `d${i}/é/g`), "");
    symlinkSync("../nowhere", join(root, `d${i}/l`));
  }
  writeFileSync(join(root, "d5/large"), Buffer.alloc(700_001, "large"));
  writeFileSync(join(root, "d5/even"), Buffer.alloc(512 * 1024, "even"));
  writeFileSync(join(root, "d5/one-piece"), Buffer.alloc(256 * 1024, "one"));
  chmodSync(join(root, "d3/f"), 0o4755);
  chmodSync(join(root, "d4"), 0o1777);
  return root;
}

const read = async (root: string) => (await snapshotTree(root, OPTIONS)).entries as Tree;

describe("a snapshot on two threads", () => {
  it("is the same as the snapshot on one", async () => {
    const root = makeTree("plain");
    const now = await beginSnapshot(root, OPTIONS)();
    expect(now.isSame(await read(root))).toBe(true);
  });

  it("differs from a tree in which one field of one entry is another, or that has one path more or less", async () => {
    const root = makeTree("other");
    const tree = await read(root);
    const now = await beginSnapshot(root, OPTIONS)();
    const file = tree.get("d3/f") as FileEntry;
    const hash = `${file.sha256.slice(0, 63)}${file.sha256.endsWith("0") ? "1" : "0"}`;
    const others: readonly (readonly [string, Entry | null])[] = [
      ["d3/f", { ...file, sha256: hash }],
      ["d3/f", { ...file, sha256: file.sha256.slice(0, 63) }],
      ["d3/f", { ...file, mode: "0755" }],
      ["d3/f", { ...file, size: 2 }],
      ["d3/f", { ...file, link_group: "d3/f" }],
      ["d3/f", { ...file, mtime_ns: "1" }],
      ["d3/f", { type: "dir", mode: file.mode }],
      ["d5/large", { ...(tree.get("d5/large") as FileEntry), sha256: hash }],
      ["d3/l", { type: "symlink", target: "../nowhere/" }],
      ["d4", { type: "dir", mode: "0777" }],
      [".", { type: "dir", mode: "0700" }],
      ["d3/new", file],
      ["d3/f", null],
    ];
    const verdicts = others.map(([path, entry]) => {
      const changed = new Map(tree);
      if (entry === null) changed.delete(path);
      else changed.set(path, entry);
      return now.isSame(changed);
    });
    expect(verdicts).toEqual(others.map(() => false));
    const renamed = new Map([...tree].filter(([path]) => path !== "d3/f")).set("d3/renamed", file);
    expect(now.isSame(renamed)).toBe(false);
  });

  it("reads several folders one after the other with the same thread", async () => {
    const roots = ["first", "second", "third"].map(makeTree);
    writeFileSync(join(roots[1]!, "d1/f"), "another text");
    const begun = roots.map((root) => beginSnapshot(root, OPTIONS));
    const tree = await read(roots[0]!);
    const verdicts = [];
    for (const finish of begun) verdicts.push((await finish()).isSame(tree));
    expect(verdicts).toEqual([true, false, true]);
  });

  it("is the careful one where names share a file", async () => {
    const root = makeTree("links");
    linkSync(join(root, "d1/f"), join(root, "d2/twin"));
    const now = await beginSnapshot(root, OPTIONS)();
    const tree = await read(root);
    expect(tree.get("d2/twin")).toMatchObject({ link_group: "d1/f" });
    expect(now.isSame(tree)).toBe(true);
  });

  it("is the careful one, with its refusal, where something special lies", async () => {
    const root = makeTree("special");
    execFileSync("mkfifo", [join(root, "d7/pipe")]);
    await expect(beginSnapshot(root, OPTIONS)()).rejects.toMatchObject({ code: "SPECIAL_FILE_IN_DOMAIN" });
  });

  it("is the careful one where a file went away after the list was made", async () => {
    const root = makeTree("gone");
    const finish = beginSnapshot(root, OPTIONS);
    for (let i = 0; i < 30; i++) rmSync(join(root, `d${i}/f7`));
    expect((await finish()).isSame(await read(root))).toBe(true);
  });

  it("is empty for a folder that is not there", async () => {
    const now = await beginSnapshot(join(base, "none"), OPTIONS)();
    expect(now.isSame(new Map())).toBe(true);
  });
});
