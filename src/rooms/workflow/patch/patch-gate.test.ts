import { describe, expect, it } from "vitest";
import { judgePatch } from "./patch-gate.ts";
import { DEFAULT_POLICY, parsePolicy, readPolicy } from "./patch-policy.ts";

const encoder = new TextEncoder();
const SCOPE = { allow: ["src"], deny: ["src/private"] };

function judge(patch: string | Uint8Array, more: Partial<Parameters<typeof judgePatch>[0]> = {}) {
  const bytes = typeof patch === "string" ? encoder.encode(patch) : patch;
  return judgePatch({ patch: bytes, policy: DEFAULT_POLICY, scope: SCOPE, planLimits: null, ...more }).result;
}

const body = (path: string) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;
const section = (path: string) => `diff --git a/${path} b/${path}\n${body(path)}`;
const rule = (name: string, line: number) => ({ verdict: "reject", rule: name, line });

describe("names that git would act on", () => {
  it.each([
    [
      "a +++ line that names another file",
      section("src/x").replace("+++ b/src/x", "+++ b/secrets/key"),
      rule("name_mismatch", 3),
    ],
    [
      "a --- line that names another file",
      section("src/x").replace("--- a/src/x", "--- a/secrets/key"),
      rule("name_mismatch", 2),
    ],
    [
      "a section without a header after a good one",
      section("src/x") + body("secrets/key"),
      rule("headerless_section", 7),
    ],
    ["a header with two names", section("src/x").replace("b/src/x\n---", "b/src/y\n---"), rule("header_mismatch", 1)],
    ["rename old", `diff --git a/src/x b/src/y\nrename old src/x\nrename new src/y\n`, rule("unknown_header_line", 2)],
    [
      "a rename whose header says something else",
      "diff --git a/src/x b/src/y\nrename from secrets/key\nrename to src/y\n",
      rule("header_mismatch", 1),
    ],
    ["half a rename", "diff --git a/src/x b/src/y\nrename from src/x\n", rule("missing_pair", 2)],
    [
      "rename and new file at once",
      "diff --git a/src/x b/src/y\nnew file mode 100644\nrename from src/x\nrename to src/y\n",
      rule("conflicting_operations", 1),
    ],
    [
      "a name with a time stamp",
      section("src/x").replace("a/src/x\n+++", "a/src/x\t2020-01-01\n+++"),
      rule("timestamp", 2),
    ],
    ["a name in broken quotes", section("src/x").replace("--- a/src/x", '--- "a/src/x'), rule("bad_quote", 2)],
    [
      "an octal escape beyond a byte",
      section("src/x").replace("--- a/src/x", '--- "a/src/\\400"'),
      rule("bad_quote", 2),
    ],
    ["/dev/null without a mode", section("src/x").replace("--- a/src/x", "--- /dev/null"), rule("dev_null", 2)],
    [
      "a new file that is not empty before",
      "diff --git a/src/n b/src/n\nnew file mode 100644\n--- /dev/null\n+++ b/src/n\n@@ -1 +1 @@\n-a\n+b\n",
      rule("hunk_count", 1),
    ],
    [
      "the same path in two sections",
      section("src/x") + section("src/X"),
      { ...rule("duplicate_path", 7), path: "src/X" },
    ],
    ["the same path in another composition", section("src/\u00e9") + section("src/e\u0301"), rule("duplicate_path", 7)],
    ["a prefix that is not exactly a/", section("src/x").replace("--- a/", "--- c/"), rule("prefix", 2)],
    [
      "a mode that does not change",
      "diff --git a/src/x b/src/x\nold mode 100644\nnew mode 100644\n",
      rule("no_change", 1),
    ],
    [
      "the same header line twice",
      `diff --git a/src/x b/src/x\nindex 1..2\nindex 1..2\n${body("src/x")}`,
      rule("duplicate_header_line", 3),
    ],
    [
      "names that differ and are bad as well: the difference is named first",
      "diff --git a/../x b/yyyy\nold mode 100644\nnew mode 100755\n",
      rule("header_mismatch", 1),
    ],
    ["a header without prefixes", "diff --git src/xy src/xy\nold mode 100644\nnew mode 100755\n", rule("prefix", 1)],
    ["a combined diff after a good section", `${section("src/x")}diff --cc src/y\n`, rule("trailing_text", 7)],
    ["the signature of a mail", `${section("src/x")}-- \n2.39.5\n`, rule("hunk_count", 7)],
    ["a gitlink", "diff --git a/src/s b/src/s\nnew file mode 160000\n", { stage: "policy", rule: "mode", line: 2 }],
    [
      "a symbolic link",
      "diff --git a/src/s b/src/s\nnew file mode 120000\n",
      { stage: "policy", rule: "mode", line: 2 },
    ],
    [
      "the mode of a link in an index line",
      `diff --git a/src/x b/src/x\nindex 1..2 120000\n${body("src/x")}`,
      { stage: "policy", rule: "mode", line: 2 },
    ],
    ["a hunk of nothing", section("src/x").replace("@@ -1 +1 @@", "@@ -0,0 +0,0 @@"), rule("empty_hunk", 4)],
    ["Windows line ends in headers", section("src/x").replace("--- a/src/x", "--- a/src/x\r"), rule("crlf_header", 2)],
    ["a quoted /dev/null", section("src/x").replace("--- a/src/x", '--- "/dev/null"'), rule("prefix", 2)],
    ["a mode that is no mode", "diff --git a/src/x b/src/x\nold mode 0644\nnew mode 100755\n", rule("mode", 2)],
  ])("refuses %s", (_, patch, expected) => {
    expect(judge(patch)).toMatchObject(expected);
  });

  it("reads names of any length", () => {
    const path = `src/${"x".repeat(300_000)}`;
    const patch = `diff --git a/src/a b/${path}\nrename from src/a\nrename to ${path}\n`;
    expect(judge(patch)).toMatchObject({ verdict: "accept", operations: ["rename"] });
  });

  it("takes exactly one prefix off, so a folder named b stays", () => {
    expect(judge(section("b/src/x"), { scope: null })).toMatchObject({ changed_paths: ["b/src/x"] });
  });

  it("reads a name with a space, with or without the TAB that git writes", () => {
    const patch = section("src/a b/c").replace("--- a/src/a b/c", "--- a/src/a b/c\t");
    expect(judge(patch)).toMatchObject({ verdict: "accept", changed_paths: ["src/a b/c"] });
  });

  it("reads a quoted name with a space, with or without the TAB that git writes", () => {
    const name = '"a/src/\\303\\251 x"';
    const plain = section("src/\u00e9 x")
      .replaceAll("a/src/\u00e9 x", name)
      .replaceAll("b/src/\u00e9 x", name.replace("a/", "b/"));
    const tabs = plain.replace(/^((?:---|\+\+\+) .*)$/gm, "$1\t");
    for (const patch of [plain, tabs]) {
      expect(judge(patch)).toMatchObject({ verdict: "accept", changed_paths: ["src/\u00e9 x"] });
    }
    expect(judge(tabs.replace("\t\n", "\t\t\n"))).toMatchObject(rule("bad_quote", 2));
    expect(judge(tabs.replace("\t\n", "\t2026-01-01\n"))).toMatchObject(rule("bad_quote", 2));
  });

  it("takes a hunk that removes and adds the same text for what it is: a hunk", () => {
    const patch = section("src/x").replace("+b", "+a");
    expect(judge(patch)).toMatchObject({ verdict: "accept", changed_paths: ["src/x"], added_lines: 1 });
  });

  it("splits a quoted and an unquoted name", () => {
    const patch = 'diff --git a/src/x "b/src/\\303\\251"\nrename from src/x\nrename to "src/\\303\\251"\n';
    expect(judge(patch)).toMatchObject({
      verdict: "accept",
      changed_paths: ["src/x", "src/é"],
      operations: ["rename"],
    });
  });
});

