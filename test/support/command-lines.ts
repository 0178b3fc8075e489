import { CommanderError } from "commander";
import { openApp } from "../../src/app/call.ts";
import { NOUNS } from "../../src/surfaces/cli/nouns.ts";
import { buildProgram } from "../../src/surfaces/cli/program.ts";
import { toVerb } from "../../src/surfaces/cli/run.ts";

/** Words of a command line with single or double quotes; nothing else of a shell. */
export function splitLine(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
  );
}

/**
 * What is wrong with a command line, judged by the verbs and flags that exist; null where nothing is. It is parsed as
 * `verbatim` would parse it and not run, so that lines that need an agent, a model or a browser are judged as well.
 */
export async function findCommandProblem(words: readonly string[], folder: string): Promise<string | null> {
  const [program, ...said] = withoutFolder(words);
  const end = said.indexOf("--");
  const [name, ...rest] = end === -1 ? toVerb(said) : [...toVerb(said.slice(0, end)), ...said.slice(end)];
  if (program !== "verbatim") return `begins with ${program}`;
  if (name === undefined || name.startsWith("--")) return null;
  const flags = SERVER_FLAGS.get(name);
  if (flags !== undefined) return findServerProblem(flags, rest);
  const entry = NOUNS.find(({ noun }) => noun === name);
  if (entry === undefined) return `there is no verb ${name}`;
  const { noun } = await entry.load();
  await using app = openApp({ surface: "cli", start: folder, env: { HOME: folder }, platform: process.platform });
  const own = noun.verbs.filter(({ path }) => path.length === 0);
  const isNamed = noun.verbs.some(({ path }) => path[0] === rest[0]);
  const verbs = own.length > 0 && rest.includes("--") && !isNamed ? own : noun.verbs;
  let isMeant = false;
  const built = await buildProgram(entry.noun, entry.summary, { ...noun, verbs }, app, () => (isMeant = true));
  const silence = { writeOut: () => undefined, writeErr: () => undefined };
  const forAll = (command: typeof built): void => {
    command.configureOutput(silence);
    for (const below of command.commands) forAll(below);
  };
  forAll(built);
  try {
    await built.parseAsync([entry.noun, ...rest], { from: "user" });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return thrown.code === "commander.helpDisplayed" ? null : thrown.message;
  }
  return isMeant ? null : "names no verb";
}

/** `-C DIR` may stand anywhere before `--`. */
function withoutFolder(words: readonly string[]): string[] {
  const end = words.indexOf("--");
  const at = words.indexOf("-C");
  return at === -1 || (end !== -1 && at > end) ? [...words] : [...words.slice(0, at), ...words.slice(at + 2)];
}

const LISTENING = "--port --host --tls-cert --tls-key --public-url --help".split(" ");
const TOKENS = "--token --token-file --no-token --insecure-http".split(" ");

/** The flags of each verb that starts a server; they are read apart from the table of verbs. */
const SERVER_FLAGS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["mcp", new Set([...LISTENING, ...TOKENS, "--http", "--max-bytes"])],
  ["serve", new Set([...LISTENING, "--health", "--wait", "--no-web"])],
  ["studio", new Set([...LISTENING, ...TOKENS, "--at", "--no-web", "--no-start"])],
]);

function findServerProblem(flags: ReadonlySet<string>, words: readonly string[]): string | null {
  const unknown = words.find((word) => word.startsWith("-") && !flags.has(word));
  return unknown === undefined ? null : `there is no flag ${unknown}`;
}
