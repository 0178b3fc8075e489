import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, openApp } from "../../src/app/call.ts";
import { NOUNS } from "../../src/surfaces/cli/nouns.ts";
import { type GeneratedFlag, toFlags } from "../../src/surfaces/cli/program.ts";
import type { Verb } from "../../src/surfaces/cli/verb.ts";
import { runServe } from "../../src/surfaces/http/server/serve.ts";
import { runStudio } from "../../src/surfaces/http/server/studio.ts";
import { runMcp } from "../../src/surfaces/mcp/mcp.ts";

const HEAD = `# Command line

Generated from the table of verbs by \`npm run docs\`; \`verbatim NOUN VERB --help\` says the same in a terminal.

\`verbatim NOUN VERB [arguments] [flags]\`. These flags work with every verb:

| flag | does |
|---|---|
| \`-C DIR\` | works in another folder |
| \`--json\` | prints one JSON value and nothing else on standard output |
| \`--quiet\` | prints no notes on standard error |
| \`--full\` | prints ids in full |
| \`--no-progress\` | draws no progress bars |
| \`--debug\` | prints stack traces with errors |

Exit codes: 0 done, 1 the contract says no, 2 bad input, 3 a bug in Verbatim, 4 busy or unavailable for now, 130 and 143
interrupted. [All error codes](errors.md), [what to do about them](troubleshooting.md).`;

/** The page of every verb with its flags and examples, as Markdown. */
export async function formatCliPage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-docs-"));
  try {
    await using app = openApp({ surface: "cli", start: folder, env: { HOME: folder }, platform: process.platform });
    const parts: string[] = [];
    for (const { noun, summary, load } of NOUNS) {
      const { verbs } = (await load()).noun;
      const texts: string[] = [];
      for (const verb of verbs) texts.push(await formatVerb(app, noun, verb, verbs.length === 1));
      parts.push([`## ${noun}`, ...(verbs.length === 1 ? [] : [`${capital(summary)}.`]), ...texts].join("\n\n"));
    }
    parts.push(await formatServer("mcp", (world) => runMcp(world as never)));
    parts.push(await formatServer("studio", (world) => runStudio(world as never)));
    parts.push(await formatServer("serve", (world) => runServe(world as never)));
    return `${[HEAD, formatContents(), ...parts].join("\n\n")}\n`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function formatContents(): string {
  const rows = NOUNS.map(({ noun, summary }) => `| [${noun}](#${noun}) | ${cell(summary)} |`);
  const servers = [
    "| [mcp](#mcp) | the Model Context Protocol |",
    "| [studio](#studio) | the Studio and the HTTP API |",
    "| [serve](#serve) | the HTTP API of a team |",
  ];
  return ["| noun | does |", "|---|---|", ...rows, ...servers].join("\n");
}

async function formatVerb(app: App, noun: string, verb: Verb, alone: boolean): Promise<string> {
  const operation = await app.describe(verb.operation);
  const args = (verb.args ?? []).map(({ label, optional, variadic }) => {
    const text = `${label}${variadic === true ? "..." : ""}`;
    return optional === true ? `[${text}]` : text;
  });
  const words = ["verbatim", noun, ...verb.path];
  const flags = toFlags(operation, verb);
  const heading = alone ? [] : [`### ${words.join(" ")}`];
  const usage = [...words, ...(flags.length > 0 ? ["[flags]"] : []), ...args].join(" ");
  const table = flags.length === 0 ? [] : [["| flag | does |", "|---|---|", ...flags.map(formatFlag)].join("\n")];
  return [
    ...heading,
    verb.summary ?? operation.summary,
    block([usage]),
    ...table,
    "Examples:",
    block(verb.examples),
  ].join("\n\n");
}

function formatFlag(flag: GeneratedFlag): string {
  const short = flag.short === null ? "" : `-${flag.short}, `;
  const value = flag.kind === "boolean" ? "" : flag.bare ? ` [${flag.value}]` : ` ${flag.value}`;
  const notes = [
    ...(flag.required ? ["Required."] : []),
    ...(flag.choices === null ? [] : [`One of ${flag.choices.map((choice) => `\`${choice}\``).join(", ")}.`]),
    ...(isWorthSaying(flag.fallback) ? [`Default: \`${showDefault(flag.fallback)}\`.`] : []),
  ];
  return `| \`${short}--${flag.name}${value}\` | ${cell([flag.help, ...notes].join(" "))} |`;
}

/** That a list is empty and a switch is off goes without saying. */
function isWorthSaying(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

function showDefault(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A server says everything about itself in its help. */
async function formatServer(name: string, run: (world: object) => Promise<number>): Promise<string> {
  const said: string[] = [];
  const out = { write: (text: string) => said.push(text) };
  const exit = await run({ argv: ["--help"], stdout: out, stderr: out, env: {}, platform: process.platform });
  if (exit !== 0 || said.length === 0) throw new Error(`verbatim ${name} --help ended with ${exit}`);
  return [`## ${name}`, block(said.join("").trimEnd().split("\n"))].join("\n\n");
}

function block(lines: readonly string[]): string {
  return ["```text", ...lines, "```"].join("\n");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Text that stays one cell and is not read as HTML. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
}
