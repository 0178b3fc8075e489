import type { Surface } from "../operation.ts";
import { CODES, type Code, codeFacts } from "./codes.ts";
import { type CaseWords, type Fix, type OwnFix, ownFixAt, wordsAt } from "./fix.ts";

export interface ErrorParts {
  /** What was wrong, in this case; it names flags to the command line only. Without it the table's sentence is used. */
  readonly message?: string | CaseWords;
  /** file:line, file@offset or a JSON pointer. */
  readonly where?: string;
  /** What to do next, in this case. Without it, and where it speaks of a terminal to others, the table's advice is used. */
  readonly fix?: OwnFix;
  /** Numbers, ids and lists a program can read. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Only where a contract says that this error passes on the exit of another verdict. */
  readonly exit?: number;
  /** The HTTP status that belongs to such an exit. */
  readonly http?: number;
  readonly cause?: unknown;
}

/**
 * The one error class. Its code decides exit and HTTP status; nobody branches on its message.
 *
 * @example
 * const error = new VerbatimError("FILE_NOT_FOUND", { where: "docs/tides.md" });
 * error.exit; // => 2
 * error.where; // => "docs/tides.md"
 */
export class VerbatimError extends Error {
  override readonly name = "VerbatimError";
  readonly code: Code;
  readonly where: string | undefined;
  /** What to do next, in the words of the command line. */
  readonly fix: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly #exit: number | undefined;
  readonly #http: number | undefined;
  readonly #said: string | CaseWords;
  readonly #ownFix: OwnFix | undefined;

  constructor(code: Code, parts: ErrorParts = {}) {
    const said = parts.message ?? CODES[code].says;
    super(wordsAt("cli", said), parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.where = parts.where;
    this.fix = ownFixAt("cli", parts.fix, CODES[code].fix);
    this.details = parts.details;
    this.#exit = parts.exit;
    this.#http = parts.http;
    this.#said = said;
    this.#ownFix = parts.fix;
  }

  /** What was wrong, in words for whoever is at that surface. */
  messageAt(surface: Surface): string {
    return wordsAt(surface, this.#said);
  }

  /** What to do next, in words for whoever is at that surface. */
  fixAt(surface: Surface): string {
    return ownFixAt(surface, this.#ownFix, CODES[this.code].fix);
  }

  get exit(): number {
    return this.#exit ?? codeFacts(this.code).exit;
  }

  get http(): number {
    return this.#http ?? codeFacts(this.code).http;
  }
}

/**
 * Whether a thrown value is ours, also across two copies of the library in one process.
 *
 * @example
 * try {
 *   parseRepoPath("../secrets");
 * } catch (error) {
 *   if (!isVerbatimError(error)) throw error;
 *   console.log(error.code, error.message, error.fix);
 * }
 */
export function isVerbatimError(thrown: unknown): thrown is VerbatimError {
  return (
    thrown instanceof VerbatimError ||
    (thrown instanceof Error && thrown.name === "VerbatimError" && "code" in thrown && String(thrown.code) in CODES)
  );
}

/** What an error says to each surface, for one that takes its place; `more` is said after it. */
export function passFixOn(error: VerbatimError, more = ""): Fix {
  const said = (surface: Surface) => (more === "" ? error.fixAt(surface) : `${error.fixAt(surface)} ${more}`);
  return { cli: said("cli"), mcp: said("mcp"), http: said("http") };
}

/** Ends a switch over a union: compiles only when every member was handled. */
export function assertNever(value: never): never {
  throw new VerbatimError("INTERNAL", { message: `unhandled case: ${String(value)}` });
}
