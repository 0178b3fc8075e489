import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readGitContext } from "./git-context.ts";

let base: string;
let repo: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "verbatim-context-"));
  repo = join(base, "repo");
  mkdirSync(repo);
  execFileSync("git", ["init", "-q", repo]);
});

afterEach(() => rmSync(base, { recursive: true }));

describe("what git's answers depend on besides the tree", () => {
  it("is the same while nothing changes, and another with other settings", async () => {
    const first = await readGitContext(repo);
    expect(await readGitContext(repo)).toBe(first);
    execFileSync("git", ["-C", repo, "config", "core.ignorecase", "true"]);
    expect(await readGitContext(repo)).not.toBe(first);
  });

  it("is another when a file of ignore rules changes behind a link", async () => {
    writeFileSync(join(base, "real"), "*.log\n");
    symlinkSync(join(base, "real"), join(base, "ignore"));
    execFileSync("git", ["-C", repo, "config", "core.excludesfile", join(base, "ignore")]);
    const first = await readGitContext(repo);
    appendFileSync(join(base, "real"), "*.tmp\n");
    expect(await readGitContext(repo)).not.toBe(first);
  });

  it("is never the same where parts of the repository are links to another", async () => {
    renameSync(join(repo, ".git/refs"), join(base, "refs"));
    symlinkSync(join(base, "refs"), join(repo, ".git/refs"));
    expect(await readGitContext(repo)).not.toBe(await readGitContext(repo));
  });
});
