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

export interface ToolAnswer {
  [key: string]: unknown;
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
}

/** What was thrown, as a coded error. What a stranger must not see stays in its cause. */
export function toCoded(thrown: unknown): VerbatimError {
  return isVerbatimError(thrown) && thrown.code !== "INTERNAL"
    ? thrown
    : new VerbatimError("INTERNAL", { cause: thrown });
}

function toRefusal(error: VerbatimError): Refusal {
  const { code, where = null, details = null } = error;
  return { error: { code, message: error.messageAt("mcp"), where, fix: error.fixAt("mcp"), details } };
}

/** Answers under a limit of bytes: whole, or a refusal that says how to ask for less. Nothing is ever cut. */
export class Answers {
  readonly #limit: number;

  constructor(maxBytes: number) {
    this.#limit = maxBytes - ENVELOPE;
  }

  /** Bytes that a result may have. */
  get limit(): number {
    return this.#limit;
  }

  fits(result: unknown): boolean {
    return sizeOf(result) <= this.#limit;
  }

  /** The output of an operation as structured content and as the same JSON in text; RESPONSE_TOO_LARGE. */
  answer(output: unknown): ToolAnswer {
    const structuredContent = output as Record<string, unknown>;
    const answer = { content: [{ type: "text" as const, text: JSON.stringify(output) }], structuredContent };
    const bytes = sizeOf(answer);
    if (bytes > this.#limit) throw this.#tooLarge(bytes, output);
    return answer;
  }

  /** A refusal of ours as a result that the model sees. */
  refuse(thrown: unknown): ToolAnswer {
    const refused = (error: VerbatimError): ToolAnswer => {
      const refusal = toRefusal(error);
      const content = [{ type: "text" as const, text: JSON.stringify(refusal) }];
      return { content, structuredContent: { ...refusal }, isError: true };
    };
    const error = toCoded(thrown);
    const answer = refused(error);
    const bytes = sizeOf(answer);
    if (bytes <= this.#limit) return answer;
    const details = { refusal: error.code, bytes, limit: this.#limit };
    const message = `the refusal ${error.code} has ${bytes} bytes; the limit is ${this.#limit}`;
    return refused(new VerbatimError("RESPONSE_TOO_LARGE", { message, details }));
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