describe("path rules", () => {
  it.each([
    ["src/../x", "dot_component"],
    ["src//x", "empty_component"],
    ["/etc/x", "absolute"],
    ["C:/x", "drive_letter"],
    ["src\\x", "backslash"],
    ["src/.git/config", "dot_git"],
    ["src/.GIT./x", "dot_git"],
    ["src/.g\u200cit/x", "dot_git"],
    ["src/git~1/x", "dot_git"],
    ["src/.git::$INDEX_ALLOCATION/x", "dot_git"],
    ["src/\u0001x", "control_char"],
  ])("refuse %s as %s", (path, name) => {
    expect(judge(section(path), { scope: null })).toMatchObject({
      stage: "path",
      code: "PATCH_PATH_INVALID",
      rule: name,
      path,
    });
  });

  it("refuse a name that is not UTF-8", () => {
    const bytes = Buffer.from(section("src/x").replaceAll("src/x", "src/\u00ff"), "latin1");
    expect(judge(bytes)).toEqual({
      verdict: "reject",
      stage: "path",
      code: "PATCH_PATH_INVALID",
      rule: "not_utf8",
      line: 2,
    });
  });

  it("refuse device names on Windows only", () => {
    expect(judge(section("src/NUL.txt"), { platform: "windows" })).toMatchObject({ rule: "reserved_name" });
    expect(judge(section("src/NUL.txt"))).toMatchObject({ verdict: "accept" });
  });
});

