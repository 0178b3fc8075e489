import { CommanderError } from "commander";
import { type App, openApp } from "../../app/call.ts";
import type { ResolveName, ServeHealth, ServeMcp } from "../../app/compose/compose.ts";
import { formatCanonical } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import type { ProgressStep } from "../../core/ports.ts";
import { findNearest } from "../../core/text/index.ts";
import { formatError, formatStack, toErrorLine } from "./error-text.ts";
import { createIo, type Io, type Paint, type Streams } from "./io.ts";
import { NOUNS, type NounEntry } from "./nouns.ts";
import { buildProgram, GLOBAL_FLAGS, type Request } from "./program.ts";
import { CommandOutput, createProgressBar, findUserTerminal, type ProgressBar } from "./terminal.ts";
import type { Noun } from "./verb.ts";

/** The surroundings of one command line. */
export interface CliEnvironment {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly version: string;
  readonly streams: Streams;
  /** MCP for an agent while it runs; another surface serves it. */
  readonly serveMcp?: ServeMcp;
  /** Says how a worker is; another surface serves it. */
  readonly serveHealth?: ServeHealth;
  /** Tests give their own; nobody else does. */
  readonly resolveName?: ResolveName;
  /** Told what an operation answered, for whoever starts another surface with it. */
  readonly onAnswer?: (output: unknown) => void;
  /** The first sign, where it stands on the terminal. */
  readonly sign?: ProgressStep | null;
}

interface Line {
  readonly words: readonly string[];
  readonly folder: string;
  readonly has: (flag: string) => boolean;
}

/** Runs one command line and returns its exit code. Never throws. */
export async function runCli(world: CliEnvironment): Promise<number> {
  const line = readGlobals(world);
  const flags = {
    json: line.has("--json"),
    quiet: line.has("--quiet"),
    debug: line.has("--debug"),
    full: line.has("--full"),
    progress: !line.has("--no-progress") && !line.has("--quiet"),
  };
  const progress = createProgressBar(world.streams.stderr, flags.progress, world.sign);
  const output = new CommandOutput();
  const io = createIo(world.streams, world.env, flags, () => {
    progress.end();
    output.endLine();
  });
  try {
    return await runLine(world, line, io, progress, output);
  } catch (thrown) {
    return await reportError(thrown, io);
  }
}

/** `-C DIR` may come before or after the verb; everything after `--` belongs to the verb. */
function readGlobals(world: CliEnvironment): Line {
  const words: string[] = [];
  let folder = world.cwd;
  const end = world.argv.indexOf("--");
  const own = end === -1 ? world.argv : world.argv.slice(0, end);
  for (let i = 0; i < own.length; i++) {
    if (own[i] === "-C" && own[i + 1] !== undefined) folder = own[++i]!;
    else words.push(own[i]!);
  }
  return {
    words: end === -1 ? toVerb(words) : [...toVerb(words), ...world.argv.slice(end)],
    folder,
    has: (flag) => own.includes(flag),
  };
}

/** `agent --queue` is the verb `agent queue`: the same run, on a worker of the team. Words of the agent's command do not count. */
export function toVerb(words: readonly string[]): string[] {
  const isQueued = words[0] === "agent" && words.includes("--queue");
  return isQueued ? ["agent", "queue", ...words.slice(1).filter((word) => word !== "--queue")] : [...words];
}

