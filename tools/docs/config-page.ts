import { CONFIG, withDefaults } from "../../src/core/contracts/config/index.ts";
import { exportSchema, type JsonSchema } from "../../src/core/contracts/json-schema.ts";
import { SETTING_WORDS } from "./setting-words.ts";

/** One setting: where it stands, what it takes, what it is when nobody sets it. */
interface Setting {
  readonly path: string;
  readonly takes: string;
  readonly standard: string;
}

const ORDER = ["agent", "context", "catalytic", "workflow"];

const ABOUT: Readonly<Record<string, string>> = {
  agent: "What `verbatim agent` does with the change of an agent ([guide](guides/agent.md)).",
  context: "What is indexed and how much of it an agent may read in one call ([room](rooms/context.md)).",
  catalytic:
    "How commands are confined and what is kept of their runs ([room](rooms/catalytic.md)). CMP-01 is the contract this room\nkeeps, the Catalytic Mutation Protocol.",
  workflow:
    "Runs in which roles (a chair who plans, a librarian who quotes files, a patch maker) hand each other artifacts until a patch is\nverified ([room](rooms/workflow.md)).",
};

const HEAD = `# Configuration

Generated from the schema by \`npm run docs\`; the sentences are in \`tools/docs/setting-words.ts\`.

Verbatim works without a configuration. What you set is in \`verbatim.config.json\` at the root of the repository; every key is
optional, and a key that does not exist is refused with its place (\`CONFIG_INVALID\`). \`verbatim init\` proposes a file for your
repository and writes nothing before you agree. Flags of a command come before the configuration.

\`\`\`json
{
  "agent": {
    "verify": { "commands": ["npm test"] },
    "policy": { "protect": ["migrations/**"] }
  }
}
\`\`\`

The schema is [contracts/config.schema.json](../contracts/config.schema.json); an editor that knows JSON Schema completes and
checks the file with it.`;

const VARIABLES = `## Environment variables

| variable | does |
|---|---|
| \`VERBATIM_DATABASE_URL\` | keeps the records in PostgreSQL (made by \`verbatim store migrate\`) instead of SQLite in \`.verbatim/state\` |
| \`VERBATIM_WORKSPACE\` | the workspace in that database, where the login works in several |
| \`VERBATIM_POOLER\` | \`transaction\` where a pooler such as PgBouncer stands before the database |
| \`VERBATIM_LOG_LEVEL\` | how much \`serve\` and \`worker\` write to standard error: trace, debug, info, warn, error or fatal |
| \`VERBATIM_GIT_PATHS\` | \`1\`: the git remote of a team's repository may be an absolute path |
| \`VERBATIM_STATE\` | where a worker keeps its mirrors and work trees (default: the user's state folder) |
| \`VERBATIM_RUNS_ROOT\` | where the folders of agent and workflow runs are kept |
| \`XDG_STATE_HOME\` | the same, as \`$XDG_STATE_HOME/verbatim/runs\` (default: \`~/.local/state\`) |
| \`XDG_CONFIG_HOME\` | where keys are kept, as \`$XDG_CONFIG_HOME/verbatim/keys\` (default: \`~/.config\`) |
| \`VERBATIM_WORLD\` | the world that \`verbatim world\` means when \`--world\` is not given |
| \`NO_COLOR\` | prints without colours |
| \`SDDAI_PLAN_CMD\`, \`SDDAI_PATCH_CMD\`, \`SDDAI_AGENT_CMD\` | commands of the provider \`api_agent\`, where the configuration has none |

An agent that Verbatim runs finds \`VERBATIM_RUN\` (its run), \`VERBATIM_PACK\` (the context pack, with \`--file\`), \`VERBATIM_MCP_URL\`
and \`VERBATIM_MCP_TOKEN\` (an MCP server for its run) in its environment.
`;

