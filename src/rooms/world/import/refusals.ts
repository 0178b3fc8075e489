import { VerbatimError } from "../../../core/errors/index.ts";

/** The refusal of a file nobody can read. */
export function unknownFormat(message: string, where?: string): VerbatimError {
  return new VerbatimError("IMPORT_FORMAT_UNKNOWN", { message, ...(where === undefined ? {} : { where }) });
}

/** The refusal of a file that has more of something than an import may have. */
export function importTooLarge(message: string, where?: string): VerbatimError {
  return new VerbatimError("IMPORT_TOO_LARGE", { message, ...(where === undefined ? {} : { where }) });
}