async function runLine(
  world: CliEnvironment,
  line: Line,
  io: Io,
  progress: ProgressBar,
  output: CommandOutput,
): Promise<number> {
  const word = line.words.find((one) => !one.startsWith("-"));
  if (word === undefined) {
    if (line.has("--version") || line.has("-V")) {
      await io.out(`${world.version}\n`);
      return 0;
    }
    const unknown = line.words.find((one) => !FIRST_FLAGS.has(one));
    if (unknown !== undefined) refuseFlag(unknown);
    return await showFirstHelp(world, io);
  }
  if (word === "help") return await showFirstHelp(world, io);
  const entry = NOUNS.find(({ noun }) => noun === word) ?? refuseNoun(word);
  await using app = openApp({
    surface: "cli",
    start: line.folder,
    env: world.env,
    platform: world.platform,
    stdin: world.streams.stdin,
    progress,
    // A terminal shows whatever it is sent, which is not a JSON value.
    terminal: io.flags.json ? null : findUserTerminal(world.streams, () => process.kill(process.pid, "SIGINT")),
    notify: (text) => io.note(text),
    ...(world.serveMcp === undefined ? {} : { serveMcp: world.serveMcp }),
    ...(world.serveHealth === undefined ? {} : { serveHealth: world.serveHealth }),
    ...(world.resolveName === undefined ? {} : { resolveName: world.resolveName }),
    // With --json standard output belongs to the one JSON value.
    onOutput: (stream, bytes) => {
      const target = stream === "stdout" && !io.flags.json ? world.streams.stdout : world.streams.stderr;
      progress.end();
      output.write(target, bytes);
    },
  });
  try {
    return await runVerb(entry, line, app, io, world.onAnswer);
  } finally {
    progress.end();
  }
}

/** Flags that may come without a verb. */
const FIRST_FLAGS: ReadonlySet<string> = new Set([...GLOBAL_FLAGS, "--help", "-h"]);

async function showFirstHelp(world: CliEnvironment, io: Io): Promise<number> {
  for (const line of formatFirstHelp(io.paint, world.version)) io.line(line);
  await io.flush();
  return 0;
}

function refuseFlag(flag: string): never {
  throw new VerbatimError("USAGE", {
    message: flag === "-C" ? "-C needs a folder" : `there is no global flag ${JSON.stringify(flag)}`,
    fix: "List the verbs and flags: verbatim --help",
  });
}

/** Surfaces that src/main.ts starts. */
const SURFACES = ["mcp", "studio", "serve"];

function refuseNoun(word: string): never {
  const near = findNearest(word, [...NOUNS.map(({ noun }) => noun), ...SURFACES]);
  throw new VerbatimError("VERB_UNKNOWN", {
    message: `there is no verb ${JSON.stringify(word)}`,
    ...(near.length > 0 ? { fix: `Did you mean: verbatim ${near.join(", verbatim ")}` } : {}),
  });
}

async function runVerb(
  entry: NounEntry,
  line: Line,
  app: App,
  io: Io,
  onAnswer: CliEnvironment["onAnswer"],
): Promise<number> {
  const { noun } = await entry.load();
  let request: Request | undefined;
  const at = line.words.indexOf(entry.noun);
  const words = [entry.noun, ...line.words.slice(0, at), ...line.words.slice(at + 1)];
  const topic = words[1] === "--help" || words[1] === "-h" ? noun.topics?.[words[2] ?? ""] : undefined;
  if (topic !== undefined) {
    await io.out(`${(await topic(io.width)).join("\n")}\n`);
    return 0;
  }
  const program = await buildProgram(
    entry.noun,
    entry.summary,
    { ...noun, verbs: meantVerbs(noun.verbs, words) },
    app,
    (asked) => {
      request = asked;
    },
  );
  const said: string[] = [];
  const help: string[] = [];
  forAll(program, (command) =>
    command.configureOutput({ writeOut: (text) => help.push(text), writeErr: (text) => said.push(text) }),
  );
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0 || thrown.code === "commander.help") {
      await io.out([...help, ...said].join(""));
      return thrown.exitCode === 0 ? 0 : 2;
    }
    throw new VerbatimError("USAGE", {
      message: thrown.message.replace(/^error: /, ""),
      fix: `See: verbatim ${entry.noun} --help`,
    });
  }
  return request === undefined ? 2 : await answer(request, app, io, onAnswer);
}

/** What follows `--` is someone else's command, even where it has the name of a verb: `agent --goal x -- list`. */
function meantVerbs(verbs: Noun["verbs"], words: readonly string[]): Noun["verbs"] {
  const own = verbs.filter(({ path, args }) => path.length === 0 && args?.some(({ variadic }) => variadic === true));
  const isNamed = verbs.some(({ path }) => path[0] !== undefined && path[0] === words[1]);
  return own.length > 0 && words.includes("--") && !isNamed ? own : verbs;
}

