import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import type { Composition } from "../../src/app/compose/compose.ts";
import type { PlaceRequest } from "../../src/app/compose/verification/verification-places.ts";
import { recordWithTools } from "../support/agent-repo.ts";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { diskFolder } from "../support/memory-folder.ts";
import { SOMEBODY } from "../support/somebody.ts";
import {
  type Base,
  choosePlace,
  MENDED,
  makeNodeRepo,
  type NodeRepo,
  needGuard,
  openComposition,
  takeBase,
  toCandidate,
  tryPlace,
} from "../support/verification-repo.ts";

let repo: NodeRepo;
let composition: Composition;
let base: Base;

beforeEach(async () => {
  repo = makeNodeRepo();
  composition = openComposition(repo);
  base = await takeBase(repo);
});

afterEach(async () => {
  await composition.close();
  await runDisk.discard(repo.base);
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const choose = (more: Partial<PlaceRequest> = {}) => choosePlace(composition, repo, base, more);

const PLACES = [
  { name: "a view", wanted: {}, kind: "view" },
  { name: "a copy bound over the tree", wanted: { guard: "ns-bind" }, kind: "copy" },
  { name: "a copy at another place", wanted: { guard: "landlock" }, kind: "copy" },
  { name: "a checkout under a guard", wanted: { base: "checkout" }, kind: "checkout" },
  { name: "a checkout without a guard", wanted: { base: "checkout", guard: "audit" }, kind: "checkout" },
] as const;

describe.each(PLACES)("$name", ({ wanted, kind }) => {
  it("holds the base and the candidate, whatever kind of thing it writes, and leaves the real tree alone", async ({
    skip,
  }) => {
    await needGuard(composition, "guard" in wanted ? wanted.guard : "ns-overlay", skip);
    const before = recordWithTools(repo.root);
    const place = await choose(wanted);
    expect(place.kind).toBe(kind);
    const candidate = await toCandidate(composition, {
      "src/date.js": MENDED,
      "run.sh": "#!/bin/sh\n",
      "new/deep/tool": { exec: "#!/bin/sh\necho tool\n" },
      "docs/old": "a file where a folder was\n",
      "docs/old/a.txt": null,
      "docs/old/b.txt": null,
      plain: null,
      "plain/inside.txt": "a folder where a file was\n",
      link: { link: "test.js" },
      "a name\nof two lines": "odd\n",
    });
    const look =
      "cat src/date.js docs/old plain/inside.txt 'a name\nof two lines'; readlink link; new/deep/tool; test -x run.sh; echo $?";
    const { written, end, stdout, done } = await tryPlace(place, base, candidate, look);
    expect(done.results.map(({ exit_code }) => exit_code)).toEqual([0]);
    expect(stdout).toBe(`${MENDED}a file where a folder was\na folder where a file was\nodd\ntest.js\ntool\n1\n`);
    expect(written).toContainEqual({ path: "src/date.js", mode: "100644", sha256: sha256(MENDED) });
    expect(written).toContainEqual({ path: "new/deep/tool", mode: "100755", sha256: sha256("#!/bin/sh\necho tool\n") });
    expect(written).toContainEqual({ path: "link", mode: "120000", target: "test.js" });
    expect(written).toContainEqual({ path: "plain", mode: null });
    expect(end.problem).toBeNull();
    expect(recordWithTools(repo.root)).toBe(before);
  });
});

describe("a view of the tree", () => {
  beforeEach(({ skip }) => needGuard(composition, "ns-overlay", skip));

  it("has the ignored files of the user and a private repository, and the tests of a real project pass in it", async () => {
    const candidate = await toCandidate(composition, { "src/date.js": MENDED });
    const commit = "git -c user.name=x -c user.email=x@example.org commit -qam inside && git log --oneline | wc -l";
    const { stdout, done } = await tryPlace(
      await choose(),
      base,
      candidate,
      `node test.js && cat .cache/warm && ${commit}`,
    );
    expect([stdout, done.results[0]?.exit_code]).toEqual(["ok\nwarm\n2\n", 0]);
    expect(repo.git("log", "--oneline").trim().split("\n")).toHaveLength(1);
  });

  it("is the base of the run, whatever the user did to files that git does not ignore meanwhile", async () => {
    repo.write("src/date.js", "user at work\n");
    repo.write("fresh.txt", "fresh\n");
    rmSync(join(repo.root, "docs/old/a.txt"));
    rmSync(join(repo.root, "plain"));
    repo.write("plain/now-a-folder", "x\n");
    rmSync(join(repo.root, "run.sh"));
    symlinkSync("/etc/hostname", join(repo.root, "run.sh"));
    repo.git("add", "fresh.txt");
    repo.git("commit", "-qm", "meanwhile");
    repo.write(".cache/warm", "warmer\n");
    const before = recordWithTools(repo.root);
    const candidate = await toCandidate(composition, { "test.js": "// candidate\n" });
    const look = "cat docs/old/a.txt plain run.sh test.js .cache/warm; tail -1 src/date.js; ls -A";
    const { stdout } = await tryPlace(await choose(), base, candidate, look);
    expect(stdout).toBe(
      [
        "a",
        "plain",
        "#!/bin/sh",
        "// candidate",
        "warmer",
        "exports.day = (n) => leftish(String(n), 1);",
        ".cache\n.git\n.gitignore\n.verbatim\ndocs\nlink\nnode_modules\npackage.json\nplain\nrun.sh\nsrc\ntest.js\n",
      ].join("\n"),
    );
    expect(recordWithTools(repo.root)).toBe(before);
  });

  it("begins with the uncommitted and untracked files of the base, and with line ends as git checks them out", async () => {
    repo.write(".gitattributes", "*.crlf text eol=crlf\n");
    repo.write("lines.crlf", "one\r\ntwo\r\n");
    repo.write("untracked.txt", "mine\n");
    repo.write("src/date.js", "uncommitted\n");
    const own = await takeBase(repo);
    repo.write("lines.crlf", "other\r\n");
    repo.write("src/date.js", "later\n");
    rmSync(join(repo.root, "untracked.txt"));
    const look = "cat src/date.js untracked.txt; od -c lines.crlf | head -1";
    const { stdout } = await tryPlace(await choose(), own, [], look);
    expect(stdout).toBe("uncommitted\nmine\n0000000   o   n   e  \\r  \\n   t   w   o  \\r  \\n\n");
  });

  it("follows no link to write: one in the place of a folder is replaced, and what it leads to stays", async () => {
    const outside = join(repo.base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "victim.txt"), "victim\n");
    symlinkSync(outside, join(repo.root, "out.log"));
    symlinkSync("../node_modules", join(repo.root, "src/deps.log"));
    const candidate = await toCandidate(composition, {
      "out.log/victim.txt": "overwritten\n",
      "src/deps.log/leftish/index.js": "module.exports = () => '07';\n",
      "link/x": "x\n",
    });
    const { stdout, end } = await tryPlace(
      await choose(),
      base,
      candidate,
      "cat out.log/victim.txt; node test.js; test -d link",
    );
    expect(stdout).toBe("overwritten\n");
    expect(end.problem).toBeNull();
    expect(readFileSync(join(outside, "victim.txt"), "utf8")).toBe("victim\n");
  });

  it("says that it cannot hold a candidate: VERIFY_VIEW_MISMATCH", async () => {
    composition.config();
    mkdirSync(join(repo.root, ".verbatim"), { recursive: true });
    const candidate = await toCandidate(composition, { ".verbatim/planted": "x\n" });
    await expect(tryPlace(await choose(), base, candidate, "true")).rejects.toMatchObject({
      code: "VERIFY_VIEW_MISMATCH",
      where: ".verbatim/planted",
    });
  });

  it("does not begin with bytes that the content store has lost", async () => {
    const candidate = [{ path: "x", mode: "100644", sha256: "0".repeat(64) }] as const;
    await expect(tryPlace(await choose(), base, candidate, "true")).rejects.toMatchObject({
      code: "CONTENT_STORE_CORRUPT",
    });
  });

  it("shows git the same state as outside, also in a work tree below the temporary folder with its repository beside it", async () => {
    const main = makeNodeRepo(diskFolder());
    onTestFinished(() => runDisk.discard(main.base));
    const tree = join(main.base, "tree");
    main.git("worktree", "add", "-q", "-b", "other", tree);
    appendFileSync(join(tree, "plain"), "dirty\n");
    const own = { ...main, root: tree };
    const there = openComposition(own);
    try {
      const begun = await takeBase(own);
      const candidate = await toCandidate(there, { "src/date.js": MENDED });
      const place = await choosePlace(there, own, begun);
      const { stdout } = await tryPlace(place, begun, candidate, "git status --short; git rev-parse --abbrev-ref HEAD");
      expect(stdout).toBe(" M plain\n M src/date.js\nother\n");
    } finally {
      await there.close();
    }
  });

  it("tells which ignored files changed since another view began, and what somebody changed while it ran", async () => {
    const first = await tryPlace(await choose(), base, [], "true");
    repo.write("node_modules/leftish/index.js", "module.exports = () => '';\n");
    const second = await tryPlace(await choose(), base, [], "true", () => {
      repo.write("plain", "changed meanwhile\n");
      repo.write(".verbatim/flag", "");
    });
    const [was, is] = [first.end.ignored!, second.end.ignored!];
    expect([...was.keys()]).toEqual([".cache", "node_modules"]);
    expect(was.get(".cache")).toBe(is.get(".cache"));
    expect(was.get("node_modules")).not.toBe(is.get("node_modules"));
    expect(first.end.changed_meanwhile).toEqual([]);
    expect(second.end.changed_meanwhile).toContain("plain");
  });
});

describe("an ordinary user", () => {
  let program: ChildProgram;
  beforeAll(async () => {
    program = await buildChild("test/support/verification-child.ts");
  });
  afterAll(() => program.remove());

  it.each(["ns-overlay", "ns-bind"] as const)("verifies under %s with the same result", async (guard) => {
    repo.write("shut/was.txt", "was\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "shut");
    chmodSync(join(repo.root, "shut"), 0o555);
    if (process.getuid?.() === 0) execFileSync("chown", ["-R", "65534:65534", repo.base]);
    const before = recordWithTools(repo.root);
    const { lines, ended } = program.start([repo.base, repo.root, guard], { ...SOMEBODY, cwd: "/" });
    const { errors } = await ended;
    expect(errors).toBe("");
    expect(JSON.parse(lines.at(-1) ?? "null")).toEqual({
      kind: guard === "ns-overlay" ? "view" : "copy",
      stdout: [
        "ok",
        "a file where a folder was",
        "a folder where a file was",
        "test.js",
        "total 4",
        "-rw-r--r--",
        "new.txt",
        String(SOMEBODY.uid ?? process.getuid?.()),
        "",
      ].join("\n"),
      stderr: "",
      problem: null,
    });
    expect(recordWithTools(repo.root)).toBe(before);
  });
});
