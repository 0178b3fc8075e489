import type { App } from "../../app/app-type.ts";
import type { Io } from "./io.ts";

/** A positional argument that fills a field of the operation's input. */
export interface ArgHint {
  readonly field: string;
  readonly label: string;
  readonly optional?: boolean;
  readonly variadic?: boolean;
}

/** How a field of the input looks as a flag, where the generated one is not good enough. */
export interface FlagHint {
  /** Without dashes; the field's name in kebab-case otherwise. */
  readonly name?: string;
  /** What stands for the value in help. */
  readonly value?: string;
  /** Not offered as a flag. */
  readonly hidden?: boolean;
}

/** Hints that turn one operation into one verb of the command line. */
export interface Verb<Output = unknown> {
  /** Words after the noun; empty when the noun is the verb. */
  readonly path: readonly string[];
  /** What the words before the last one do when nothing follows them. */
  readonly isDefault?: true;
  readonly operation: string;
  /** What help says, where the operation's own summary says too little. */
  readonly summary?: string;
  readonly args?: readonly ArgHint[];
  readonly flags?: Readonly<Record<string, FlagHint>>;
  /** Input fields the command line decides by itself. */
  prepare?(input: Record<string, unknown>, io: Io, app: App): Promise<Record<string, unknown>>;
  readonly examples: readonly string[];
  /** When this verb prints JSON Lines: with --json, always, or unless it was given a file to write. */
  readonly lines?: "json" | "always" | "unless-out";
  /** Prints the result for people. */
  render(output: Output, io: Io): void | Promise<void>;
  /** 0 unless the result itself says no. */
  exit?(output: Output): number;
}

/** The verbs of one noun. */
export interface Noun {
  readonly verbs: readonly Verb<never>[];
  /** What help says about a word that only groups verbs. */
  readonly groups?: Readonly<Record<string, string>>;
}

/** Checks a verb's hints while forgetting the type of its output. */
export function defineVerb<Output>(verb: Verb<Output>): Verb<never> {
  return verb as Verb<never>;
}
