import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

// Guards: every claim in SECURITY.md names tests that attack it, and those tests exist.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CLAIMS = "## What we claim, and the test that attacks it";

interface Row {
  readonly claim: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
  /** What is left of the last cell when the tests are taken out. */
  readonly rest: string;
}

/** The rows of all tables of the section. */
function readRows(page: string): Row[] {
  const section = page.slice(page.indexOf(CLAIMS) + CLAIMS.length).split(/^## /m)[0]!;
  const lines = section.split("\n").filter((line) => line.startsWith("|") && !/^\|(?: claim |-)/.test(line));
  return lines.map((line) => {
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    const last = cells.at(-1)!.trim();
    const named = /`([^`]+\.test\.ts)` "([^"]+)"/g;
    const tests = [...last.matchAll(named)].map(([, file, title]) => ({ file: file!, title: title! }));
    return { claim: cells[0]!.trim(), tests, rest: cells.length === 3 ? last.replace(named, "") : line };
  });
}

/** Titles of the tests and groups of a file, and the names that a table of cases gives them. */
function readTitles(file: string): Set<string> {
  const titles = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.arguments[0] !== undefined && isTest(node.expression)) {
      // The place of a case at the end of a title may be left out.
      const title = ts.isStringLiteralLike(node.arguments[0]) ? node.arguments[0].text : "";
      for (const one of [title, title.replace(/: %[a-z]$/, "")]) if (one !== "") titles.add(one);
    }
    if (ts.isPropertyAssignment(node) && node.name.getText() === "name" && ts.isStringLiteralLike(node.initializer)) {
      titles.add(node.initializer.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.ES2023, true));
  return titles;
}

/** `it`, `it.each(...)`, `describe.each(...)` and the like; one that never runs is none. */
function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ["it", "test", "describe"].includes(callee.text);
  if (ts.isPropertyAccessExpression(callee)) {
    return !["skip", "todo", "fails"].includes(callee.name.text) && isTest(callee.expression);
  }
  return ts.isCallExpression(callee) && isTest(callee.expression);
}

function findUnproved(page: string): string[] {
  const titles = new Map<string, Set<string>>();
  return readRows(page).flatMap(({ claim, tests, rest }) => {
    if (tests.length === 0) return [`no test attacks: ${claim}`];
    if (!/^[;\s]*$/.test(rest)) return [`not understood: ${rest.trim()}`];
    return tests.flatMap(({ file, title }) => {
      if (!existsSync(join(ROOT, file))) return [`there is no ${file}`];
      if (!titles.has(file)) titles.set(file, readTitles(file));
      return titles.get(file)!.has(title) ? [] : [`${file} has no test "${title}"`];
    });
  });
}

describe("the claims of SECURITY.md", () => {
  const page = readFileSync(join(ROOT, "SECURITY.md"), "utf8");

  it("each name a test that exists", () => {
    expect(readRows(page).length).toBeGreaterThan(25);
    expect(findUnproved(page)).toEqual([]);
  });

  it.for([
    ["| no fish flies | | |", "no test attacks: no fish flies"],
    ["| no fish flies | | a promise |", "no test attacks: no fish flies"],
    ['| a | | `test/prohibition/gone.test.ts` "x" |', "there is no test/prohibition/gone.test.ts"],
    ['| a | | `test/prohibition/lock.test.ts` "x" |', 'test/prohibition/lock.test.ts has no test "x"'],
    ['| a | | `test/prohibition/lock.test.ts` "refuses a download address", mostly |', "not understood: , mostly"],
    ['| a | `test/prohibition/lock.test.ts` "refuses a download address" |', "not understood: | a |"],
  ] as const)("the check sees %s", ([row, problem]) => {
    const [found] = findUnproved(
      `${CLAIMS}\n\n| claim | not covered | attacked by |\n|---|---|---|\n${row}\n\n## Next\n| b |\n`,
    );
    expect(found?.startsWith(problem), found).toBe(true);
  });

  it("the check takes groups, tests and cases by name", () => {
    const right = ["the lock check", "refuses a download address"].map(
      (title) => `| a | | \`test/prohibition/lock.test.ts\` "${title}" |`,
    );
    right.push('| a | | `test/fault/catalytic-escapes.test.ts` "never ends" |');
    expect(findUnproved(`${CLAIMS}\n\n${right.join("\n")}\n`)).toEqual([]);
  });
});
