import { type Argument, Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import type { App } from "../../app/call.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Operation } from "../../core/operation.ts";
import type { Noun, Verb } from "./verb.ts";

/** What the command line asked for. */
export interface Request {
  readonly verb: Verb;
  readonly input: Record<string, unknown>;
}

/** A commander program for the verbs of one noun; the chosen verb arrives at `onRequest`. */
export async function buildProgram(
  noun: string,
  summary: string,
  { verbs, groups = {} }: Noun,
  app: App,
  onRequest: (request: Request) => void,
): Promise<Command> {
  const program = new Command("verbatim").description(summary);
  configure(program);
  const top = program.command(noun).description(summary);
  configure(top);
  for (const verb of verbs) {
    const operation = await app.describe(verb.operation);
    // commander asks for the mandatory flags of a noun also where only a verb below it was meant.
    const isShared = verb.path.length === 0 && verbs.length > 1;
    // A flag behind the word of a verb belongs to that verb, also where the noun has one of the same name.
    if (isShared) for (const command of [program, top]) command.enablePositionalOptions();
    addVerb(toCommand(top, verb), verb, operation, isShared, onRequest);
  }
  // A word that only groups verbs is described by them, unless its noun knows better.
  for (const group of top.commands.filter((one) => one.description() === "")) {
    group.description(groups[group.name()] ?? group.commands.map((one) => one.description()).join(" "));
  }
  addGlobalFlags(program);
  return program;
}

/** The command a verb stands for: the noun itself, or one word (or two) below it. */
function toCommand(top: Command, { path, isDefault }: Verb): Command {
  let command = top;
  for (const [i, word] of path.entries()) {
    const known = command.commands.find((one) => one.name() === word);
    const next: Command = known ?? command.command(word, { isDefault: isDefault === true && i === path.length - 1 });
    if (known === undefined) configure(next);
    command = next;
  }
  return command;
}

function configure(command: Command): void {
  command
    .exitOverride()
    .allowExcessArguments(false)
    .showSuggestionAfterError(true)
    .helpOption("-h, --help", "this help");
  command.helpCommand(false);
  // The arguments without "[options]", so that what a verb does begins far enough to the left to be wrapped.
  command.configureHelp({ subcommandTerm: (verb) => [verb.name(), ...verb.registeredArguments.map(toTerm)].join(" ") });
}

function toTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Flags of every verb. */
export const GLOBAL_FLAGS = ["--json", "--quiet", "--debug", "--full", "--no-progress"];

/** Flags of every verb are understood everywhere; a verb may give one a meaning of its own besides. */
function addGlobalFlags(command: Command): void {
  for (const flag of GLOBAL_FLAGS) {
    if (command.options.every(({ long }) => long !== flag)) command.addOption(new Option(flag).hideHelp());
  }
  for (const below of command.commands) addGlobalFlags(below);
}

function addVerb(
  command: Command,
  verb: Verb,
  operation: Operation,
  isShared: boolean,
  onRequest: (request: Request) => void,
): void {
  command.description(verb.summary ?? operation.summary);
  for (const arg of verb.args ?? []) {
    const dots = arg.variadic === true ? "..." : "";
    command.argument(arg.optional === true ? `[${arg.label}${dots}]` : `<${arg.label}${dots}>`);
  }
  const flags = toFlags(operation, verb);
  for (const flag of flags) command.addOption(toOption(isShared ? { ...flag, required: false } : flag));
  command.addHelpText("after", `\nExamples:\n${verb.examples.map((example) => `  ${example}`).join("\n")}\n`);
  command.action(() => onRequest({ verb, input: toInput(command, verb, flags) }));
}

function toOption(flag: GeneratedFlag): Option {
  const short = flag.short === null ? "" : `-${flag.short}, `;
  const value = flag.kind === "boolean" ? "" : flag.bare ? ` [${flag.value}]` : ` <${flag.value}>`;
  const text = `${short}--${flag.name}${value}`;
  const option = new Option(text, isSaid(flag) ? `${flag.help} (default: ${show(flag.fallback)})` : flag.help);
  if (flag.choices !== null) option.choices(flag.choices);
  if (flag.kind === "integer") option.argParser(toInteger);
  if (flag.repeat) {
    option.argParser((value: string, previous: unknown) => [
      ...(Array.isArray(previous) ? (previous as unknown[]) : []),
      flag.kind === "integer" ? toInteger(value) : value,
    ]);
  }
  if (flag.required) option.makeOptionMandatory();
  return option;
}

/** A list that begins empty, a text that is not there and a switch that is off go without saying. */
function isSaid({ fallback, help }: GeneratedFlag): boolean {
  const isEmpty = fallback === "" || (Array.isArray(fallback) && fallback.length === 0);
  return fallback !== undefined && typeof fallback !== "boolean" && !isEmpty && !help.includes("(default: ");
}

function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function toInteger(text: string): number {
  const value = Number(text);
  if (!/^-?[0-9]+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("It must be a whole number.");
  return value;
}

function toInput(command: Command, verb: Verb, flags: readonly GeneratedFlag[]): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const values = command.processedArgs as unknown[];
  for (const [i, arg] of (verb.args ?? []).entries()) {
    if (values[i] !== undefined) input[arg.field] = values[i];
  }
  for (const flag of flags) {
    // commander keeps `--no-apply` as `apply: false`.
    if (flag.kind === "boolean" && flag.name.startsWith("no-")) {
      if (command.getOptionValue(toCamelCase(flag.name.slice(3))) === false) input[flag.field] = true;
      continue;
    }
    const value: unknown = readOption(command, flag);
    // A list that is next to its own `--no-` flag is switched off by it.
    if (value === undefined || (flag.repeat && value === false)) continue;
    if (input[flag.field] !== undefined && input[flag.field] !== value) {
      throw new VerbatimError("USAGE", { message: `--${flag.name} and the argument name two different things` });
    }
    input[flag.field] = value;
  }
  return input;
}

/** The value of a flag. One that every verb understands is taken by the first command on the way that knows it. */
function readOption(command: Command, { name }: GeneratedFlag): unknown {
  const value: unknown = command.getOptionValue(toCamelCase(name));
  if (value !== undefined || !GLOBAL_FLAGS.includes(`--${name}`)) return value;
  for (let above = command.parent; above !== null; above = above.parent) {
    const taken: unknown = above.getOptionValue(toCamelCase(name));
    if (taken !== undefined) return taken;
  }
  return undefined;
}

// commander keeps option values under the camel-case spelling of the flag.
function toCamelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A flag made from a field of an operation's input. */
export interface GeneratedFlag {
  readonly field: string;
  readonly name: string;
  readonly kind: "boolean" | "integer" | "text";
  readonly repeat: boolean;
  readonly required: boolean;
  readonly value: string;
  readonly bare: boolean;
  readonly short: string | null;
  readonly choices: readonly string[] | null;
  readonly help: string;
  readonly fallback: unknown;
}

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly description?: string;
  readonly default?: unknown;
}

