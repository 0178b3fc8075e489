import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { readHunks } from "../candidate/hunks.ts";
import type { CandidateFile } from "../contracts/candidate.ts";
import { listAddedLines } from "./added-lines.ts";
import { type PolicySources, resolveAgentPolicy } from "./agent-policy.ts";
import { type ChangeToJudge, judgeChange, measureChange } from "./judge-change.ts";
import { findLinkProblem } from "./link-target.ts";

const text = (path: string, added = 1): CandidateFile => ({
  path,
  operation: "modify",
  kind: "text",
  added,
  deleted: 0,
  bytes: 1,
  sha256: "0".repeat(64),
  mode: "100644",
  hunks: [],
});
const whole = (path: string, more: Partial<CandidateFile>): CandidateFile => {
  const { hunks: _, ...file } = text(path, 0);
  return { ...file, operation: "create", ...more };
};
const binary = (path: string, bytes: number) => whole(path, { kind: "binary", bytes });
const link = (path: string, target: string) => whole(path, { kind: "link", mode: "120000", target });

const judge = (files: readonly CandidateFile[], more: Partial<ChangeToJudge> = {}, sources: PolicySources = {}) =>
  judgeChange({ files, added: new Map(), special: [], scope: null, policy: resolveAgentPolicy(sources), ...more });
const words = (findings: ReturnType<typeof judge>) => findings.map(({ code, rule }) => `${code} ${rule}`);

describe("what no flag allows", () => {
  it.each([
    ".git/config",
    "sub/.git/hooks/pre-commit",
    ".GIT/config",
    "git~1/config",
    ".g\u200cit/config",
    ".git./config",
    ".git::$INDEX_ALLOCATION/config",
    ".verbatim/state/repo.json",
    "sub/.Verbatim/x",
    "VERBAT~1/x",
  ])("%s", (path) => {
    const [first] = judge([text(path)], {}, { permit: ["**"] });
    expect(first).toMatchObject({ code: "POLICY_NEVER", rule: "forbidden_name", flag: null });
    expect(first!.fix).toMatch(/^There is no flag for it\. Leave it out: --leave-out /);
  });

  it.each([".gitignore", "git/config", ".github/x", "verbatim/x", ".gitx/y"])("but not %s", (path) => {
    expect(judge([text(path)])).toEqual([]);
  });

  it.each(["a\\b", "a\nb", "C:/x", "/x", "a/../b"])("the name %j", (path) => {
    expect(words(judge([text(path)]))).toContain("POLICY_NEVER name");
  });

  it("special files and files that run with their owner's rights", () => {
    const special = [
      { path: "pipe", what: "special_file" },
      { path: "su", what: "setuid" },
    ] as const;
    expect(judge([], { special }).map(({ says }) => says)).toEqual([
      "pipe is neither a file, a folder nor a link",
      "su would run with the rights of its owner",
    ]);
  });

  it.each([
    ["l", "/etc/passwd", "is absolute"],
    ["l", "C:\\x", "is absolute"],
    ["l", "\\\\host\\x", "is absolute"],
    ["l", "..", "leads outside the repository"],
    ["a/l", "../../x", "leads outside the repository"],
    ["a/b/l", "../../../etc", "leads outside the repository"],
    ["a/b/l", "d/../../x", "goes back in the middle"],
    ["l", ".git/config", "leads into .git"],
    ["a/l", "../.GIT", "leads into .GIT"],
    ["l", "sub/.verbatim/state", "leads into .verbatim"],
    ["l", "", "leads nowhere"],
  ])("the link %s to %s", (path, target, says) => {
    expect(findLinkProblem(path, target)).toContain(says);
    expect(words(judge([link(path, target)], {}, { permit: ["**"] }))).toEqual(["POLICY_NEVER link"]);
  });

  it.each([
    ["l", "x"],
    ["l", "./x/y"],
    ["a/l", "../x"],
    ["a/b/l", "../.."],
    ["a/l", ".gitignore"],
    ["a/l", "..x/y"],
    ["l", "not/there"],
  ])("but not the link %s to %s, and not a link that goes", (path, target) => {
    expect(judge([link(path, target)])).toEqual([]);
    expect(judge([whole("l", { kind: "link", operation: "delete", mode: null, sha256: null })])).toEqual([]);
  });
});