type AnyCommand = Awaited<ReturnType<typeof buildProgram>>;

function forAll(command: AnyCommand, run: (command: AnyCommand) => void): void {
  run(command);
  for (const below of command.commands) forAll(below as AnyCommand, run);
}

async function answer(
  { verb, input }: Request,
  app: App,
  io: Io,
  onAnswer: CliEnvironment["onAnswer"],
): Promise<number> {
  const prepared = verb.prepare === undefined ? input : await verb.prepare(input, io, app);
  if (typeof prepared === "number") {
    await io.flush();
    return prepared;
  }
  const wantsLines = { json: io.flags.json, always: true, "unless-out": prepared["out"] === undefined };
  if (verb.lines !== undefined && wantsLines[verb.lines]) {
    const lines = app.linesUnknown(verb.operation, prepared);
    for (let next = await lines.next(); ; next = await lines.next()) {
      if (next.done === true) return typeof next.value === "number" ? next.value : 0;
      await io.out(`${next.value}\n`);
    }
  }
  const output = await app.callUnknown(verb.operation, prepared);
  onAnswer?.(output);
  if (verb.dialogue !== undefined) {
    const exit = await verb.dialogue(output, io, input, app);
    await io.flush();
    return exit;
  }
  if (io.flags.json) io.line(formatCanonical(output));
  else await verb.render?.(output, io, input, app);
  await io.flush();
  return verb.exit?.(output, input) ?? 0;
}

async function reportError(thrown: unknown, io: Io): Promise<number> {
  const error = isVerbatimError(thrown)
    ? thrown
    : new VerbatimError("INTERNAL", {
        message: thrown instanceof Error ? thrown.message : String(thrown),
        cause: thrown,
      });
  await io.flush();
  if (io.flags.json) await io.out(`${toErrorLine(error)}\n`);
  else for (const line of formatError(error, io.paint)) io.fail(line);
  if (io.flags.debug || error.exit === 3) io.fail(formatStack(thrown));
  return error.exit;
}

/** Nouns for those who run several machines: one line of the first help page names them all. */
const TEAM = "team";

/** The lines of the first help page: fits one screen, verbs grouped by room. */
function formatFirstHelp(paint: Paint, version: string): string[] {
  const lines = [
    `${paint.bold("verbatim")} ${version}  puts AI agents under contract`,
    "",
    "usage: verbatim <noun> <verb> [arguments] [flags]",
  ];
  lines.push("");
  let room = "";
  for (const entry of NOUNS) {
    if (entry.room === TEAM) continue;
    lines.push(formatNoun(paint, entry.room === room ? "" : entry.room, entry.noun, entry.summary));
    room = entry.room;
  }
  const team = NOUNS.filter((entry) => entry.room === TEAM).map(({ noun }) => noun);
  lines.push(`${paint.bold(TEAM.padEnd(10))} ${[...team, "serve"].join(", ")}: for many machines`);
  // Not nouns of this surface: src/main.ts starts them.
  lines.push(formatNoun(paint, "servers", "mcp", "Model Context Protocol on standard input, or --http"));
  lines.push(formatNoun(paint, "", "studio", "HTTP API, MCP and a page on 127.0.0.1 (--no-web)"));
  lines.push(
    "",
    paint.bold("flags that work with every verb"),
    "  -C DIR        work in another folder     --json      print one JSON value",
    "  --full        print full ids             --quiet     no notes on stderr",
    "  --no-progress no progress bars           --debug     stack traces",
    "",
    "more: verbatim <noun> --help   exit codes: 0 done, 1 the contract says no,",
    "      2 bad input, 3 internal error, 4 busy or unavailable",
  );
  return lines;
}

function formatNoun(paint: Paint, room: string, noun: string, summary: string): string {
  return `${paint.bold(room.padEnd(10))} ${noun.padEnd(12)} ${summary}`;
}