/** The flags of a verb: every field of the input that is not a positional argument. */
export function toFlags(operation: Operation, verb: Verb): GeneratedFlag[] {
  const schema = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }) as {
    readonly properties?: Readonly<Record<string, FieldSchema>>;
    readonly required?: readonly string[];
  };
  const positional = new Set((verb.args ?? []).filter(({ alsoFlag }) => alsoFlag !== true).map(({ field }) => field));
  const flags: GeneratedFlag[] = [];
  for (const [field, facts] of Object.entries(schema.properties ?? {})) {
    const hint = verb.flags?.[field] ?? {};
    if (positional.has(field) || hint.hidden === true) continue;
    const shape = facts.anyOf?.find((one) => one.type !== "null") ?? facts;
    const item = shape.type === "array" ? (shape.items ?? {}) : shape;
    const name = hint.name ?? field.replaceAll("_", "-");
    flags.push({
      field,
      name,
      kind:
        item.type === "boolean" ? "boolean" : item.type === "integer" || item.type === "number" ? "integer" : "text",
      repeat: shape.type === "array",
      required: schema.required?.includes(field) === true && facts.default === undefined,
      value: hint.value ?? (item.type === "integer" ? "N" : name.replaceAll("-", "_").toUpperCase()),
      bare: hint.bare === true,
      short: hint.short ?? null,
      choices: item.enum ?? null,
      help: facts.description ?? "",
      fallback: facts.default,
    });
  }
  return flags;
}
