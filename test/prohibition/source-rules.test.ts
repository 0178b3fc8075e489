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

  it("looks at sources, tests and tools", () => {
    expect(sourceFiles()).toEqual(
      expect.arrayContaining(["src/core/errors/codes.ts", "test/prohibition/source-rules.test.ts", "tools/build.ts"]),
    );
  });
});
