import {
  chmodSync,
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
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLandingFiles } from "./landing-files.ts";

let folder: string;
let root: string;
let outside: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-landing-files-")));
  [root, outside] = [join(folder, "root"), join(folder, "outside")];
  for (const place of [root, outside]) mkdirSync(place);
  writeFileSync(join(outside, "a"), "outside");
  symlinkSync(outside, join(root, "link"));
  writeFileSync(join(root, "file"), "x");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const FILE = { mode: "100644", bytes: Buffer.from("new"), permissions: null } as const;

describe("files that land", () => {
  it("are never looked for or written behind a link", () => {
    const files = createLandingFiles(root);
    expect(files.look("link/a")).toEqual({ kind: "blocked" });
    expect(files.look("file/a")).toEqual({ kind: "blocked" });
    expect(files.look("nothing/a")).toEqual({ kind: "missing" });
    expect(files.look("link")).toMatchObject({ kind: "link", bytes: Buffer.from(outside) });
    expect(files.names("link")).toEqual([]);
    expect(files.below("link")).toEqual({ files: [], folders: [] });
    expect(files.folderPermissions("link")).toBeNull();
    expect(() => files.stage("link/b", "tmp", FILE)).toThrow();
    expect(() => files.place("link/b", "a", null)).toThrow();
    expect(() => files.drop("link/a", "")).toThrow();
    expect(() => files.makeFolder("link/sub", null)).toThrow();
    files.discard("link/x", "a");
    files.removeFolder("link/sub");
    files.sync(["link"]);
    expect(readdirSync(outside)).toEqual(["a"]);
    expect(readFileSync(join(outside, "a"), "utf8")).toBe("outside");
  });

  it("take the place of a link, not of what it leads to", () => {
    const files = createLandingFiles(root);
    const { stamp } = files.look("link") as { stamp: string };
    files.stage("link", "tmp", FILE);
    expect(files.place("link", "tmp", stamp)).toBe(true);
    expect(lstatSync(join(root, "link")).isFile()).toBe(true);
    expect(readFileSync(join(outside, "a"), "utf8")).toBe("outside");
  });

  it("get their name only where nothing changed", () => {
    const files = createLandingFiles(root);
    const { stamp } = files.look("file") as { stamp: string };
    files.stage("file", "tmp", FILE);
    expect(files.place("file", "tmp", null)).toBe(false);
    writeFileSync(join(root, "file"), "y");
    expect(files.place("file", "tmp", stamp)).toBe(false);
    expect(files.drop("file", stamp)).toBe(false);
    expect(readFileSync(join(root, "file"), "utf8")).toBe("y");
    files.discard("file", "tmp");
    files.discard("file", "tmp");
    expect(readdirSync(root).sort()).toEqual(["file", "link"]);
  });

  it.each([
    [0o600, "100644", 0o600],
    [0o600, "100755", 0o700],
    [0o664, "100755", 0o775],
    [0o755, "100644", 0o644],
    [0o750, "100755", 0o750],
    [0o4755, "100755", 0o755],
  ] as const)("with permissions %o and mode %s have %o", (permissions, mode, expected) => {
    const files = createLandingFiles(root);
    files.stage("new", "tmp", { mode, bytes: new Uint8Array(), permissions });
    expect(files.place("new", "tmp", null)).toBe(true);
    expect(lstatSync(join(root, "new")).mode & 0o7777).toBe(expected);
    expect(files.look("new")).toMatchObject({ kind: "file", mode, permissions: expected });
  });

  it("tell folders, special files and what is below", () => {
    mkdirSync(join(root, "dir/sub"), { recursive: true });
    writeFileSync(join(root, "dir/sub/a"), "");
    chmodSync(join(root, "dir"), 0o700);
    const files = createLandingFiles(root);
    expect(files.look("dir")).toEqual({ kind: "folder" });
    expect(files.below("dir")).toEqual({ files: ["dir/sub/a"], folders: ["dir/sub"] });
    expect(files.folderPermissions("dir")).toBe(0o700);
    expect([...files.names("")].sort()).toEqual(["dir", "file", "link"]);
    files.removeFolder("dir");
    expect(files.look("dir")).toEqual({ kind: "folder" });
  });
});
