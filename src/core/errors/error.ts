import { CODES, type Code, codeFacts } from "./codes.ts";

export interface ErrorParts {
  /** What was wrong, in this case. Without it the table's sentence is used. */
  readonly message?: string;
  /** file:line, file@offset or a JSON pointer. */
  readonly where?: string;
  /** What to do next, in this case. Without it the table's advice is used. */
  readonly fix?: string;
  /** Numbers, ids and lists a program can read. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Only where a contract says that this error passes on the exit of another verdict. */
  readonly exit?: number;
  readonly cause?: unknown;
}

/** The one error class. Its code decides exit and HTTP status; nobody branches on its message. */
export class VerbatimError extends Error {
  override readonly name = "VerbatimError";
  readonly code: Code;
  readonly where: string | undefined;
  readonly fix: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly #exit: number | undefined;

  constructor(code: Code, parts: ErrorParts = {}) {
    super(parts.message ?? CODES[code].says, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.where = parts.where;
    this.fix = parts.fix ?? CODES[code].fix;
    this.details = parts.details;
    this.#exit = parts.exit;
  }

  get exit(): number {
    return this.#exit ?? codeFacts(this.code).exit;
  }

  get http(): number {
    return codeFacts(this.code).http;
  }
}

/** Whether a thrown value is ours, also across two copies of the library in one process. */
export function isVerbatimError(thrown: unknown): thrown is VerbatimError {
  return (
    thrown instanceof VerbatimError ||
    (thrown instanceof Error && thrown.name === "VerbatimError" && "code" in thrown && String(thrown.code) in CODES)
  );
}

/** Ends a switch over a union: compiles only when every member was handled. */
export function assertNever(value: never): never {
  throw new VerbatimError("INTERNAL", { message: `unhandled case: ${String(value)}` });
}