describe("hunks", () => {
  it("count a removed SQL comment as a line, not as a header", () => {
    const patch = "diff --git a/src/q b/src/q\n--- a/src/q\n+++ b/src/q\n@@ -1,2 +1,2 @@\n--- x\n+-- y\n keep\n";
    expect(judge(patch)).toMatchObject({ verdict: "accept", added_lines: 1, deleted_lines: 1 });
  });

  it("must have all the lines git would otherwise drop in silence", () => {
    const patch = section("src/x").replace("+b\n", "+b\n+c\n");
    expect(judge(patch)).toMatchObject(rule("hunk_count", 7));
  });

  it.each([
    [
      "a marker in the wrong place",
      section("src/x").replace("-a", "\\ No newline at end of file\n-a"),
      rule("hunk_line", 5),
    ],
    ["a line that belongs nowhere", section("src/x").replace("-a", "x\n-a"), rule("hunk_line", 5)],
    ["context only", section("src/x").replace("-a\n+b", " a"), rule("empty_hunk", 4)],
    ["too large a number", section("src/x").replace("-1 ", "-1234567890 "), rule("bad_hunk_header", 4)],
    ["binary data", section("src/x").replace("+b", "+\0"), { stage: "policy", rule: "binary_payload", line: 6 }],
  ])("refuse %s", (_, patch, expected) => {
    expect(judge(patch)).toMatchObject(expected);
  });
});

describe("policy and scope", () => {
  it("checks both sides of a rename and the source of a copy", () => {
    const rename = "diff --git a/secrets/k b/src/k\nrename from secrets/k\nrename to src/k\n";
    expect(judge(rename)).toMatchObject({ stage: "scope", rule: "scope_allow", path: "secrets/k" });
    expect(judge(rename.replaceAll("rename", "copy"))).toMatchObject({ stage: "scope", path: "secrets/k" });
    expect(judge("diff --git a/src/a b/src/k\ncopy from src/a\ncopy to src/k\n")).toMatchObject({
      changed_paths: ["src/k"],
      read_paths: ["src/a"],
    });
  });

  it("denies without case and composition, allows exactly", () => {
    expect(judge(section("src/PRIVATE/x"))).toMatchObject({ rule: "scope_deny" });
    expect(judge(section("SRC/x"))).toMatchObject({ rule: "scope_allow" });
    expect(judge(section("Node_Modules/x"), { scope: null })).toMatchObject({ rule: "deny_prefixes" });
    expect(judge(section("src/yarn.LOCK"))).toMatchObject({ rule: "deny_suffixes" });
  });

  it.each([
    "src/verbatim.config.json",
    "src/deep/Verbatim.Config.JSON",
    "src/.verbatim/state/repo.json",
    "src/.Verbatim./x",
    "src/VERBAT~1.JSO",
  ])("denies our own names at any depth, where a folder would become a workspace: %s", (path) => {
    expect(judge(section(path))).toMatchObject({ code: "PATCH_POLICY_DENY", rule: "deny_prefixes", path });
    // Who takes our names out of the policy allows them everywhere; one of them denies both.
    expect(judge(section(path), { policy: { ...DEFAULT_POLICY, deny_prefixes: [] } })).not.toHaveProperty("rule");
  });

  it("says of one path that it is not allowed and that it is denied", () => {
    const scope = { allow: ["docs"], deny: ["src"] };
    expect(judge(section("src/x"), { scope })).toMatchObject({
      code: "PATCH_SCOPE_DENY",
      rule: "scope_allow",
      findings: [
        { code: "PATCH_SCOPE_DENY", rule: "scope_allow", path: "src/x" },
        { code: "PATCH_SCOPE_DENY", rule: "scope_deny", path: "src/x" },
      ],
    });
  });

  it("lists the numbers first, then every rule of every path", () => {
    const policy = { ...DEFAULT_POLICY, max_files: 1, allow_roots: ["src"] };
    const patch = section("docs/a.png") + section("src/private/x");
    expect(judge(patch, { policy, planLimits: { max_files: 9, max_total_bytes: 10 } })).toMatchObject({
      findings: [
        { rule: "max_total_bytes" },
        { rule: "max_files" },
        { rule: "allow_roots", path: "docs/a.png" },
        { rule: "deny_suffixes", path: "docs/a.png" },
        { rule: "scope_allow", path: "docs/a.png" },
        { rule: "scope_deny", path: "src/private/x" },
      ],
    });
  });

  it("allows nothing with an empty list, and never falls back to the defaults", () => {
    expect(judge(section("src/x"), { policy: { ...DEFAULT_POLICY, allow_roots: [] } })).toMatchObject({
      rule: "allow_roots",
    });
    for (const policy of [[], { max_files: -1 }, { allow_roots: "src" }, { deny_prefixes: [""] }, { maxFiles: 3 }]) {
      expect(() => readPolicy(policy as never)).toThrowError(expect.objectContaining({ code: "PATCH_POLICY_INVALID" }));
    }
  });

  it.each(["", "{", "null", "[]", '{"max_files":1,"max_files":2}'])("is never the defaults for the file %j", (text) => {
    expect(() => parsePolicy(encoder.encode(text), DEFAULT_POLICY, "policy.json")).toThrowError(
      expect.objectContaining({ code: "PATCH_POLICY_INVALID", where: expect.stringMatching(/^policy\.json/) }),
    );
  });
});
