import {
  decodeUtf8,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  sortedByCodePoint,
} from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { type ArtifactFinding, sortedByLine } from "./finding.ts";
import { isEventTime } from "./times.ts";

export const EVENTS_FILE = "events.jsonl";

/** One line of events.jsonl (Artifact Contracts J), extras included. */
export interface RunEvent {
  readonly ts: string;
  readonly role: string;
  readonly event: string;
  readonly path: string;
  readonly [extra: string]: unknown;
}

interface EventsResult {
  readonly ok: boolean;
  readonly count: number;
  readonly errors: readonly ArtifactFinding[];
  readonly warnings: readonly ArtifactFinding[];
}

const KEYS = ["ts", "role", "event", "path"] as const;

/**
 * Judges events.jsonl: every line, then the order of verify and bundle events.
 *
 * @example
 * validateEvents("{}\n").errors.length > 0; // => true
 */
export function validateEvents(bytes: Uint8Array | string, file = EVENTS_FILE): EventsResult {
  const errors: ArtifactFinding[] = [];
  const warnings: ArtifactFinding[] = [];
  const sequence = new VerifySequence(file, errors, warnings);
  let count = 0;
  const lines = splitLines(bytes);
  for (const [i, raw] of lines.complete.entries()) {
    const value = parseLine(raw);
    if (value === undefined) errors.push(lineError("EVENT_NOT_JSON", i + 1, file, "the line is not JSON"));
    else if (!isJsonObject(value))
      errors.push(lineError("EVENT_NOT_OBJECT", i + 1, file, "the line is not a JSON object"));
    else {
      count++;
      const problems = findEventProblems(value);
      for (const { code, key, message } of problems) errors.push({ ...lineError(code, i + 1, file, message), key });
      const { event } = value;
      if (typeof event === "string") sequence.add(event, i + 1);
    }
  }
  sequence.end();
  if (lines.torn) {
    const at = lines.complete.length + 1;
    warnings.push(lineError("EVENTS_TORN_TAIL", at, file, "the last line has no line feed; a write was interrupted"));
  }
  return { ok: errors.length === 0, count, errors: sortedByLine(errors, KEYS), warnings: sortedByLine(warnings, KEYS) };
}

/** The complete lines of a log as bytes, and whether something follows the last line feed. */
export function splitLines(bytes: Uint8Array | string): {
  readonly complete: (Uint8Array | string)[];
  readonly torn: boolean;
} {
  if (typeof bytes === "string") {
    const lines = bytes.split("\n");
    return { complete: lines.slice(0, -1), torn: lines.at(-1) !== "" };
  }
  const complete: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    complete.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { complete, torn: start < bytes.length };
}

function parseLine(raw: Uint8Array | string): JsonValue | undefined {
  const text = typeof raw === "string" ? raw : decodeUtf8(raw);
  // Most lines that are not JSON can be told by their first character, without the cost of an error.
  if (text === null || !/^[ \t\r]*(?:[{["tfn]|-?[0-9])/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}

/** What is wrong with one event, key by key. */
export function findEventProblems(
  event: JsonObject,
): { readonly code: string; readonly key: string; readonly message: string }[] {
  return KEYS.flatMap((key) => {
    if (!Object.hasOwn(event, key)) return [{ code: "EVENT_KEY_MISSING", key, message: `${key} is missing` }];
    const value = event[key];
    if (typeof value !== "string") return [{ code: "EVENT_KEY_TYPE", key, message: `${key} must be a string` }];
    if (key === "ts") {
      return isEventTime(value) ? [] : [{ code: "EVENT_TS_INVALID", key, message: "ts is not a UTC time" }];
    }
    return isEventValue(key, value) ? [] : [{ code: "EVENT_VALUE_INVALID", key, message: `${key} is malformed` }];
  });
}

function isEventValue(key: "role" | "event" | "path", value: string): boolean {
  if (key === "role") return /^[a-z][a-z_]*$/.test(value);
  if (key === "event") return /^[A-Z][A-Z0-9_]*$/.test(value);
  return value === "" || isRunPath(value);
}

/** A path below the run directory, in the one spelling it has. */
function isRunPath(path: string): boolean {
  if (/^[A-Za-z]:|[\\\x00-\x1f\x7f]/.test(path) || !path.isWellFormed()) return false;
  return path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}

function lineError(code: string, line: number, file: string, message: string): ArtifactFinding {
  return {
    code,
    file,
    line,
    message,
    fix: "Never edit the log by hand; verbatim workflow validate compares it with the ledger.",
  };
}

/** Start, result and bundle of a verification must follow each other. */
class VerifySequence {
  readonly #file: string;
  readonly #errors: ArtifactFinding[];
  readonly #warnings: ArtifactFinding[];
  #started: number | null = null;
  #unbundled: number | null = null;

  constructor(file: string, errors: ArtifactFinding[], warnings: ArtifactFinding[]) {
    this.#file = file;
    this.#errors = errors;
    this.#warnings = warnings;
  }

  add(event: string, line: number): void {
    switch (event) {
      case "VERIFY_STARTED":
        if (this.#started !== null) this.#wrong(line, `the verification of line ${this.#started} has not finished`);
        if (this.#unbundled !== null)
          this.#wrong(line, `no bundle was created after the failure in line ${this.#unbundled}`);
        this.#started = line;
        this.#unbundled = null;
        break;
      case "VERIFY_PASSED":
      case "VERIFY_FAILED":
        if (this.#started === null) this.#wrong(line, "no verification was started");
        this.#started = null;
        this.#unbundled = event === "VERIFY_FAILED" ? line : null;
        break;
      case "BUNDLE_CREATED":
        this.#unbundled = null;
        break;
      default:
    }
  }

  end(): void {
    const open = this.#started ?? this.#unbundled;
    if (open === null) return;
    const what = this.#started === null ? "has no bundle yet" : "has not finished";
    this.#warnings.push(lineError("EVENT_SEQUENCE_OPEN", open, this.#file, `the verification ${what}`));
  }

  #wrong(line: number, message: string): void {
    this.#errors.push(lineError("EVENT_SEQUENCE", line, this.#file, message));
  }
}

/** An event as its line: ts, role, event, path, then extras in sorted order. */
export function formatEvent(event: RunEvent): string {
  const { ts, role, event: name, path, ...extras } = event;
  const sorted = sortedByCodePoint(Object.keys(extras));
  return JSON.stringify({
    ts,
    role,
    event: name,
    path,
    ...Object.fromEntries(sorted.map((key) => [key, extras[key]])),
  });
}

/** An event as a line of TRACE.md. */
export function formatTraceLine(event: RunEvent): string {
  return `- ${event.ts} | ${event.role}: ${event.event} (${event.path})`;
}
