import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { parseRepoPath } from "../../../core/paths/index.ts";
import { resolveInside } from "./inside-root.ts";

const base = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-inside-")));
const root = join(base, "root");
mkdirSync(join(root, "real"), { recursive: true });
mkdirSync(join(base, "root-twin"));
writeFileSync(join(root, "real", "file"), "x");
symlinkSync(join(root, "real"), join(root, "in"));
symlinkSync(base, join(root, "out"));
symlinkSync("../root-twin", join(root, "twin"));
symlinkSync(join(base, "nothing"), join(root, "dangling"));
symlinkSync("loop", join(root, "loop"));
symlinkSync(root, join(base, "alias"));
afterAll(() => rmSync(base, { recursive: true }));

describe("resolving inside a root", () => {
  it.each([
    ["real/file", "real/file"],
    ["in/file", "real/file"],
    ["in/new/deep/file", "real/new/deep/file"],
    ["new", "new"],
  ])("%s is %s", (path, real) => {
    expect(resolveInside(root, parseRepoPath(path))).toBe(join(root, real));
  });

  it("works when the root itself is reached through a link", () => {
    expect(resolveInside(join(base, "alias"), parseRepoPath("real/file"))).toBe(join(root, "real/file"));
  });

  it.each([
    ["out/file", "PATH_LINK_OUTSIDE"],
    ["out/root/real/../file".replace("/../", "/"), "ok"],
    ["twin/new", "PATH_LINK_OUTSIDE"],
    ["dangling", "PATH_LINK_DANGLING"],
    ["dangling/new", "PATH_LINK_DANGLING"],
    ["loop/x", "PATH_LINK_LOOP"],
    ["real/file/below", "PATH_NOT_A_DIRECTORY"],
  ])("%s: %s", (path, reason) => {
    const run = () => resolveInside(root, parseRepoPath(path));
    if (reason === "ok") expect(run()).toBe(join(root, "real/file"));
    else expect(run).toThrowError(expect.objectContaining({ details: expect.objectContaining({ reason }) }));
  });
});
