// What stands between a command and the originals: made, copied and swapped as announced, and put back from wherever it is.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import type { RestoreMethod } from "../../../core/contracts/guards.ts";
import type { RunDisk } from "../ports.ts";
import { Journal, type JournalDomain, readJournal } from "../record/journal.ts";
import { asideOf, findOriginal, holdAnchor, isLookedAfter, Layers, removeMade, swapBack } from "./layers.ts";

let root: string;
let places: { root: string; work: string };
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-layers-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "work"));
  places = { root, work: join(root, "work") };
});

const at = (path: string) => join(root, path);
const modeOf = (path: string) => lstatSync(at(path)).mode & 0o777;
const inodeOf = (path: string) => lstatSync(at(path)).ino;
const journalled = () =>
  readJournal(runDisk, at("work/journal")).map(({ op, path, ino }) => [op, path, ino !== undefined]);

/** A folder with a file in it, as the journal knows it. */
function domainAt(path: string): JournalDomain {
  mkdirSync(at(path), { recursive: true });
  writeFileSync(at(`${path}/a`), `${path}\n`);
  const { dev, ino } = runDisk.stat(at(path))!;
  return { path, dev, ino, aside: at(`work/orig-${path}`), copy: "" };
}

function layersOf(method: RestoreMethod, parts: object = {}, disk: RunDisk = runDisk): Layers {
  const given = { method, domains: [], anchors: [], folders: [], ...parts };
  return new Layers(disk, new Journal(runDisk, at("work/journal")), places as never, given);
}

/** The disk, with some places on a device of their own. */
function elsewhere(isElsewhere: (place: string) => boolean, more: Partial<RunDisk> = {}): RunDisk {
  const stat = (place: string) => {
    const facts = runDisk.stat(place);
    return facts === null || !isElsewhere(place) ? facts : { ...facts, dev: "another" };
  };
  return { ...runDisk, stat, ...more };
}

it("an original waits in the work directory, or beside its domain where it cannot be moved", () => {
  for (const folder of ["open", "closed"]) mkdirSync(at(folder));
  chmodSync(at("closed"), 0o555);
  const aside = (path: string, disk: RunDisk = runDisk) => asideOf(disk, places as never, "run-1", path, 2);
  expect(aside("open")).toBe(at("work/orig2"));
  // A domain that is not there yet will be on the device of the nearest folder.
  expect(aside("open/new/deep")).toBe(at("work/orig2"));
  expect(aside("closed")).toBe(at(".verbatim-run-1-2"));
  const other = elsewhere((place) => place.includes("/open"));
  expect(aside("open", other)).toBe(at(".verbatim-run-1-2"));
  expect(aside("open/new", other)).toBe(at("open/.verbatim-run-1-2"));
});

