import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";

/** Bytes a response may have when nobody says otherwise. */
export const DEFAULT_MAX_BYTES = 40_000;
/** The longest description of one tool must fit. */
export const LEAST_MAX_BYTES = 16_000;
export const MOST_MAX_BYTES = 10_000_000;

// What the protocol adds around a result: id, version, name of the server.
const ENVELOPE = 600;

/** A refusal as every surface writes it. */
interface Refusal {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly where: string | null;
    readonly fix: string;
    readonly details: Readonly<Record<string, unknown>> | null;
  };
}

interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

/**
 * A result as it is sent: text blocks and nothing beside them. Clients differ in whether they show a model the blocks or
 * the structured content, so what only one of the two carries is lost for some, and what both carry is paid for twice.
 */
export interface ToolAnswer {
  [key: string]: unknown;
  /** The record as JSON, then the exact texts it speaks of, in its order. */
  readonly content: TextBlock[];
  readonly isError?: true;
}

/** An output as it is sent: a record, and texts that stay as they are instead of being escaped into it. */
export interface Blocks {
  readonly record: unknown;
  readonly texts: readonly string[];
}

/** What was thrown, as a coded error. What a stranger must not see stays in its cause. */
export function toCoded(thrown: unknown): VerbatimError {
  return isVerbatimError(thrown) && thrown.code !== "INTERNAL"
    ? thrown
    : new VerbatimError("INTERNAL", { cause: thrown });
}

// What an index that is built again would repair. A server that only reads cannot, and neither can who calls it.
const OF_THE_INDEX: ReadonlySet<string> = new Set([
  "INDEX_MISSING",
  "FILE_MISSING",
  "FILE_NOT_INDEXED",
  "CONTENT_HASH_MISMATCH",
  "LINE_RANGE_INVALID",
]);
const ASK_TO_BUILD = "Ask the user to build the index of this workspace again: the server of an agent only reads.";

function toRefusal(error: VerbatimError, isCaged: boolean): Refusal {
  const { code, where = null, details = null } = error;
  const fix = isCaged && OF_THE_INDEX.has(code) ? ASK_TO_BUILD : error.fixAt("mcp");
  return { error: { code, message: error.messageAt("mcp"), where, fix, details } };
}

/** Answers under a limit of bytes: whole, or a refusal that says how to ask for less. Nothing is ever cut. */
export class Answers {
  readonly #limit: number;
  readonly #caged: boolean;

  constructor(maxBytes: number, isCaged = false) {
    this.#limit = maxBytes - ENVELOPE;
    this.#caged = isCaged;
  }

  /** Bytes that a result may have. */
  get limit(): number {
    return this.#limit;
  }

  fits(result: unknown): boolean {
    return sizeOf(result) <= this.#limit;
  }

  /** The output of an operation as text blocks; RESPONSE_TOO_LARGE. */
  answer({ record, texts }: Blocks): ToolAnswer {
    const answer = { content: [JSON.stringify(record), ...texts].map(toBlock) };
    const bytes = sizeOf(answer);
    if (bytes > this.#limit) throw this.#tooLarge(bytes, record);
    return answer;
  }

  /** A refusal of ours as a result that the model sees. */
  refuse(thrown: unknown): ToolAnswer {
    return { content: [toBlock(JSON.stringify(this.refusalOf(thrown)))], isError: true };
  }

  /** A refusal of ours where it fits, or one that says which it was. */
  refusalOf(thrown: unknown): Refusal {
    const error = toCoded(thrown);
    const refusal = toRefusal(error, this.#caged);
    const bytes = sizeOf({ content: [toBlock(JSON.stringify(refusal))], isError: true });
    if (bytes <= this.#limit) return refusal;
    const details = { refusal: error.code, bytes, limit: this.#limit };
    const message = `the refusal ${error.code} has ${bytes} bytes; the limit is ${this.#limit}`;
    return toRefusal(new VerbatimError("RESPONSE_TOO_LARGE", { message, details }), this.#caged);
  }

  /** A result without an alternative form, such as the text of a resource. */
  carry<T>(result: T): T {
    const bytes = sizeOf(result);
    if (bytes > this.#limit) throw this.#tooLarge(bytes, null);
    return result;
  }

  #tooLarge(bytes: number, output: unknown): VerbatimError {
    return new VerbatimError("RESPONSE_TOO_LARGE", {
      message: `the answer has ${bytes} bytes; the limit is ${this.#limit}, so nothing was sent`,
      details: { bytes, limit: this.#limit, answer: scalarsOf(output) },
    });
  }
}

function toBlock(text: string): TextBlock {
  return { type: "text", text };
}

/** Ids and states of an answer that is too large, so that work which was done can be found again. */
function scalarsOf(output: unknown): Record<string, unknown> {
  if (typeof output !== "object" || output === null) return {};
  const short = (value: unknown) =>
    typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 100);
  return Object.fromEntries(Object.entries(output).filter(([, value]) => short(value)));
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value), "utf8");
}
