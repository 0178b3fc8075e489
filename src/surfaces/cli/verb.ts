import type { App } from "../../app/call.ts";
import type { Input, OperationName, Output } from "../../app/operations.ts";
import type { Io } from "./io.ts";

/** A positional argument that fills a field of the operation's input. */
interface ArgHint<Field extends string = string> {
  readonly field: Field;
  readonly label: string;
  readonly optional?: boolean;
  readonly variadic?: boolean;
  /** Is offered as a flag besides, for a field that is a flag of the other verbs of its noun. */
  readonly alsoFlag?: boolean;
}

/** How a field of the input looks as a flag, where the generated one is not good enough. */
interface FlagHint {
  /** Without dashes (default: the field's name in kebab-case). */
  readonly name?: string;
  /** What stands for the value in help. */
  readonly value?: string;
  /** The value may be left out; the field is then true. */
  readonly bare?: boolean;
  /** One letter, without its dash. */
  readonly short?: string;
  /** Not offered as a flag. */
  readonly hidden?: boolean;
}

/** What the command line gave of an operation's input; it is parsed when the operation is called. */
type Given<N extends OperationName> = Partial<Input<N>>;

/** What every verb says about itself. */
interface Words {
  /** Words after the noun; empty when the noun is the verb. */
  readonly path: readonly string[];
  /** What the words before the last one do when nothing follows them. */
  readonly isDefault?: true;
  /** What help says, where the operation's own summary says too little. */
  readonly summary?: string;
  readonly examples: readonly string[];
  /** When this verb prints JSON Lines: with --json, always, or unless it was given a file to write. */
  readonly lines?: "json" | "always" | "unless-out";
}

/** Hints that turn one operation into one verb of the command line. */
export type VerbHints<N extends OperationName> = CommonHints<N> & (Printed<N> | Talked<N>);

interface CommonHints<N extends OperationName> extends Words {
  readonly args?: readonly ArgHint<keyof Input<N> & string>[];
  readonly flags?: { readonly [F in keyof Input<N> & string]?: FlagHint };
  /** Input fields the command line decides by itself; a number where somebody decided to go no further, as the exit code. */
  prepare?(given: Given<N>, io: Io, app: App): Promise<Given<N> | number>;
  /** 0 unless the result itself says no. */
  exit?(output: Output<N>, given: Given<N>): number;
}

interface Printed<N extends OperationName> {
  /** Prints the result for people. `given` is what the command line gave, before `prepare`. */
  render(output: Output<N>, io: Io, given: Given<N>, app: App): void | Promise<void>;
}

interface Talked<N extends OperationName> {
  /** Talks with somebody at a terminal about the result; what they decide gives the exit code. */
  dialogue(output: Output<N>, io: Io, given: Given<N>, app: App): Promise<number>;
}

type AnyFields = Record<string, unknown>;

/** One verb among others, whatever its operation answers. */
export interface Verb extends Words {
  readonly operation: OperationName;
  readonly args?: readonly ArgHint[];
  readonly flags?: Readonly<Record<string, FlagHint>>;
  prepare?(given: AnyFields, io: Io, app: App): Promise<AnyFields | number>;
  render?(output: unknown, io: Io, given: AnyFields, app: App): void | Promise<void>;
  dialogue?(output: unknown, io: Io, given: AnyFields, app: App): Promise<number>;
  exit?(output: unknown, given: AnyFields): number;
}

/** The verbs of one noun. */
export interface Noun {
  readonly verbs: readonly Verb[];
  /** What help says about a word that only groups verbs. */
  readonly groups?: Readonly<Record<string, string>>;
  /** Pages of their own: `verbatim NOUN --help WORD`. */
  readonly topics?: Readonly<Record<string, (width: number) => Promise<string[]>>>;
}

/** Binds a verb to its operation: fields and results are those of the operation's own schemas. */
export function defineVerb<N extends OperationName>(operation: N, hints: VerbHints<N>): Verb {
  return { operation, ...hints } as Verb;
}