describe("what a flag allows", () => {
  it("a protected path, in words a person understands", () => {
    expect(judge([text(".github/workflows/ci.yml")])).toEqual([
      {
        code: "POLICY_PROTECTED",
        rule: "protected",
        path: ".github/workflows/ci.yml",
        says: ".github/workflows/ci.yml is protected: it decides what CI runs",
        flag: "--permit .github/workflows/ci.yml",
        fix: "Allow it: --permit .github/workflows/ci.yml",
      },
    ]);
    expect(judge([text(".github/workflows/ci.yml")], {}, { permit: [".github/workflows/ci.yml"] })).toEqual([]);
  });

  it("a path that needs quotes", () => {
    expect(judge([text(".husky/it's here")])[0]?.flag).toBe("--permit '.husky/it'\\''s here'");
  });

  it("a secret path", () => {
    expect(judge([text(".env")])[0]).toMatchObject({
      code: "POLICY_SECRET",
      rule: "secret_path",
      says: ".env is not to be changed: its name says that it holds a secret",
      flag: "--permit .env",
    });
    expect(judge([text(".env")], {}, { config: { permit: [".env"] } })).toEqual([]);
  });

  it("scope, which --permit does not lift", () => {
    const scope = { allow: ["src"], deny: ["src/gen"] };
    const files = [text("docs/a.md"), text("src/a.ts"), text("src/gen/b.ts")];
    const findings = judge(files, { scope }, { permit: ["**"] });
    expect(findings.map(({ code, rule, says, flag }) => [code, rule, says, flag])).toEqual([
      ["PATCH_SCOPE_DENY", "scope_allow", "docs/a.md is outside of --allow", "--allow docs/a.md"],
      ["PATCH_SCOPE_DENY", "scope_deny", "src/gen/b.ts is denied by --deny", null],
    ]);
    expect(words(judge(files, {}, { patch: { allow_roots: ["src/"] } }))).toEqual(["PATCH_SCOPE_DENY allow_roots"]);
  });

  it("numbers, with the number that is needed", () => {
    const files = [text("a", 3), text("b", 2)];
    expect(judge(files, {}, { limits: { max_files: 1, max_added_lines: 4 } })).toMatchObject([
      {
        code: "POLICY_LIMIT",
        rule: "max_files",
        says: "the change has 2 files, and 1 are allowed",
        flag: "--max-files 2",
      },
      { rule: "max_added_lines", flag: "--max-added-lines 5", fix: "Allow it: --max-added-lines 5" },
    ]);
    expect(judge(files, {}, { limits: { max_files: 2, max_added_lines: 5 } })).toEqual([]);
  });

  it("sizes of files that travel whole", () => {
    const files = [binary("a.bin", 11), binary("b.bin", 10)];
    const findings = judge(files, {}, { config: { max_binary_bytes: 10, max_carried_bytes: 20 } });
    expect(findings.map(({ rule, path, flag }) => [rule, path, flag])).toEqual([
      ["max_binary_bytes", "a.bin", "--max-binary 11"],
      ["max_carried_bytes", undefined, null],
    ]);
    expect(judge(files, {}, { config: { max_binary_bytes: 11, max_carried_bytes: 21 } })).toEqual([]);
  });

  it("an added credential, shown redacted at its line", () => {
    const secret = `npm_${"aB3dE6gH7".repeat(4)}`;
    const patch =
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n-b\n+c\n" +
      `+t = "${secret}"\n ${secret}\n@@ -10,2 +11,3 @@\n d\n+${secret}\r\n e\n`;
    const added = listAddedLines(readHunks(encodeUtf8(patch), nodeCrypto));
    expect(added.get("x")?.map(({ line }) => line)).toEqual([2, 3, 12]);
    expect(judge([text("x")], { added })).toEqual([
      {
        code: "POLICY_SECRET",
        rule: "npm-token",
        path: "x",
        line: 3,
        says: 'x:3 adds what looks like a secret: t = "[redacted:npm-token]"',
        flag: "--permit x",
        fix: "Allow it: --permit x",
      },
    ]);
    expect(judge([text("x")], { added }, { permit: ["x"] })).toEqual([]);
  });
});

describe("findings", () => {
  it("come in the order of the classes", () => {
    const files = [text(".env"), text(".git/x"), text(".npmrc"), text("out")];
    const added = new Map([["out", [{ line: 1, text: ["-----BEGIN", "PRIVATE KEY-----"].join(" ") }]]]);
    const scope = { allow: [".env", ".git", ".npmrc"], deny: [] };
    expect(words(judge(files, { added, scope }, { limits: { max_files: 1 } }))).toEqual([
      "POLICY_NEVER forbidden_name",
      "PATCH_SCOPE_DENY scope_allow",
      "POLICY_PROTECTED protected",
      "POLICY_SECRET secret_path",
      "POLICY_LIMIT max_files",
      "POLICY_SECRET private-key",
    ]);
  });

  it("count lock files apart", () => {
    const files = [text("package-lock.json", 9000), text("sub/Cargo.lock", 5), text("a", 2), binary("b", 3)];
    expect(measureChange(files)).toEqual({
      files: 2,
      added_lines: 2,
      lock_files: 2,
      lock_lines: 9005,
      carried_bytes: 3,
    });
    expect(judge(files, {}, { limits: { max_files: 2 } })).toEqual([]);
  });
});
