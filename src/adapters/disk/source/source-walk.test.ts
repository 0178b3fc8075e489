import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { STAT_FIELDS, type WalkRules } from "../../../rooms/context/ports.ts";
import { createSourceTree } from "./source-tree.ts";

const ALL: WalkRules = {
  prefixes: [""],
  enters: (path) => !path.endsWith("closed"),
  matches: (path) => path !== "clock",
};

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-walk-")));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string | Buffer, content = "x"): void {
  writeFileSync(typeof path === "string" ? join(root, path) : Buffer.concat([Buffer.from(`${root}/`), path]), content);
}

const tree = () => createSourceTree(root, join(root, "clock"));

describe("walking", () => {
  it("lists files in the order of their whole paths, with their facts", () => {
    mkdirSync(join(root, "a/b"), { recursive: true });
    mkdirSync(join(root, "closed"));
    for (const path of ["a/b/c", "a/b.md", "a-b", "a.md", "b", "closed/x", "\u{1f600}", "\ue000"]) write(path, path);
    const walk = tree().walk(ALL);
    expect(walk.paths).toEqual(["a-b", "a.md", "a/b.md", "a/b/c", "b", "\ue000", "\u{1f600}"]);
    expect(walk.paths.map((_, i) => walk.stats[i * STAT_FIELDS])).toEqual([3, 4, 6, 5, 1, 3, 4]);
    expect(walk.folders?.paths).toEqual(["", "a", "a/b"]);
    expect(tree().statAll(walk.paths, "file")).toEqual(walk.stats);
    expect(tree().statAll(walk.folders!.paths, "folder")).toEqual(walk.folders!.stats);
  });

  it("remembers the folders on the way to a prefix, also when it is not there", () => {
    mkdirSync(join(root, "a"));
    const walk = tree().walk({ prefixes: ["a/missing/deep", "b"], enters: () => true, matches: () => true });
    expect(walk).toMatchObject({ paths: [], problems: [] });
    expect(walk.folders?.paths).toEqual(["", "a"]);
  });

  it("does not begin in an excluded folder", () => {
    mkdirSync(join(root, "a"));
    write("a/x");
    const walk = tree().walk({ prefixes: ["a"], enters: () => false, matches: () => true });
    expect(walk).toMatchObject({ paths: [], folders: { paths: [] } });
  });

  it("refuses names that are not UTF-8 or hold what no address can carry, where they would be selected", () => {
    write(Buffer.from([0x61, 0xff]));
    write("tab\tname");
    write("back\\slash");
    write("\ufffd");
    mkdirSync(join(root, "new\nline"));
    mkdirSync(join(root, "\u007fclosed"));
    const { paths, problems, folders } = tree().walk(ALL);
    expect(paths).toEqual(["\ufffd"]);
    expect(problems.map(({ code, file_path }) => `${code} ${file_path}`).sort()).toEqual([
      "SOURCE_PATH_INVALID a\ufffd",
      "SOURCE_PATH_INVALID back\\slash",
      "SOURCE_PATH_INVALID new\nline",
      "SOURCE_PATH_INVALID tab\tname",
    ]);
    expect(folders).toBeNull();
  });

  it("refuses what is neither file nor folder, without waiting for it", (context) => {
    if (process.platform === "win32") context.skip("there are no named pipes in folders on Windows");
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(tree().walk(ALL).problems).toEqual([{ code: "SOURCE_NOT_REGULAR", file_path: "pipe" }]);
    expect(tree().inspect("pipe")).toEqual({ code: "SOURCE_NOT_REGULAR", file_path: "pipe" });
    expect(tree().stat("pipe")).toBeNull();
    expect(tree().read("pipe", 10, -1)).toHaveLength(0);
  });

  it("follows links to files inside, refuses those that lead out or nowhere, and enters none to a folder", () => {
    mkdirSync(join(root, "folder"));
    write("folder/x", "inside");
    symlinkSync("folder/x", join(root, "in"));
    symlinkSync("in", join(root, "chain"));
    symlinkSync("loop", join(root, "loop"));
    symlinkSync("nowhere", join(root, "dangling"));
    symlinkSync("/etc/hostname", join(root, "out"));
    symlinkSync("folder", join(root, "door"));
    symlinkSync("/", join(root, "rooted"));
    const { paths, links, problems, skipped_links, folders } = tree().walk(ALL);
    expect(paths).toEqual(["chain", "folder/x", "in"]);
    expect([...links]).toEqual([
      ["chain", "folder/x"],
      ["in", "folder/x"],
    ]);
    expect(problems).toEqual([
      { code: "SOURCE_UNREADABLE", file_path: "dangling" },
      { code: "SOURCE_UNREADABLE", file_path: "loop" },
      { code: "SOURCE_LINK_OUTSIDE", file_path: "out" },
    ]);
    expect(skipped_links).toEqual(["door", "rooted"]);
    expect(folders).toBeNull();
    expect(tree().inspect("chain")).toBe("folder/x");
    expect(tree().inspect("door/x")).toMatchObject({ code: "SOURCE_NOT_REGULAR" });
  });
});

describe("reading", () => {
  it("gives all bytes, whatever size was expected, and no more than the limit", () => {
    const long = "y".repeat(3_000_000);
    write("long", long);
    write("empty", "");
    for (const expected of [-1, 0, 10, 3_000_000, 9_000_000]) {
      expect(Buffer.from(tree().read("long", 3_000_000, expected) as Uint8Array).toString()).toBe(long);
    }
    expect(tree().read("empty", 10, 0)).toHaveLength(0);
    expect(tree().read("long", 2_999_999, 3_000_000)).toMatchObject({ code: "SOURCE_TOO_LARGE", limit: 2_999_999 });
    expect(tree().read("missing", 10, 5)).toEqual({ code: "SOURCE_UNREADABLE", file_path: "missing" });
  });

  it("tells the time of the file system, never backwards", () => {
    const one = tree().clock();
    write("later");
    expect(tree().stat("later")!.mtime_ms).toBeGreaterThanOrEqual(one);
    expect(tree().clock()).toBeGreaterThanOrEqual(one);
  });
});
