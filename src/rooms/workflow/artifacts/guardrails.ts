import { type ArtifactFinding, sortedByLine, toVerdict, type Verdict } from "./finding.ts";
import { MOST_ITERATIONS, parsePosint, readLines, trimBlankEnd } from "./text.ts";

export const GUARDRAILS_FILE = "artifacts/guardrails.md";

/** The values of artifacts/guardrails.md (Artifact Contracts A). */
export interface Guardrails {
  readonly find_mode: "resolver_only" | "resolver_plus_web";
  readonly max_files: number;
  readonly max_total_bytes: number;
  readonly max_iterations: number;
  readonly allow_domains?: readonly string[];
  readonly max_queries?: number;
  readonly max_pages?: number;
}

const ALWAYS = ["find_mode", "max_files", "max_total_bytes", "max_iterations"] as const;
const WEB = ["allow_domains", "max_queries", "max_pages"] as const;
const KEYS: readonly string[] = [...ALWAYS, ...WEB];
const KEY_LINE = /^[ \t]*([A-Za-z][A-Za-z0-9_]*)[ \t]*:[ \t]*(.*)$/s;
const LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

interface Entry {
  readonly value: string;
  readonly line: number;
  /** Lines on which the key is repeated. */
  readonly again: number[];
}

/**
 * Judges guardrails.md: simple key lines, everything else is prose.
 *
 * @example
 * validateGuardrails("").value; // => null
 */
export function validateGuardrails(bytes: Uint8Array | string, file = GUARDRAILS_FILE): Verdict<Guardrails> {
  const { lines, error } = readLines(bytes, file);
  if (error !== null) return toVerdict<Guardrails>([error], [], null);
  const entries = readEntries(lines);
  const errors: ArtifactFinding[] = [];
  const values: Record<string, unknown> = {};
  const web = entries.get("find_mode")?.value === "resolver_plus_web";
  for (const key of web ? KEYS : ALWAYS) {
    const entry = entries.get(key);
    if (entry === undefined) errors.push(missing(key, lines, file));
    else {
      const value = parseValue(key, entry.value);
      if (value === null) errors.push(invalid(key, entry, file));
      values[key] = value;
      for (const line of entry.again) errors.push(duplicate(key, line, file));
    }
  }
  // A verdict hands its value out only where every key was read.
  return toVerdict(sortedByLine(errors, KEYS), [], values as unknown as Guardrails);
}

function readEntries(lines: readonly string[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [i, text] of lines.entries()) {
    const match = KEY_LINE.exec(trimBlankEnd(text));
    const key = match?.[1]?.toLowerCase();
    if (key === undefined || !KEYS.includes(key)) continue;
    const first = entries.get(key);
    if (first === undefined) entries.set(key, { value: match![2]!, line: i + 1, again: [] });
    else first.again.push(i + 1);
  }
  return entries;
}

function parseValue(key: string, value: string): unknown {
  switch (key) {
    case "find_mode":
      return value === "resolver_only" || value === "resolver_plus_web" ? value : null;
    case "allow_domains":
      return parseDomains(value);
    case "max_iterations": {
      const count = parsePosint(value);
      return count !== null && count <= MOST_ITERATIONS ? count : null;
    }
    default:
      return parsePosint(value);
  }
}

function parseDomains(value: string): string[] | null {
  const domains = value
    .split(/[,; \t]+/)
    .filter((domain) => domain !== "")
    .map((domain) => domain.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
  return domains.length > 0 && domains.every((domain) => DOMAIN.test(domain)) ? domains : null;
}

const EXPECTED: Readonly<Record<string, string>> = {
  find_mode: "resolver_only or resolver_plus_web",
  allow_domains: "host names separated by commas, without scheme, path, port or *",
  max_iterations: "an integer from 1 to 100",
};

function expected(key: string): string {
  return EXPECTED[key] ?? "an integer of at least 1";
}

function missing(key: string, lines: readonly string[], file: string): ArtifactFinding {
  const bullet = lines.findIndex((line) => new RegExp(`^[ \\t]*[-*+][ \\t]+${key}[ \\t]*:`, "i").test(line));
  const hint = bullet === -1 ? "" : `; line ${bullet + 1} is a list item, which counts as prose here`;
  return {
    code: "GUARDRAILS_KEY_MISSING",
    file,
    line: null,
    key,
    message: `the key ${key} is missing${hint}`,
    fix: `Add a line "${key}: <value>" with ${expected(key)}.`,
  };
}

function invalid(key: string, entry: Entry, file: string): ArtifactFinding {
  return {
    code: "GUARDRAILS_VALUE_INVALID",
    file,
    line: entry.line,
    key,
    message: `${key} must be ${expected(key)}, not ${JSON.stringify(entry.value)}`,
    fix: "Write only the value on the line; nothing after it is ignored.",
  };
}

function duplicate(key: string, line: number, file: string): ArtifactFinding {
  return {
    code: "GUARDRAILS_KEY_DUPLICATE",
    file,
    line,
    key,
    message: `${key} is set twice; the first value is used`,
    fix: "Keep one of the two lines.",
  };
}
