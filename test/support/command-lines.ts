import { CommanderError } from "commander";
import { openApp } from "../../src/app/call.ts";
import { NOUNS } from "../../src/surfaces/cli/nouns.ts";
import { buildProgram } from "../../src/surfaces/cli/program.ts";

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
  const [program, name, ...rest] = withoutFolder(words);
  if (program !== "verbatim") return `begins with ${program}`;
  if (name === undefined || name.startsWith("--")) return null;
  if (name === "mcp" || name === "studio") return findServerProblem(rest);
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

const SERVER_FLAGS = new Set(
  "--port --host --token --token-file --no-token --tls-cert --tls-key --public-url --insecure-http --at --no-web --http --max-bytes --help".split(
    " ",
  ),
);

function findServerProblem(words: readonly string[]): string | null {
  const unknown = words.find((word) => word.startsWith("-") && !SERVER_FLAGS.has(word));
  return unknown === undefined ? null : `there is no flag ${unknown}`;
}
