import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  locatePointers,
  parseJson,
} from "../../../core/canonical/index.ts";
import { isInteger, toPointer } from "../../../core/contracts/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { type ArtifactFinding, sortedByPointer, toVerdict, type Verdict } from "./finding.ts";
import { isBlankText } from "./text.ts";

const decoder = new TextDecoder();

/** Collects what is wrong with a JSON artifact while its fields are read. */
export class FieldCheck {
  readonly file: string;
  readonly errors: ArtifactFinding[] = [];
  readonly warnings: ArtifactFinding[] = [];

  constructor(file: string) {
    this.file = file;
  }

  add(code: string, at: string, message: string, more: { readonly item?: string; readonly fix?: string } = {}): void {
    const { item, fix = "Correct the field." } = more;
    this.errors.push({ code, file: this.file, line: null, at, message, fix, ...(item === undefined ? {} : { item }) });
  }

  warn(code: string, at: string, message: string): void {
    this.warnings.push({ code, file: this.file, line: null, at, message, fix: "Add it if you can." });
  }

  /** The value itself, when it is an object. */
  object(value: JsonValue | undefined, at: string): JsonObject | null {
    if (isJsonObject(value)) return value;
    this.add("FIELD_TYPE", at, "must be an object");
    return null;
  }

  /** A member, or undefined after FIELD_MISSING. */
  member(parent: JsonObject, at: string, key: string): JsonValue | undefined {
    if (Object.hasOwn(parent, key)) return parent[key];
    this.add("FIELD_MISSING", toPointer(at, key), "is missing", { fix: `Add ${JSON.stringify(key)}.` });
    return undefined;
  }

  memberObject(parent: JsonObject, at: string, key: string): JsonObject | null {
    const value = this.member(parent, at, key);
    return value === undefined ? null : this.object(value, toPointer(at, key));
  }

  memberArray(parent: JsonObject, at: string, key: string): readonly JsonValue[] | null {
    const value = this.member(parent, at, key);
    if (value === undefined) return null;
    if (Array.isArray(value)) return value as readonly JsonValue[];
    this.add("FIELD_TYPE", toPointer(at, key), "must be an array");
    return null;
  }

  memberText(parent: JsonObject, at: string, key: string, rule: "any" | "not blank" = "any"): string | null {
    const value = this.member(parent, at, key);
    if (value === undefined) return null;
    if (typeof value !== "string") {
      this.add("FIELD_TYPE", toPointer(at, key), "must be a string");
      return null;
    }
    if (rule === "not blank" && isBlankText(value)) {
      this.add("FIELD_VALUE", toPointer(at, key), "must not be blank");
      return null;
    }
    return value;
  }

  memberInteger(parent: JsonObject, at: string, key: string, least: number | null): number | null {
    const value = this.member(parent, at, key);
    if (value === undefined) return null;
    if (!isInteger(value)) {
      this.add("FIELD_TYPE", toPointer(at, key), "must be an integer");
      return null;
    }
    if (typeof value === "bigint" || (least !== null && value < least)) {
      this.add("FIELD_VALUE", toPointer(at, key), `must be from ${least ?? "-2^53"} to 2^53-1`);
      return null;
    }
    return value;
  }

  memberWord(parent: JsonObject, at: string, key: string, words: readonly string[]): string | null {
    const value = this.memberText(parent, at, key);
    if (value === null || words.includes(value)) return value;
    this.add("FIELD_VALUE", toPointer(at, key), `must be ${words.join(" or ")}`);
    return null;
  }

  schemaVersion(parent: JsonObject, version: string): void {
    const value = this.memberText(parent, "", "schema_version");
    if (value !== null && value !== version) {
      this.add("SCHEMA_VERSION", "/schema_version", `must be ${JSON.stringify(version)}`);
    }
  }

  verdict<T>(value: T | null): Verdict<T> {
    return toVerdict(sortedByPointer(this.errors), sortedByPointer(this.warnings), value);
  }
}

/** Reads a JSON artifact strictly and judges its value; findings get the line of their pointer. */
export function validateJson<T>(
  bytes: Uint8Array | string,
  file: string,
  judge: (value: JsonValue) => Verdict<T>,
): Verdict<T> {
  let value: JsonValue;
  try {
    value = parseJson(bytes, { file });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return toVerdict<T>([toJsonFinding(thrown.code, thrown.message, thrown.details ?? {}, bytes, file)], [], null);
  }
  const verdict = judge(value);
  if (verdict.errors.length === 0 && verdict.warnings.length === 0) return verdict;
  const text = typeof bytes === "string" ? bytes : decoder.decode(bytes);
  const findings = [...verdict.errors, ...verdict.warnings];
  const places = locatePointers(
    text,
    findings.map(({ at }) => at ?? ""),
  );
  const located = findings.map((finding, i) => ({ ...finding, line: places[i]!.line }));
  const count = verdict.errors.length;
  return { ...verdict, errors: located.slice(0, count), warnings: located.slice(count) };
}

/** What the strict parser says, as a finding: JSON_INVALID with the parser's own code. */
function toJsonFinding(
  jsonCode: string,
  message: string,
  details: Readonly<Record<string, unknown>>,
  bytes: Uint8Array | string,
  file: string,
): ArtifactFinding & { readonly json_code: string; readonly column: number } {
  const offset = typeof details["byte_offset"] === "number" ? details["byte_offset"] : 0;
  const line = typeof details["line"] === "number" ? details["line"] : countLines(bytes, offset);
  const column = typeof details["column"] === "number" ? details["column"] : 1;
  return {
    code: "JSON_INVALID",
    json_code: jsonCode,
    file,
    line,
    column,
    message: `${jsonCode}: ${message}`,
    fix: "Correct the JSON at the place shown.",
  };
}

function countLines(bytes: Uint8Array | string, offset: number): number {
  if (typeof bytes === "string") return 1;
  let line = 1;
  for (let i = 0; i < offset; i++) if (bytes[i] === 0x0a) line++;
  return line;
}

/** A JSON artifact as it is written: two spaces, keys in the given order, non-ASCII literal, one final line feed. */
export function formatArtifact(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
