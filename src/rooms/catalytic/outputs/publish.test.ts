import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { publishOutputs, quarantine, rollBackOutput } from "./publish.ts";

let root: string;
let work: string;
const read = (place: string) => (existsSync(place) ? readFileSync(place, "utf8") : null);
const takeBack = (item: object) => rollBackOutput(runDisk, { root, work }, { op: "PUBLISH_ITEM", ...item } as never);

beforeEach(() => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-publish-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  [root, work] = [join(base, "root"), join(base, "work")];
  for (const folder of [root, work]) mkdirSync(folder);
});

describe("taking a published output back", () => {
  it("leaves the place empty and keeps the output aside, once and twice", async () => {
    writeFileSync(join(root, "out.txt"), "new\n");
    const { ino, dev } = runDisk.stat(join(root, "out.txt"))!;
    for (const _ of [1, 2]) {
      await takeBack({ path: "out.txt", ino, dev });
      expect([read(join(root, "out.txt")), read(join(work, "stage/out.txt"))]).toEqual([null, "new\n"]);
    }
    writeFileSync(join(root, "out.txt"), "again\n");
    await takeBack({ path: "out.txt", ...runDisk.stat(join(root, "out.txt"))! });
    expect([read(join(root, "out.txt")), read(join(work, "stage/out.txt"))]).toEqual([null, "new\n"]);
  });

  it("leaves what somebody else has put there meanwhile", async () => {
    writeFileSync(join(root, "out.txt"), "new\n");
    const { ino, dev } = runDisk.stat(join(root, "out.txt"))!;
    writeFileSync(join(root, "theirs.txt"), "theirs\n");
    const theirs = runDisk.stat(join(root, "theirs.txt"))!;
    for (const item of [
      { ino: theirs.ino, dev },
      { ino, dev: "0" },
      { ino: null, dev },
    ]) {
      await takeBack({ path: "out.txt", ...item });
      expect(read(join(root, "out.txt"))).toBe("new\n");
    }
    await takeBack({ path: "gone.txt", ino, dev });
    expect(existsSync(join(work, "stage"))).toBe(false);
  });

  it("brings the old output back, unless it was never moved away", async () => {
    const [out, backup] = [join(root, "out.txt"), join(work, "old")];
    writeFileSync(out, "old\n");
    await takeBack({ path: "out.txt", backup });
    expect(read(out)).toBe("old\n");
    writeFileSync(out, "new\n");
    writeFileSync(backup, "old\n");
    await takeBack({ path: "out.txt", backup });
    expect([read(out), read(backup), read(join(work, "stage/out.txt"))]).toEqual(["old\n", null, "new\n"]);
  });
});

describe("publishing", () => {
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };

  it("puts outputs in place, keeps what was there, makes folders that are missing and says what is gone", async () => {
    put(join(work, "stage/a/b/new.txt"), "new\n");
    put(join(work, "stage/old.txt"), "newer\n");
    put(join(work, "stage/site/kept.txt"), "kept\n");
    put(join(work, "stage/docs/new.txt"), "new\n");
    put(join(root, "docs/old.txt"), "old\n");
    put(join(root, "old.txt"), "old\n");
    for (const name of ["kept.txt", "gone.txt"]) put(join(root, "site", name), "before\n");
    const lines: string[] = [];
    const journal = { record: (op: string, facts: object = {}) => lines.push(`${op} ${JSON.stringify(facts)}`) };
    const made: string[] = [];
    const makeFolder = (path: string) => {
      made.push(path);
      mkdirSync(join(root, path));
    };
    const { ino, dev } = runDisk.stat(join(work, "stage/old.txt"))!;
    const outputs = ["a/b/new.txt", "old.txt", "site/", "docs/new.txt"];
    const published = await publishOutputs(runDisk, journal as never, { root, work } as never, outputs, makeFolder);
    expect(published).toEqual([
      { path: "a/b/new.txt", removed: [] },
      { path: "old.txt", removed: [] },
      { path: "site", removed: ["site/gone.txt"] },
      { path: "docs/new.txt", removed: [] },
    ]);
    expect(made).toEqual(["a", "a/b"]);
    expect(runDisk.stat(join(root, "old.txt"))?.ino).toBe(ino);
    expect(["a/b/new.txt", "old.txt", "site/kept.txt", "site/gone.txt"].map((path) => read(join(root, path)))).toEqual([
      "new\n",
      "newer\n",
      "kept\n",
      null,
    ]);
    expect([read(join(work, "backup/1")), read(join(work, "backup/2/gone.txt"))]).toEqual(["old\n", "before\n"]);
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe(`PUBLISH_INTENT ${JSON.stringify({ paths: outputs })}`);
    expect(lines[1]).toContain('"path":"a/b/new.txt","backup":null');
    expect(lines[2]).toBe(
      `PUBLISH_ITEM ${JSON.stringify({ path: "old.txt", backup: join(work, "backup/1"), dev, ino })}`,
    );
    expect(lines[5]).toBe("PUBLISHED {}");
  });

  it("copies where a rename cannot go to another device", async () => {
    put(join(work, "stage/new.txt"), "new\n");
    const elsewhere = (place: string) => {
      const facts = runDisk.stat(place);
      return facts === null || !place.startsWith(root) ? facts : { ...facts, dev: "another" };
    };
    const rename = () => {
      throw new Error("EXDEV");
    };
    const disk = { ...runDisk, stat: elsewhere, rename } as never;
    await publishOutputs(disk, { record: () => undefined } as never, { root, work } as never, ["new.txt"], () => {});
    expect([read(join(root, "new.txt")), read(join(work, "stage/new.txt"))]).toEqual(["new\n", null]);
  });

  it("moves what may not be published to the quarantine of the run", async () => {
    const record = join(work, "record");
    const places = { root, work, record } as never;
    expect(await quarantine(runDisk, places, new Map([["gone.txt", null]]))).toBeNull();
    expect(existsSync(record)).toBe(false);
    put(join(work, "stage/bad.txt"), "x\n");
    const entry = { type: "file", mode: "0644", size: 2, sha256: "ab" } as never;
    const kept = await quarantine(runDisk, places, new Map([["bad.txt", entry]]));
    expect([kept?.paths, read(join(record, "quarantine/bad.txt"))]).toEqual([["bad.txt"], "x\n"]);
    expect(existsSync(join(work, "stage/bad.txt"))).toBe(false);
  });
});
