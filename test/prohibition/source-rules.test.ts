import { describe, expect, it } from "vitest";
import { checkSource, sourceFiles } from "../../tools/check-source.ts";

// Guards: the rules of STYLE.md that no linter has. The planted code stands in strings, so the check itself,
// which reads this file too, does not see it as code.

describe("the source check", () => {
  it.each([
    ["an empty catch", "try {\n  f();\n} catch {\n}", "a.ts:3: empty-catch"],
    ["a catch that holds only a comment", "try {\n  f();\n} catch {\n  // fine\n}", "a.ts:3: empty-catch"],
    ["export *", 'export * from "./b.ts";', "a.ts:1: export-star"],
    ["export type *", 'export type * from "./b.ts";', "a.ts:1: export-star"],
    ["an enum", "enum Colour {\n  Red,\n}", "a.ts:1: enum"],
    ["a test that is skipped without a word", 'it.skipIf(true)("a", f);', "a.ts:1: skip-without-reason"],
    ["a group that is run without a word", 'describe.runIf(false).each([])("a", f);', "a.ts:1: skip-without-reason"],
    [
      "a suppression without a reason",
      `// oxlint-${"disable"}-next-line no-empty\nf();`,
      "a.ts:1: suppression-without-reason",
    ],
  ])("refuses %s and names the line", (_name, code, finding) => {
    expect(checkSource("a.ts", `${code}\n`)).toEqual([expect.stringContaining(finding)]);
  });

  it.each(["src/core/utils/a.ts", "src/core/helpers.ts", "src/app/misc/b.ts"])("refuses the name %s", (path) => {
    expect(checkSource(path, "")).toEqual([expect.stringContaining("catch-all-name")]);
  });

  it("accepts a handled error, a namespace export and a suppression with its reason", () => {
    const code = [
      "try {\n  f();\n} catch (error) {\n  report(error);\n}",
      'export * as canonical from "./canonical.ts";',
      `// oxlint-${"disable"}-next-line no-empty -- the parser proved it`,
    ].join("\n");
    expect(checkSource("src/core/lines.ts", code)).toEqual([]);
  });

  it.each([
    'message: "the body is no object"',
    "message: `ANA is nobody here`",
    'LEDGER_BODY_MISMATCH: "The body does not have its hash."',
    '"the bytes no longer have their hash"',
    "`max_files is there a second time; the first value stands`",
    '"A key of the plan is there twice."',
    'z.string().describe("Id of the operator; GEORGE otherwise.")',
    "/** Finds a run by its id; RUN_NOT_FOUND otherwise. */",
    "`~/.claude (really writable, outside every promise)`",
    '"Nothing was written; your text is still yours."',
    "/** A lock of somebody else is left alone. */",
    '"x.png is binary and cannot travel in a patch"',
    '"scope, policy and git accept the patch"',
  ])("refuses a phrase that is not plain English in the product, and only there: %s", (code) => {
    expect(checkSource("src/core/a.ts", code)).toEqual(
      expect.arrayContaining([expect.stringContaining("src/core/a.ts:1: phrase: ")]),
    );
    expect(checkSource("src/core/a.test.ts", code)).toEqual([]);
    expect(checkSource("tools/a.ts", code)).toEqual([]);
  });

  it.each([
    '"guard audit: BLOCKS NOTHING"',
    '"verify passed in an isolated view"',
    '"the real tree is untouched, root bfd5"',
    '"hashed what could have changed"',
    "`${count} git-ignored paths changed and left out`",
    '"1 commit of its own"',
    '"discarded before it was applied"',
  ])("refuses what reports of agents said before they were for people: %s", (code) => {
    expect(checkSource("src/app/agent/a.ts", code)).toEqual([
      expect.stringContaining("src/app/agent/a.ts:1: phrase: "),
    ]);
    expect(checkSource("src/rooms/catalytic/run/a.ts", code)).toEqual([]);
  });

  it("accepts what the phrases are replaced by", () => {
    const code = [
      '"the body is not a JSON object; there is no object here and it is no longer a file"',
      '"there is no person ANA in this world"',
      '"The body does not match its recorded hash."',
      "`max_files is set twice; the first value is used`",
      '"the agent made 1 commit; its changes are in the diff, the commit itself is gone"',
      '"Id of the operator (default: GEORGE)."',
      "// Otherwise it is dropped; what waits otherwise is kept.",
      "/** Nobody else may see it. */",
    ].join("\n");
    expect(checkSource("src/core/a.ts", code)).toEqual([]);
  });

  it.each([
    'throw new VerbatimError("USAGE", { message: "--retry needs a run" });',
    "const message = `start again with: verbatim agent verify ${id}`;",
    'const fix = { cli: "List them: verbatim world list", others: "List them: verbatim world list" };',
  ])("refuses words for a terminal that everybody would read: %s", (code) => {
    const refused = [expect.stringContaining("src/rooms/a.ts:1: terminal-words: ")];
    expect(checkSource("src/rooms/a.ts", code)).toEqual(refused);
    expect(checkSource("src/surfaces/cli/a.ts", code)).toEqual([]);
    expect(checkSource("src/rooms/a.test.ts", code)).toEqual([]);
  });

  it("accepts words for a terminal where only a terminal has them", () => {
    const words = '{ cli: "--retry needs a run", others: "retry needs a run" }';
    expect(checkSource("src/rooms/a.ts", `throw new VerbatimError("USAGE", { message: ${words} });`)).toEqual([]);
    expect(checkSource("src/rooms/a.ts", 'const fix = "List them: verbatim world list";')).toEqual([]);
  });

  it.each([
    ["markup-sink", "const a = <p dangerouslySetInnerHTML={{ __html: text }} />;"],
    ["markup-sink", 'const a = { ["dangerouslySetInnerHTML"]: 1, dangerouslySetInnerHTML: { __html: text } };'],
    ["markup-sink", "node.innerHTML = text;"],
    ["markup-sink", 'node["outerHTML"] = text;'],
    ["markup-sink", 'node.insertAdjacentHTML("beforeend", text);'],
    ["markup-sink", "const a = <iframe srcDoc={text} />;"],
    ["markup-sink", "document.write(text);"],
    ["code-from-text", "eval(text);"],
    ["code-from-text", "const a = new Function(text);"],
    ["code-from-text", 'setTimeout("go()", 5);'],
    ["code-from-text", 'window.setInterval("a" + text, 5);'],
    ["address-from-data", "const a = <a href={run.url}>x</a>;"],
    ["address-from-data", "const a = <img src={run.picture} />;"],
    ["address-from-data", "location.href = run.url;"],
    ["address-from-data", 'node.setAttribute("href", run.url);'],
    ["style-text", 'const a = <p style="color: red" />;'],
    ["web-border", 'import { en } from "../../../src/core/errors/index.ts";'],
    ["web-border", 'const a = import("../../../src/verify.ts");'],
    ["web-border", 'type A = import("../../../src/app/operations.ts").Input;'],
    ["web-border", 'import { Operations } from "verbatim-agent/api";'],
    ["web-border", 'import { verifyBundleBytes } from "verbatim-agent/verify";'],
    ["web-border", 'import { z } from "zod";'],
    ["web-border", 'import { readFileSync } from "node:fs";'],
  ])("refuses what the Studio must never do (%s): %s", (rule, code) => {
    expect(checkSource("web/src/app/A.tsx", code)).toEqual([expect.stringContaining(`web/src/app/A.tsx:1: ${rule}: `)]);
    expect(checkSource("tools/a.tsx", code)).toEqual([]);
  });

  it("accepts how the Studio is written, and keeps src/ from importing it", () => {
    const code = [
      'import type { Operations } from "verbatim-agent/api";',
      'import type { Verified } from "verbatim-agent/verify";',
      'import hljs from "highlight.js/lib/core";',
      'import { useQuery } from "@tanstack/react-query";',
      'import { words } from "../words/words.ts";',
      'const a = <a href="#content" style={{ height: 1 }}>{words.skip}</a>;',
      "setTimeout(() => go(), 5);",
      "const link = new URL(path, location.href).href;",
    ].join("\n");
    expect(checkSource("web/src/app/A.tsx", code)).toEqual([]);
    // A worker has no document: what it writes to is a terminal, and markup stays refused there.
    expect(checkSource("web/src/workers/a.ts", "terminal.write(bytes);")).toEqual([]);
    expect(checkSource("web/src/workers/a.ts", "node.innerHTML = text;")).toEqual([
      expect.stringContaining("markup-sink"),
    ]);
    const planted = 'import { en } from "../../../web/src/words/en.ts";';
    expect(checkSource("src/surfaces/http/a.ts", planted)).toEqual([expect.stringContaining("web-border")]);
    expect(checkSource("test/studio/a.ts", planted)).toEqual([]);
  });

  it("looks at sources, tests, tools and the Studio", () => {
    expect(sourceFiles()).toEqual(
      expect.arrayContaining([
        "src/core/errors/codes.ts",
        "test/prohibition/source-rules.test.ts",
        "tools/build.ts",
        "web/src/app/Shell.tsx",
      ]),
    );
  });
});
