import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";

/** The five characters by which PostgreSQL names an error, or null when the server did not send it. */
export function sqlState(thrown: unknown): string | null {
  const error = isVerbatimError(thrown) ? thrown.cause : thrown;
  if (!(error instanceof Error) || !("code" in error) || !("severity" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** Whether the server gave up a transaction only because of others: it was rolled back and may be run again. */
export function isRetryable(thrown: unknown): boolean {
  const state = sqlState(thrown);
  return state === "40001" || state === "40P01";
}

/** Turns what the driver threw into an error of the table. `where` names the database without its password. */
export function toStoreError(thrown: unknown, where: string): Error {
  if (isVerbatimError(thrown)) return thrown;
  const state = sqlState(thrown);
  const parts = { where, cause: thrown, ...(state === null ? {} : { details: { sqlstate: state } }) };
  // What the server did not say comes from the socket: refused, reset, timed out, closed.
  if (state === null) return new VerbatimError("STORE_UNAVAILABLE", { ...parts, message: reason(thrown) });
  switch (codeOf(state)) {
    case "STORE_REFUSED":
      return new VerbatimError("STORE_REFUSED", { ...parts, message: reason(thrown) });
    case "STORE_UNAVAILABLE":
      return new VerbatimError("STORE_UNAVAILABLE", { ...parts, message: reason(thrown) });
    case "READER_WROTE":
      return new VerbatimError("INTERNAL", { ...parts, message: "a reader of the store tried to write" });
    case "INTERNAL":
      return new VerbatimError("INTERNAL", { ...parts, message: "the database refused a statement" });
    case "DISK_FULL":
      return new VerbatimError("DISK_FULL", parts);
    case "STORE_BUSY":
      return new VerbatimError("STORE_BUSY", parts);
    case "STORE_TEXT_INVALID":
      return new VerbatimError("STORE_TEXT_INVALID", parts);
    case "STORE_CORRUPT":
      return new VerbatimError("STORE_CORRUPT", parts);
  }
}

type Meaning =
  | "STORE_REFUSED"
  | "STORE_UNAVAILABLE"
  | "STORE_BUSY"
  | "STORE_CORRUPT"
  | "STORE_TEXT_INVALID"
  | "DISK_FULL"
  | "READER_WROTE"
  | "INTERNAL";

const BY_STATE: Readonly<Record<string, Meaning>> = {
  "25006": "READER_WROTE",
  "22021": "STORE_TEXT_INVALID",
  "40001": "STORE_BUSY",
  "40P01": "STORE_BUSY",
  "42501": "STORE_REFUSED",
  "53100": "DISK_FULL",
  "53300": "STORE_UNAVAILABLE",
  "55P03": "STORE_BUSY",
  "57014": "STORE_BUSY",
};

const BY_CLASS: Readonly<Record<string, Meaning>> = {
  "08": "STORE_UNAVAILABLE",
  "23": "STORE_REFUSED",
  "25": "STORE_UNAVAILABLE",
  "28": "STORE_UNAVAILABLE",
  "3D": "STORE_UNAVAILABLE",
  "57": "STORE_UNAVAILABLE",
  XX: "STORE_CORRUPT",
};

function codeOf(state: string): Meaning {
  return BY_STATE[state] ?? BY_CLASS[state.slice(0, 2)] ?? "INTERNAL";
}

function reason(thrown: unknown): string {
  return thrown instanceof Error && thrown.message !== "" ? thrown.message : "the connection failed";
}
