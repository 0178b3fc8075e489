import {
  chmodSync,
  chownSync,
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
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { createLandingFiles } from "./landing-files.ts";

let folder: string;
let root: string;
let outside: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-landing-files-")));
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

  it.each(["../outside/a", "a/../../outside/a", "/etc/passwd", ".git/config", "sub/.GIT/hooks/x", "", "a//b"])(
    "are never looked for or written at %j",
    (path) => {
      const files = createLandingFiles(root);
      const refused = expect.objectContaining({ code: "PATH_REFUSED" });
      expect(() => files.look(path)).toThrow(refused);
      expect(() => files.stage(path, "tmp", FILE)).toThrow(refused);
      expect(() => files.place(path, "file", null)).toThrow(refused);
      expect(() => files.drop(path, "")).toThrow(refused);
      expect(() => files.makeFolder(path, null)).toThrow(refused);
      expect(readdirSync(folder).sort()).toEqual(["outside", "root"]);
    },
  );

  it("belong to whoever the folder belongs to, when root lands them", (context) => {
    if (process.getuid?.() !== 0) return context.skip("only root can give a file away");
    mkdirSync(join(root, "theirs"));
    chownSync(join(root, "theirs"), 65_534, 65_534);
    const files = createLandingFiles(root);
    files.makeFolder("theirs/sub", null);
    for (const [path, mode] of [
      ["theirs/a", "100644"],
      ["theirs/sub/b", "100755"],
      ["theirs/l", "120000"],
    ] as const) {
      files.stage(path, "tmp", { mode, bytes: Buffer.from("x"), permissions: null });
      expect(files.place(path, "tmp", null)).toBe(true);
      expect(lstatSync(join(root, path)).uid).toBe(65_534);
    }
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