/** The page of all settings, as Markdown. A setting without a sentence, and a sentence without a setting, are errors. */
export function formatConfigPage(words: Readonly<Record<string, string>> = SETTING_WORDS): string {
  const { schema } = exportSchema(CONFIG.schema);
  const settings = listSettings(schema, "", withDefaults({}));
  const parts = settings.filter(({ path }) => path !== "$schema");
  assertWords(parts, words);
  const rooms = [...new Set(parts.map(({ path }) => path.split(".")[0]!))];
  const rank = (room: string): number => (ORDER.includes(room) ? ORDER.indexOf(room) : ORDER.length);
  rooms.sort((a, b) => rank(a) - rank(b));
  const tables = rooms.map((room) => {
    const rows = parts.filter(({ path }) => path.startsWith(`${room}.`)).map((setting) => formatRow(setting, words));
    const head = [`## \`${room}\``, "", ...(ABOUT[room] === undefined ? [] : [ABOUT[room], ""])];
    return [...head, "| setting | does | takes | default |", "|---|---|---|---|", ...rows].join("\n");
  });
  return [HEAD, ...tables, VARIABLES].join("\n\n");
}

function formatRow({ path, takes, standard }: Setting, words: Readonly<Record<string, string>>): string {
  return `| \`${path}\` | ${cell(words[path] ?? "")} | ${cell(takes)} | ${cell(standard)} |`;
}

function assertWords(settings: readonly Setting[], words: Readonly<Record<string, string>>): void {
  const missing = settings.map(({ path }) => path).filter((path) => !(path in words));
  if (missing.length > 0) {
    throw new Error(`say in tools/docs/setting-words.ts what these settings do: ${missing.join(", ")}`);
  }
  const known = new Set(settings.map(({ path }) => path));
  const stale = Object.keys(words).filter((path) => !known.has(path));
  if (stale.length > 0)
    throw new Error(`tools/docs/setting-words.ts speaks of settings that are gone: ${stale.join(", ")}`);
}

/** The leaves of a schema; a list of objects is described by its members, and a name that anybody may choose is NAME. */
function listSettings(schema: JsonSchema, path: string, standard: unknown): Setting[] {
  const { properties, items, additionalProperties, anyOf } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly items?: JsonSchema;
    readonly additionalProperties?: JsonSchema | boolean;
    readonly anyOf?: readonly JsonSchema[];
  };
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([name, inner]) =>
      listSettings(inner, path === "" ? name : `${path}.${name}`, memberOf(standard, name)),
    );
  }
  if (typeof additionalProperties === "object") return listSettings(additionalProperties, `${path}.NAME`, undefined);
  const isList = items?.["properties"] !== undefined;
  if (isList && !Array.isArray(standard)) return listSettings(items, `${path}[]`, undefined);
  if (isList && (standard as unknown[]).length === 0) return listSettings(items, `${path}[]`, undefined);
  const takes = anyOf?.length === undefined ? formatType(schema) : anyOf.map(formatType).join(" or ");
  return [{ path, takes, standard: formatDefault(standard) }];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function formatType(schema: JsonSchema): string {
  const {
    type,
    enum: choices,
    items,
    const: only,
  } = schema as {
    readonly type?: string;
    readonly enum?: readonly string[];
    readonly items?: JsonSchema;
    readonly const?: unknown;
  };
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(", ");
  if (type === "array") {
    const inner = items?.["anyOf"] as readonly JsonSchema[] | undefined;
    const inside = inner === undefined ? formatType(items ?? {}) : inner.map(formatType).join(" or ");
    return `list of ${inside}`;
  }
  if (type === "object") return "object";
  if (type === "null") return "null";
  return { string: "text", integer: "whole number", boolean: "true or false" }[type ?? ""] ?? type ?? "any value";
}

function formatDefault(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = JSON.stringify(value);
  if (text.length <= 60) return `\`${text}\``;
  return Array.isArray(value)
    ? value.map((one) => `\`${typeof one === "string" ? one : JSON.stringify(one)}\``).join(", ")
    : `\`${text}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
