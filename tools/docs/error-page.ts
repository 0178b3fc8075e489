import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";
import { CODES, type CodeFacts, FINDINGS } from "../../src/core/errors/index.ts";
import { ROOT } from "../stages.ts";

const PARTS = "src/core/errors/codes";
/** The order of the house: the hall, then the rooms; anything new comes after, by name. */
const ORDER = ["hall", "store", "ledger", "context", "jobs", "catalytic", "workflow", "world"];

/** The page of all error codes and findings, as Markdown. */
export async function formatErrorPage(): Promise<string> {
  const parts = await readParts();
  assertComplete(parts);
  const thrown = [...parts].map(([room, codes]) => [`### ${titleOf(room)}`, "", codeTable(codes)].join("\n"));
  const findings = Object.entries(FINDINGS).map(([room, list]) =>
    [`### ${titleOf(room)} findings`, "", findingTable(list)].join("\n"),
  );
  return `${[HEAD, ...thrown, FINDINGS_HEAD, ...findings].join("\n\n")}\n`;
}

const HEAD = `# Errors

Generated from \`${PARTS}\` by \`npm run docs\`; change the table there, not this page.

Every error has a stable code. On the command line it reads \`error[CODE] what was wrong\`, then where, then what to do
next; with \`--json\`, over HTTP and over MCP it is \`{"error":{"code","message","where","fix","details"}}\`. What to do next
is said in the words of the surface: commands and flags on the command line and in the library, tools over MCP, what to choose,
set or send over HTTP. Where the table has one text, it serves all of them. A case may say it more exactly than the table. The
exit codes are the same for all verbs:

| exit | means |
|---|---|
| 0 | done |
| 1 | the contract says no: verification failed, a gate rejected, a budget would break |
| 2 | bad input: usage, a missing or malformed file, a schema |
| 3 | an internal error |
| 4 | busy, blocked or unavailable for now |
| 130, 143 | interrupted, after a clean restore |

## Thrown codes`;

const FINDINGS_HEAD = `## Findings

A finding is a member of a list in a report. It has no exit of its own: the error or the verb around it decides.`;

async function readParts(): Promise<Map<string, Record<string, CodeFacts>>> {
  const files = readdirSync(join(ROOT, PARTS)).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  const rooms = sortedByCodePoint(files.map((file) => file.slice(0, -".ts".length)));
  const rank = (room: string): number => (ORDER.includes(room) ? ORDER.indexOf(room) : ORDER.length);
  rooms.sort((a, b) => rank(a) - rank(b));
  const parts = new Map<string, Record<string, CodeFacts>>();
  for (const room of rooms) {
    const url = pathToFileURL(join(ROOT, PARTS, `${room}.ts`)).href;
    const module = (await import(url)) as Record<string, Record<string, CodeFacts>>;
    const tables = Object.entries(module).filter(([name]) => name.endsWith("_CODES"));
    parts.set(room, Object.assign({}, ...tables.map(([, table]) => table)) as Record<string, CodeFacts>);
  }
  return parts;
}

/** A part that was never joined to the one table would document codes that nobody can throw. */
function assertComplete(parts: ReadonlyMap<string, Record<string, CodeFacts>>): void {
  const documented = [...parts.values()].flatMap((codes) => Object.keys(codes));
  const lost = documented.filter((code) => !(code in CODES));
  const missing = Object.keys(CODES).filter((code) => !documented.includes(code));
  const twice = documented.filter((code, i) => documented.indexOf(code) !== i);
  const problems = { "not joined in codes.ts": lost, "in no part": missing, "in two parts": twice };
  for (const [what, codes] of Object.entries(problems)) {
    if (codes.length > 0) throw new Error(`codes ${what}: ${codes.join(", ")}`);
  }
}

function codeTable(codes: Record<string, CodeFacts>): string {
  const rows = Object.entries(codes).map(
    ([code, { exit, http, says, fix }]) => `| \`${code}\` | ${exit} | ${http} | ${cell(says)} | ${formatFix(fix)} |`,
  );
  return ["| code | exit | http | says | what to do |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** What to do, as every surface says it; where they differ, each with its name. */
function formatFix(fix: CodeFacts["fix"]): string {
  if (typeof fix === "string") return cell(fix);
  const { cli, mcp, http } = fix;
  const others = mcp === http ? [`MCP, HTTP: ${cell(http)}`] : [`MCP: ${cell(mcp)}`, `HTTP: ${cell(http)}`];
  return [cell(cli), ...others].join("<br>");
}

function findingTable(list: Readonly<Record<string, string>>): string {
  const rows = Object.entries(list).map(([code, says]) => `| \`${code}\` | ${cell(says)} |`);
  return ["| finding | says |", "|---|---|", ...rows].join("\n");
}

/** Text that stays one cell and is not read as HTML. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
}

function titleOf(room: string): string {
  return room.charAt(0).toUpperCase() + room.slice(1);
}
