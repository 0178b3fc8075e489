import type { AgentAttempt, AgentProfile } from "../../../rooms/workflow/index.ts";

const FEEDBACK_WORD = "{feedback}";

/** What an agent is told, as its next start takes it. */
export interface Feedback {
  /** In the run folder: agent/feedback/NN.md. */
  readonly file: string;
  readonly sha256: string;
  readonly text: string;
  readonly comments: readonly string[];
}

/** How the words of a command become those of its next start. */
export interface Delivery {
  /** What is started. */
  readonly argv: readonly string[];
  /** What is recorded: placeholders stay, so that no record repeats the text. */
  readonly template: readonly string[];
  readonly by: NonNullable<AgentAttempt["feedback"]>["by"];
}

interface Told {
  readonly text: string;
  readonly profile: AgentProfile | null;
  /** The session of the attempt before; null: nobody knows it. */
  readonly session: string | null;
  /** A terminal that somebody sits at is theirs. */
  readonly hasTerminal: boolean;
}

/** The command of a first attempt, which has nothing to be told yet. */
export function withoutFeedback(command: readonly string[]): string[] {
  return command.map((word) => word.replaceAll(FEEDBACK_WORD, ""));
}

/** The words that tell an agent: those of its profile, else its own, else none and the text is its standard input. */
export function deliverFeedback(command: readonly string[], { text, profile, session, hasTerminal }: Told): Delivery {
  const resumed = profile === null || session === null ? null : toResumed(command, profile, session);
  const fill = (words: readonly string[]) => words.map((word) => word.replaceAll(FEEDBACK_WORD, () => text));
  if (resumed !== null) return { argv: fill(resumed), template: resumed, by: "resume" };
  const hasWord = command.some((word) => word.includes(FEEDBACK_WORD));
  if (hasWord) return { argv: fill(command), template: command, by: "argument" };
  return { argv: command, template: command, by: hasTerminal ? "file" : "input" };
}

/** Null: the profile has no such words, or the program cannot be told from the words around it. */
function toResumed(
  command: readonly string[],
  { resume, detect }: AgentProfile,
  session: string,
): readonly string[] | null {
  if (resume === undefined) return null;
  const words = findProgram(command, detect);
  if (words === null) return null;
  const fill = (word: string) => word.replaceAll("{session}", () => session);
  const argv = resume.argv.flatMap((word) => (word === "{program}" ? command.slice(0, words) : [fill(word)]));
  if (resume.keep_flags !== true) return argv;
  const flags = keepFlags(command.slice(words), resume.argv);
  // In front of the first flag or value of the profile's own: behind the program and its verbs.
  const first = resume.argv.findIndex((word) => word !== "{program}" && /^-|[{]/.test(word));
  const at = first === -1 ? argv.length : words + first - 1;
  return [...argv.slice(0, at), ...flags, ...argv.slice(at)];
}

/** How many words come before the agent's own: `claude`, `npx @anthropic-ai/claude-code`. */
function findProgram(command: readonly string[], { programs, scripts = [] }: AgentProfile["detect"]): number | null {
  const name = (word: string | undefined) => word?.slice(word.lastIndexOf("/") + 1) ?? "";
  if (programs.includes(name(command[0]))) return 1;
  if (!["npx", "node", "bunx"].includes(name(command[0]))) return null;
  const at = command.findIndex((word, i) => i > 0 && !word.startsWith("-"));
  const word = command[at];
  if (word === undefined) return null;
  const isIt = programs.includes(name(word)) || scripts.some((one) => word === one || word.startsWith(`${one}@`));
  return isIt ? at + 1 : null;
}

/**
 * Flags with their values, without the prompt and without those that the profile gives itself. Which flags take a value
 * nobody says: a word behind a flag is its value unless it has a space or is the last one.
 */
function keepFlags(words: readonly string[], own: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (!word.startsWith("-") || word === "-" || word === "--") continue;
    const [name = ""] = word.split("=");
    if (own.includes(name)) continue;
    kept.push(word);
    const value = words[i + 1];
    const isValue = value !== undefined && !value.startsWith("-") && !/\s/.test(value) && i + 2 < words.length;
    if (!word.includes("=") && isValue) kept.push(words[++i]!);
  }
  return kept;
}
