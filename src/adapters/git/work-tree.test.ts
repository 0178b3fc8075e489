import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.ts";
import { listTrackedFiles } from "./tracked-files.ts";
import { explainDistrust } from "./trusted-owner.ts";
import { createGitWork } from "./work-tree.ts";

const base = mkdtempSync(join(tmpdir(), "verbatim-clean-"));
afterAll(() => rmSync(base, { recursive: true }));

const PERSON = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", "-c", "protocol.file.allow=always"];
const git = (root: string, ...args: string[]) =>
  execFileSync("git", ["-C", root, ...PERSON, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();

function makeRepository(name: string): string {
  const root = join(base, name);
  mkdirSync(join(root, "src"), { recursive: true });
  git(root, "init", "-q", "-b", "main");
  writeFileSync(join(root, "src/one.txt"), "one\n");
  writeFileSync(join(root, ".gitignore"), "build/\n");
  git(root, "add", ".");
  git(root, "commit", "-qm", "first");
  return root;
}

describe("the commit that a working state is exactly", () => {
  const root = makeRepository("tree");
  const head = git(root, "rev-parse", "HEAD");
  const { cleanCommit } = createGitWork(root);

  it("is that of HEAD where only ignored files and the product's own are besides", async () => {
    mkdirSync(join(root, "build"));
    writeFileSync(join(root, "build/out"), "");
    mkdirSync(join(root, ".verbatim"));
    writeFileSync(join(root, ".verbatim/state"), "");
    expect(await cleanCommit()).toBe(head);
  });

  it.each<[string, () => void]>([
    ["an edited file", () => appendFileSync(join(root, "src/one.txt"), "two\n")],
    ["a file nobody tracks", () => writeFileSync(join(root, "src/new.txt"), "")],
    ["a file that is gone", () => rmSync(join(root, "src/one.txt"))],
    ["a file that is staged only", () => void git(root, "rm", "-q", "--cached", "src/one.txt")],
    [
      "a name that is to be added",
      () => {
        writeFileSync(join(root, "x"), "");
        git(root, "add", "-N", "x");
      },
    ],
    ["something of the product that is staged", () => void git(root, "add", "-f", ".verbatim/state")],
  ])("is none with %s", async (_what, change) => {
    change();
    expect(await cleanCommit()).toBeNull();
    git(root, "rm", "-rq", "--cached", "--ignore-unmatch", "x", ".verbatim");
    git(root, "reset", "-q");
    git(root, "checkout", "-q", ".");
    for (const path of ["x", "src/new.txt"]) rmSync(join(root, path), { force: true });
    expect(await cleanCommit()).toBe(head);
  });

  it("is none where a submodule moved, also when nobody wants to hear of it", async () => {
    const outer = makeRepository("outer");
    git(outer, "submodule", "add", "-q", root, "inner");
    git(outer, "config", "-f", ".gitmodules", "submodule.inner.ignore", "all");
    git(outer, "add", ".");
    git(outer, "commit", "-qm", "with a submodule");
    const work = createGitWork(outer);
    expect(await work.cleanCommit()).toBe(git(outer, "rev-parse", "HEAD"));
    git(join(outer, "inner"), "commit", "-q", "--allow-empty", "-m", "moved");
    expect(git(outer, "status", "--porcelain")).toBe("");
    expect(await work.cleanCommit()).toBeNull();
  });

  it("is none before the first commit", async () => {
    const empty = join(base, "empty");
    mkdirSync(empty);
    git(empty, "init", "-q");
    expect(await createGitWork(empty).cleanCommit()).toBeNull();
  });
});

describe("a repository that git does not trust", () => {
  // Git itself says the sentence; as whoever owns the folder it can only be made to for a test of its own.
  const refusal = (root: string) => {
    const env = { ...process.env, LC_ALL: "C", GIT_TEST_ASSUME_DIFFERENT_OWNER: "1", GIT_CONFIG_NOSYSTEM: "1" };
    return spawnSync("git", ["-C", root, "rev-parse", "HEAD"], {
      encoding: "utf8",
      env: { ...env, GIT_CONFIG_GLOBAL: "/dev/null" },
    }).stderr;
  };

  it("is named as such, with what to type if one trusts it", () => {
    const root = makeRepository("else's\u001b[2J");
    expect(refusal(root)).toContain("dubious ownership");
    const said = explainDistrust(refusal(root))!;
    expect(said.message).toBe("git does not work in this repository, because it belongs to another user");
    expect(said.fix).toMatchObject({
      cli: expect.stringContaining("safe.directory"),
      mcp: expect.stringContaining("Ask"),
    });
    expect(JSON.stringify(said)).not.toContain("\\u001b");
    expect(explainDistrust("fatal: not a git repository")).toBeUndefined();
  });

  it(
    "is refused in those words",
    needs(process.getuid!() === 0 ? null : "only root can give a folder away"),
    async () => {
      const root = makeRepository("given-away");
      chownSync(root, 65534, 65534);
      chownSync(join(root, ".git"), 65534, 65534);
      const expected = { code: "REPO_NOT_GIT", message: expect.stringContaining("belongs to another user") };
      await expect(createGitWork(root).head()).rejects.toMatchObject(expected);
      await expect(listTrackedFiles(root)).rejects.toMatchObject({ ...expected, code: "SOURCES_NOT_LISTED" });
    },
  );
});
