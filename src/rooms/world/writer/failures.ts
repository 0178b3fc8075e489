import type { FINDINGS } from "../../../core/errors/findings.ts";

/** Why a writer's model gave no answer that can be read. Codes of a beat, never of an error. */
export type WriterFailure = Extract<
  keyof (typeof FINDINGS)["world"],
  | "WRITER_KEY_MISSING"
  | "WRITER_KEY_REFUSED"
  | "WRITER_MODEL_UNKNOWN"
  | "WRITER_REQUEST_REFUSED"
  | "WRITER_BUSY"
  | "WRITER_UNREACHABLE"
  | "WRITER_TIMEOUT"
  | "WRITER_ANSWER_MALFORMED"
  | "WRITER_REFUSED"
  | "WRITER_ANSWER_CUT"
>;

/** A failure with its words. */
export interface WriterDown {
  readonly code: WriterFailure | "WRITER_PAIR_FORBIDDEN";
  readonly message: string;
}
