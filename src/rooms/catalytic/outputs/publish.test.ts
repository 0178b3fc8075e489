import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/run-disk.ts";
import { rollBackOutput } from "./publish.ts";

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