it("domains and records are looked after, and what only begins like them is not", () => {
  const cared = (path: string) => isLookedAfter(path, ["a"], ["runs/r"]);
  expect(["a", "a/b", "runs/r/x", "ab", "runs/r2", "runs", ""].map(cared)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

it.each([
  ["discard-upper", "overlay"],
  ["discard-copy", "copy"],
  ["swap-back", "copy"],
] as const)("with %s a guard gets layers of the kind %s, domains first", (method, kind) => {
  const layers = layersOf(method, { domains: [domainAt("d")], anchors: ["out", "."] });
  expect(layers.toLayers()).toEqual([
    { index: 0, kind, path: at("d") },
    { index: 1, kind, path: at("out") },
    { index: 2, kind, path: root },
  ]);
  expect(layers.toWritable()).toEqual([at("d"), at("out"), root]);
});

describe("before the command", () => {
  const parts = () => ({ domains: [domainAt("d")], anchors: ["out"], folders: ["out/deep", "."] });

  it("layers over the originals need the missing folders and nothing else", async () => {
    const layers = layersOf("discard-upper", parts());
    await layers.prepare(() => false);
    expect([...layers.made]).toEqual(["out", "out/deep"]);
    expect(journalled()).toEqual([
      ["MKDIR", "out", true],
      ["MKDIR", "out/deep", true],
    ]);
    expect(readdirSync(at("work"))).toEqual(["journal"]);
  });

  it("copies are made without what is skipped, and the originals stay in their places", async () => {
    const given = parts();
    writeFileSync(at("d/b"), "b\n");
    const before = inodeOf("d");
    await layersOf("discard-copy", given).prepare((path) => path === "d/a");
    expect([readdirSync(at("work/cp0")), readdirSync(at("work/cp1"))]).toEqual([["b"], ["deep"]]);
    expect([inodeOf("d"), readdirSync(at("d")), existsSync(at("work/orig-d"))]).toEqual([before, ["a", "b"], false]);
    expect(modeOf("work/cp0")).toBe(0o755 & ~process.umask());
  });

  it("a swap is announced, puts the copy in the place of the original, and is taken back with what was made", async () => {
    const given = parts();
    const before = inodeOf("d");
    const layers = layersOf("swap-back", given);
    await layers.prepare(() => false);
    expect(journalled().slice(2)).toEqual([
      ["SWAP_INTENT", "d", false],
      ["SWAPPED", "d", false],
    ]);
    expect([inodeOf("work/orig-d"), inodeOf("d") === before, readFileSync(at("d/a"), "utf8")]).toEqual([
      before,
      false,
      "d\n",
    ]);
    writeFileSync(at("d/a"), "changed\n");
    for (let i = 0; i < 2; i++) await layers.restore();
    expect([inodeOf("d"), readFileSync(at("d/a"), "utf8"), existsSync(at("out"))]).toEqual([before, "d\n", false]);
    expect([layers.made.size, [...layers.everMade]]).toEqual([0, ["out", "out/deep"]]);
  });

  it("the mode of an anchor is held through a swap, and no other restoration touches it", async () => {
    mkdirSync(at("out"));
    for (const [method, mode] of [
      ["swap-back", 0o750],
      ["discard-copy", 0o700],
    ] as const) {
      chmodSync(at("out"), 0o750);
      const layers = layersOf(method, { anchors: ["out"] });
      await layers.prepare(() => false);
      chmodSync(at("out"), 0o700);
      await layers.restore();
      expect(modeOf("out")).toBe(mode);
      await runDisk.discard(at("work/cp0"));
    }
  });
});

describe("a folder that is missing", () => {
  it("is made with those above it, and what is there is left alone", () => {
    mkdirSync(at("a"));
    const before = inodeOf("a");
    const layers = layersOf("swap-back");
    for (const path of ["a/b/c", "a", ".", ""]) layers.makeFolders(path);
    expect([[...layers.made], inodeOf("a")]).toEqual([["a/b", "a/b/c"], before]);
    layers.removeMade();
    expect([existsSync(at("a/b")), existsSync(at("a")), layers.made.size]).toEqual([false, true, 0]);
  });

  it("on another device is made in its place, where nobody knows its inode beforehand", () => {
    mkdirSync(at("far"));
    const layers = layersOf(
      "swap-back",
      {},
      elsewhere((place) => place.includes("/far")),
    );
    layers.makeFolders("far/new");
    expect(journalled()).toEqual([["MKDIR", "far/new", false]]);
    expect([existsSync(at("far/new")), existsSync(at("work/new"))]).toEqual([true, false]);
    layers.removeMade();
    expect(existsSync(at("far/new"))).toBe(false);
  });

  it("is taken away only while it is the one that was made, and empty", () => {
    mkdirSync(at("a"));
    const { dev, ino } = runDisk.stat(at("a"))!;
    removeMade(runDisk, root, "a", dev, "1");
    removeMade(runDisk, root, "a", "1", ino);
    writeFileSync(at("a/x"), "");
    removeMade(runDisk, root, "a", dev, ino);
    expect(existsSync(at("a"))).toBe(true);
    rmSync(at("a/x"));
    removeMade(runDisk, root, "a", dev, ino);
    expect(existsSync(at("a"))).toBe(false);
    writeFileSync(at("a"), "a file");
    removeMade(runDisk, root, "a", null, null);
    removeMade(runDisk, root, "gone", null, null);
    expect(existsSync(at("a"))).toBe(true);
    rmSync(at("a"));
    mkdirSync(at("a"));
    removeMade(runDisk, root, "a", null, null);
    expect(existsSync(at("a"))).toBe(false);
  });
});

describe("the original of a domain", () => {
  it("is where device and inode say, and nowhere when only one of them does", () => {
    const domain = domainAt("d");
    const find = (more: Partial<JournalDomain> = {}) => findOriginal(runDisk, root, { ...domain, ...more });
    expect([find(), find({ ino: "1" }), find({ dev: "1" })]).toEqual(["home", "nowhere", "nowhere"]);
    runDisk.rename(at("d"), domain.aside);
    expect([find(), find({ ino: "1" }), find({ dev: "1" })]).toEqual(["aside", "nowhere", "nowhere"]);
    mkdirSync(at("d"));
    expect(find()).toBe("aside");
    rmSync(domain.aside, { recursive: true });
    expect(find()).toBe("nowhere");
    rmSync(at("d"), { recursive: true });
    expect(find()).toBe("nowhere");
  });

  it("that never was is the folder that was made for it", () => {
    const domain = { path: "d", dev: null, ino: null, aside: at("work/orig0"), copy: "" };
    expect(findOriginal(runDisk, root, domain)).toBe("home");
    mkdirSync(domain.aside);
    expect(findOriginal(runDisk, root, domain)).toBe("aside");
  });

  it("that is lost is not made up: nothing is put in its place", async () => {
    const domain = { ...domainAt("d"), ino: "1" };
    await expect(swapBack(runDisk, places, domain)).rejects.toMatchObject({
      code: "DOMAIN_ORIGINAL_LOST",
      where: "d",
      details: { path: "d", aside: domain.aside },
    });
    expect([readFileSync(at("d/a"), "utf8"), readdirSync(at("work"))]).toEqual(["d\n", []]);
  });

  it("comes home each time; what was left in its place is kept in the work directory, each under its own name", async () => {
    const domain = domainAt("d");
    const before = inodeOf("d");
    for (const left of ["done0", "done1"]) {
      runDisk.rename(at("d"), domain.aside);
      symlinkSync(left, at("d"));
      await swapBack(runDisk, places, domain);
      expect([inodeOf("d"), lstatSync(at(`work/${left}`)).isSymbolicLink()]).toEqual([before, true]);
    }
    runDisk.rename(at("d"), domain.aside);
    await swapBack(runDisk, places, domain);
    expect([inodeOf("d"), readdirSync(at("work")).sort()]).toEqual([before, ["done0", "done1"]]);
  });
});

describe("the place of an anchor", () => {
  it("that is a folder stays as it is", async () => {
    mkdirSync(at("out"), { mode: 0o700 });
    await holdAnchor(runDisk, places, "out", 0o755);
    expect([modeOf("out"), readdirSync(at("work"))]).toEqual([0o700, []]);
  });

  it("that is gone or something else is a folder again, with exactly its mode", async () => {
    await holdAnchor(runDisk, places, "out", 0o777);
    expect([lstatSync(at("out")).isDirectory(), modeOf("out")]).toEqual([true, 0o777]);
    for (const left of ["done0", "done1"]) {
      rmSync(at("out"), { recursive: true });
      symlinkSync("elsewhere", at("out"));
      await holdAnchor(runDisk, places, "out", 0o777);
      expect([lstatSync(at("out")).isDirectory(), lstatSync(at(`work/${left}`)).isSymbolicLink()]).toEqual([
        true,
        true,
      ]);
    }
  });

  it("is held after a swap run only", async () => {
    mkdirSync(at("out"));
    const layers = layersOf("swap-back", { anchors: ["out"] });
    await layers.holdAnchors();
    await layers.prepare(() => false);
    rmSync(at("out"), { recursive: true });
    writeFileSync(at("out"), "a file");
    await layers.holdAnchors();
    expect([lstatSync(at("out")).isDirectory(), readFileSync(at("work/done0"), "utf8")]).toEqual([true, "a file"]);
  });
});

describe("what is set aside", () => {
  /** A domain that waits aside, and what a command left in its place; which calls of the disk bring it home. */
  const bringHome = async (mode: number, isElsewhere: (place: string) => boolean) => {
    const { path, aside } = domainAt("d");
    runDisk.rename(at(path), aside);
    mkdirSync(at(path));
    chmodSync(at(path), mode);
    const calls: string[] = [];
    const name = (place: string) => place.slice(root.length + 1);
    const disk = elsewhere(isElsewhere, {
      setMode: (place, to) => (calls.push(`${name(place)} ${to.toString(8)}`), runDisk.setMode(place, to)),
      rename: (from, to) => (calls.push(`${name(from)} > ${name(to)}`), runDisk.rename(from, to)),
      copy: (from, to) => (calls.push(`copy ${name(from)} ${name(to)}`), runDisk.copy(from, to)),
      discard: (place) => (calls.push(`discard ${name(place)}`), runDisk.discard(place)),
    });
    // Where it waits is all that counts here: it never was, so that no device is compared.
    await swapBack(disk, places, { path, dev: null, ino: null, aside, copy: "" });
    return [calls, modeOf("work/done0")];
  };

  it("is renamed on the same device", async () => {
    expect(await bringHome(0o755, () => false)).toEqual([["d > work/done0", "work/orig-d > d"], 0o755]);
  });

  it("and closed is opened for that moment only", async () => {
    expect(await bringHome(0o555, () => false)).toEqual([
      ["d 755", "d > work/done0", "work/done0 555", "work/orig-d > d"],
      0o555,
    ]);
  });

  it("is copied from another device, and gone there afterwards", async () => {
    expect(await bringHome(0o755, (place) => place === at("d"))).toEqual([
      ["copy d work/done0", "discard d", "work/orig-d > d"],
      0o755,
    ]);
  });
});
