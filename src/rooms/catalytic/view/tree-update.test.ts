// What is recorded of a tree that changed a little since the last look is what is recorded of one that nobody ever looked at.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { createTreeMemory } from "../../../adapters/disk/source/tree-memory.ts";
import type { KeptTree, TreeScan } from "../ports.ts";
import { makeTexts } from "../tree/written-tree.ts";
import { isIgnoredSame, updateTree, withIgnored } from "./tree-update.ts";

const base = mkdtempSync(join(diskFolder(), "verbatim-update-"));
afterAll(() => rmSync(base, { recursive: true }));

let count = 0;
let root: string;
beforeEach(() => {
  root = join(base, `tree-${count++}`);
  for (const folder of ["a/é", "b/deep/er", "out", ".git/objects/ab"])
    mkdirSync(join(root, folder), { recursive: true });
  for (const path of ["top", "a/one", "a/é/two", "b/deep/er/x", "b/10", "out/built", ".git/index", ".gitignore"])
    write(path, path);
  symlinkSync("../nowhere", join(root, "b/link"));
});

const write = (path: string, text: string) => writeFileSync(join(root, path), text);
const isIn = (ignored: readonly string[]) => (path: string) =>
  ![".git", ...ignored].some((one) => path === one || path.startsWith(`${one}/`));

/** An hour later, unless said otherwise: then nothing is too fresh to be trusted. */
const look = async (place = `${root}.memory`, age = 3_600_000): Promise<TreeScan> =>
  (await createTreeMemory({
    place: () => place,
    context: async () => "",
    now: () => Date.now() + age,
    crypto: nodeCrypto,
    isTrusted: () => true,
  }).look(root, { hidden: [], max_entries: 1000 }))!;

const textsOf = ({ trees, manifests, inputs, state }: KeptTree) => ({ trees, manifests, inputs, state });

async function makeAnew(one: TreeScan, ignored: readonly string[]): Promise<KeptTree> {
  return withIgnored(makeTexts(nodeCrypto, await one.read(isIn(ignored), () => undefined)), ignored);
}

/** Looks for the first time and keeps what is made of the tree. */
async function begin(ignored: readonly string[] = ["out"], age?: number): Promise<void> {
  const one = await look(undefined, age);
  one.keep("rules", await makeAnew(one, ignored));
  one.close();
}

/** Looks again; what is made from what was kept, or null, and whether git need not be asked. */
async function goOn(ignored: readonly string[] = ["out"]) {
  const one = await look();
  const before = one.recall("rules") === null ? one.recallBefore("rules") : null;
  const made = before === null ? null : await updateTree(nodeCrypto, one, before, ignored, isIn(ignored));
  const kept = made === null ? null : one.keep("rules", made);
  const other = await look(`${root}.nothing-${count++}`);
  const expected = textsOf(await makeAnew(other, ignored));
  other.close();
  const answer = { texts: kept === null ? null : textsOf(kept), expected, same: before && isIgnoredSame(before) };
  one.close();
  return answer;
}

describe("a tree that changed since the last look", () => {
  it.each<[string, () => void]>([
    ["another text", () => write("a/one", "two")],
    ["a text of the same length", () => write("b/10", "c/11")],
    [
      "another mode, of a file and of a folder",
      () => [chmodSync(join(root, "a/one"), 0o755), chmodSync(join(root, "b"), 0o700)],
    ],
    ["a file more", () => write("a/zero", "0")],
    ["a file that is the first of all", () => write("!", "0")],
    ["a file fewer", () => rmSync(join(root, "top"))],
    ["a file that became a link", () => [rmSync(join(root, "top")), symlinkSync("a", join(root, "top"))]],
    ["a folder that became a file", () => [rmSync(join(root, "a"), { recursive: true }), write("a", "no folder")]],
    ["a folder with another name", () => renameSync(join(root, "b"), join(root, "a/bb"))],
    ["a folder with everything in it", () => rmSync(join(root, "b"), { recursive: true })],
    ["another mode of the root", () => chmodSync(root, 0o750)],
    ["files of git only", () => [write(".git/index", "new"), write(".git/HEAD", "ref")]],
  ])("and that has %s is recorded as it is now", async (_what, change) => {
    await begin();
    change();
    const { texts, expected } = await goOn();
    expect(texts).toEqual(expected);
    const again = await look();
    expect(textsOf(again.recall("rules")!)).toEqual(expected);
    again.close();
  });

  it("again and again is recorded as it is now", async () => {
    await begin();
    for (const [i, path] of ["a/one", "new", "b/deep/er/x", "top", "a/é/three"].entries()) {
      write(path, `round ${i}`);
      const { texts, expected } = await goOn();
      expect(texts).toEqual(expected);
    }
  });

  it("is read again where a file was too fresh for its stat to be believed", async () => {
    await begin(["out"], 0);
    const one = await look();
    expect(one.recall("rules")).toBeNull();
    const changed = [...one.recallBefore("rules")!.changed.keys()];
    expect(changed).toEqual(expect.arrayContaining(["top", "a/one", "out/built"]));
    one.close();
    const { texts, expected } = await goOn();
    expect(texts).toEqual(expected);
    expect((await goOn()).texts).toBeNull();
  });

  it("keeps its texts where nothing of it differs in the end", async () => {
    await begin();
    const before = readdirSync(`${root}.memory.kept`);
    utimesSync(join(root, "top"), 1, 1);
    const { texts, expected } = await goOn();
    expect(texts).toEqual(expected);
    expect(readdirSync(`${root}.memory.kept`)).toEqual(before);
  });

  it("is read as a whole where two names share a file, or git ignores something else than before", async () => {
    await begin();
    linkSync(join(root, "top"), join(root, "twin"));
    expect((await goOn()).texts).toBeNull();
    rmSync(join(root, "twin"));
    await begin();
    write("a/one", "two");
    expect((await goOn(["out", "b"])).texts).toBeNull();
    expect((await goOn([])).texts).toBeNull();
  });

  it("may have more or less that git ignores, if that came or went as a whole", async () => {
    await begin();
    mkdirSync(join(root, "log"));
    write("log/today", "x");
    const came = await goOn(["log", "out"]);
    expect(came.texts).toEqual(came.expected);
    rmSync(join(root, "out"), { recursive: true });
    const went = await goOn(["log"]);
    expect(went.texts).toEqual(went.expected);
  });

  it("is what git ignores again only where no name and no rule changed", async () => {
    const isSame = async (change: () => void) => {
      await begin();
      change();
      return (await goOn()).same;
    };
    expect(await isSame(() => write("a/one", "text"))).toBe(true);
    expect(await isSame(() => write(".git/objects/ab/cd", "object"))).toBe(true);
    expect(await isSame(() => write("a/more", ""))).toBe(false);
    expect(await isSame(() => rmSync(join(root, "a/more")))).toBe(false);
    expect(await isSame(() => write(".gitignore", "out/\n"))).toBe(false);
    expect(await isSame(() => write(".git/index", "other"))).toBe(false);
  });
});
