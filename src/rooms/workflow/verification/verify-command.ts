import { VerbatimError } from "../../../core/errors/index.ts";
import { formatArgv, splitWords } from "../dispatch/argv-template.ts";

/** A verify or set-up command as someone wrote it: words, or text for a shell. */
export type WrittenCommand = string | { readonly sh: string };

/** A command that can be started without a shell. */
export interface ParsedCommand {
  readonly argv: readonly string[];
  /** As it is shown. */
  readonly cmd: string;
}

export interface CommandFacts {
  /** The executable file a first word means in the folder of the repository, by PATH or as a path; null: none. */
  findProgram(word: string): string | null;
}

/** Words that only a shell understands as a command. */
const BUILT_IN = [
  "cd",
  "export",
  "source",
  ".",
  "set",
  "unset",
  "eval",
  "exec",
  "alias",
  "ulimit",
  "umask",
  "!",
  "{",
  "if",
  "for",
  "while",
];
const OPERATORS = ["&&", "||", ">>", "<<", "2>", "|", "&", ";", "<", ">", "(", ")", "\n"];

/**
 * Reads a command and says at once what would fail only after the agent has worked: VERIFY_NEEDS_SHELL for shell
 * syntax, VERIFY_PROGRAM_MISSING for a program that is neither in PATH nor in the tree.
 */
export function parseVerifyCommand(
  written: WrittenCommand,
  facts: CommandFacts,
  flag: "--verify" | "--setup" = "--verify",
): ParsedCommand {
  if (typeof written !== "string") return { argv: ["/bin/sh", "-c", written.sh], cmd: written.sh };
  const found = findShellSyntax(written);
  if (found !== null) throw needsShell(written, found.syntax, flag);
  const argv = splitWords(written);
  if (facts.findProgram(argv[0]!) === null) throw programMissing(argv, facts, flag);
  return { argv, cmd: formatArgv(argv) };
}

interface ShellSyntax {
  readonly syntax: string;
  readonly at: number;
}

/** The first piece of shell syntax outside quotes, or null. Inside double quotes only what a shell would replace counts. */
export function findShellSyntax(text: string): ShellSyntax | null {
  const first = /^\s*(\S*)/.exec(text)?.[1] ?? "";
  if (BUILT_IN.includes(first) || /^[A-Za-z_][A-Za-z0-9_]*=/.test(first)) return { syntax: first, at: 0 };
  let quote: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quote === "'") {
      if (character === "'") quote = null;
    } else if (character === "\\") at++;
    else if (character === "`") return { syntax: character, at };
    else if (character === "$") {
      const replaced = /^\$(?:\(|\{[^}]*\}?|[A-Za-z_][A-Za-z0-9_]*|[?@*#0-9])/.exec(text.slice(at))?.[0];
      if (replaced !== undefined) return { syntax: replaced, at };
    } else if (quote === '"') {
      if (character === '"') quote = null;
    } else if (character === "'" || character === '"') quote = character;
    else {
      const operator = OPERATORS.find((one) => text.startsWith(one, at));
      if (operator !== undefined) return { syntax: operator === "\n" ? "a line break" : operator, at };
      const isHome = character === "~" && (at === 0 || /\s/.test(text[at - 1]!));
      if (isHome || character === "*" || character === "?") return { syntax: character, at };
    }
  }
  return null;
}

/** The parts of a command that only joins programs by `&&`; null where a part needs a shell itself. */
function splitAtAnd(text: string): string[] | null {
  const parts: string[] = [];
  let rest = text;
  for (let found = findShellSyntax(rest); found !== null; found = findShellSyntax(rest)) {
    if (found.syntax !== "&&") return null;
    parts.push(rest.slice(0, found.at).trim());
    rest = rest.slice(found.at + 2).trim();
  }
  parts.push(rest);
  return parts.length > 1 && parts.every((part) => part !== "") ? parts : null;
}

/** A parenthesis after a word means nothing to a shell either: it was meant as text. */
function isLooseBracket(text: string): boolean {
  const found = findShellSyntax(text);
  return found?.syntax === "(" && /[^\s&|;(]\s*$/.test(text.slice(0, found.at));
}

function needsShell(text: string, found: string, flag: string): VerbatimError {
  const parts = splitAtAnd(text)?.map((part) => `${flag} ${quote(part)}`);
  const shell = flag === "--verify" ? `--verify-sh ${quote(text)}` : `--setup ${quote(`sh -c ${formatArgv([text])}`)}`;
  return new VerbatimError("VERIFY_NEEDS_SHELL", {
    message: {
      cli: `${flag} runs a program without a shell, and "${found}" is shell syntax`,
      others: `a ${flag.slice(2)} command runs without a shell, and "${found}" is shell syntax`,
    },
    where: text,
    fix: isLooseBracket(text)
      ? `Put it into quotes of its own, such as ${flag} "node -e 'check(1)'"`
      : parts === undefined
        ? shell
        : `${parts.join(" ")}     or     ${shell}`,
    details: { command: text, syntax: found },
  });
}

function programMissing(argv: readonly string[], { findProgram }: CommandFacts, flag: string): VerbatimError {
  const [program = ""] = argv;
  const local = program.includes("/")
    ? null
    : ["node_modules/.bin", ".venv/bin", "vendor/bin"]
        .map((folder) => `${folder}/${program}`)
        .find((place) => findProgram(`./${place}`) !== null);
  const fix =
    local == null
      ? `Install ${program}, or give its path.`
      : { cli: `${flag} ${quote(formatArgv([local, ...argv.slice(1)]))}`, others: `Give its path: ${local}` };
  return new VerbatimError("VERIFY_PROGRAM_MISSING", {
    message: `the verify command names ${program}, which is neither in PATH nor in the tree`,
    where: formatArgv(argv),
    fix,
    details: { program },
  });
}

/** A text as one argument that a person can paste. */
function quote(text: string): string {
  return /["$`\\]/.test(text) ? formatArgv([text]) : `"${text}"`;
}
