import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentSummary } from "../../src/app/agent/report/agent-summary.ts";
import { renderAgent } from "../../src/surfaces/cli/agent-text.ts";
import type { Io } from "../../src/surfaces/cli/io.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

// A Node project as people have it: what its tests need lies in an ignored folder.

const MENDED = "sed -i 's/, 1)/, 2)/' date.js";

function makeHarbour(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write(".gitignore", "node_modules/\n");
  repo.write("package.json", '{ "name": "harbour", "scripts": { "test": "node test.js" } }\n');
  repo.write("node_modules/leftish/package.json", '{ "name": "leftish", "version": "1.0.0" }\n');
  repo.write("node_modules/leftish/index.js", 'module.exports = (text, n) => text.padStart(n, "0");\n');
  repo.write("date.js", 'const leftish = require("leftish");\nexports.day = (n) => leftish(String(n), 1);\n');
  repo.write(
    "test.js",
    'const { day } = require("./date.js");\nif (day(7) !== "07") { console.error(`got ${day(7)}`); process.exit(1); }\n',
  );
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const run = (repo: AgentRepo, flags: readonly string[], script: string) =>
  repo.verbatim("agent", "--goal", "two digits", ...flags, "--", "sh", "-c", script);

describe("the tests of a project with ignored dependencies", () => {
  // The others do without npm, which takes longer to start than everything else.
  it("verify a change on the tree with its ignored files, and nothing of it is touched", async () => {
    const repo = makeHarbour();
    const { exit, stdout } = await run(repo, ["--verify", "npm test"], MENDED);
    expect(stdout).toContain("✓ verify    passed on your tree with its ignored files (node_modules)");
    expect(exit).toBe(0);
    expect(readFileSync(join(repo.root, "date.js"), "utf8")).toContain(", 1)");
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("never see the ignored files that the agent wrote", async () => {
    const repo = makeHarbour();
    const doctored =
      'echo "module.exports = () => \\"07\\";" > node_modules/leftish/index.js; echo "// done" >> date.js';
    const { exit, stdout } = await run(repo, ["--verify", "node test.js"], `${doctored}; node test.js`);
    expect(stdout).toContain("✗ verify    failed on your tree with its ignored files (node_modules)");
    expect(stdout).toContain("got 7");
    expect(exit).toBe(1);
  });

  it("find the tools where the user installed them, and none of the user's other variables", async () => {
    const repo = makeHarbour();
    Object.assign(repo.env, { CARGO_HOME: "/opt/crates", HARBOUR_TOKEN: "tern" });
    const seen = 'test "$CARGO_HOME" = /opt/crates && test -z "$HARBOUR_TOKEN"';
    const { exit, stdout } = await run(repo, ["--verify-sh", seen], MENDED);
    expect(stdout).toContain("✓ verify    passed");
    expect(exit).toBe(0);
  });

  it("that fail without the change too are told as such, unless nobody wants to know", async () => {
    const repo = makeHarbour();
    const broken = "sed -i 's/, 1)/, 3)/' date.js";
    const { stdout } = await run(repo, ["--verify", "node test.js"], broken);
    expect(stdout).toContain("node test.js ended with exit code 1; it fails without the agent's change too");
    const { stdout: short } = await run(repo, ["--verify", "node test.js", "--no-baseline"], broken);
    expect(short).toContain("node test.js ended with exit code 1\n");
  });

  it("may be a shell command, where that is said", async () => {
    const repo = makeHarbour();
    const { exit, stdout } = await run(repo, ["--verify-sh", "node test.js && test -d node_modules"], MENDED);
    expect([exit, stdout]).toEqual([0, expect.stringContaining("node test.js && test -d node_modules")]);
  });

  it("run after a set-up that was asked for, and not after one that failed", async () => {
    const repo = makeHarbour();
    repo.write("install.sh", 'echo "no room for lamps"\nexit 3\n');
    repo.git("add", ".");
    repo.git("commit", "-qm", "install");
    const flags = ["--verify", "node test.js", "--setup", "sh install.sh"];
    const { exit, stdout } = await run(repo, flags, MENDED);
    expect(stdout).toContain("the set-up failed: sh install.sh ended with exit code 3");
    // It says why, and which flags help: other commands would not.
    expect(stdout).toMatch(/^ +no room for lamps$/m);
    expect(stdout).toMatch(/with another set-up: +verbatim agent verify [0-9-]+[0-9a-f]+ --setup "\.\.\."/);
    expect(stdout).toMatch(/without a set-up: +verbatim agent verify \S+ --no-setup/);
    expect(stdout).not.toContain("again with other commands");
    expect(exit).toBe(1);
  });
});

describe("commands that verify", () => {
  it("and that no guard holds back make the change fail when they touched the real tree", async () => {
    const repo = makeHarbour();
    repo.write("verbatim.config.json", '{ "workflow": { "verify": { "isolation": "worktree" } } }\n');
    repo.git("add", ".");
    repo.git("commit", "-qm", "plain processes");
    const refused = await run(repo, ["--no-setup", "--verify", "true"], MENDED);
    expect(refused.stderr).toContain("error[CONFIG_UNTRUSTED]");
    expect(refused.stderr).toContain("--guard audit");
    repo.trust();
    const flags = ["--no-setup", "--verify-sh", `echo sly >> '${join(repo.root, "test.js")}'`];
    const { exit, stdout } = await run(repo, flags, MENDED);
    expect(stdout).toContain("your tree changed while the verify commands ran, and no guard held them back");
    expect([exit, stdout]).toEqual([1, expect.stringContaining("✗ verify")]);
  });

  it("of the configuration keep their own limits and folders", async () => {
    const repo = makeHarbour();
    repo.write("sub/here.txt", "here\n");
    const lite = [
      { argv: ["test", "-e", "here.txt"], cwd: "sub" },
      { argv: ["sleep", "60"], timeout_s: 1 },
    ];
    repo.write("verbatim.config.json", `${JSON.stringify({ workflow: { verify: { gates: { lite } } } })}\n`);
    repo.git("add", ".");
    repo.git("commit", "-qm", "gates");
    const { exit, stdout } = await run(repo, ["--no-baseline"], MENDED);
    expect(stdout).toContain("✓ test -e here.txt");
    expect([exit, stdout]).toEqual([1, expect.stringContaining("sleep 60 took longer than 1 s")]);
  });

  it("leave notices that a person is shown", async () => {
    const repo = makeHarbour();
    const { summary } = await repo.agent(["--goal", "x", "--verify", "node test.js"], ["sh", "-c", MENDED]);
    const view = agentSummary.parse(summary);
    const lines: string[] = [];
    const plain = (text: string) => text;
    const paint = { bold: plain, dim: plain, good: plain, bad: plain, warn: plain };
    const io = { width: 80, paint, line: (text = "") => void lines.push(text) };
    const verify = { ...view.verify!, notices: ["node_modules changed since the agent began"] };
    renderAgent({ ...view, verify }, io as Partial<Io> as Io);
    expect(lines).toContain("            ! node_modules changed since the agent began");
  });
});

describe("a run that could not be verified", () => {
  it.each([
    [["--verify", "npm test && npm run lint"], "VERIFY_NEEDS_SHELL", '--verify "npm test" --verify "npm run lint"'],
    [["--verify", "leuchtturm --all"], "VERIFY_PROGRAM_MISSING", "Install leuchtturm, or give its path."],
    [[], "VERIFY_NOT_CONFIGURED", 'found in package.json: --verify "npm test" (or --no-verify)'],
  ] as const)("is refused before the agent starts: %s", async (flags, code, fix) => {
    const repo = makeHarbour();
    const { exit, stderr } = await run(repo, flags, "touch started");
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`error[${code}]`)]);
    expect(stderr).toContain(fix);
    expect(existsSync(join(repo.base, "state/verbatim/runs"))).toBe(false);
  });
});
