import { type ArtifactFinding, sortedByLine, toVerdict, type Verdict } from "./finding.ts";
import { Fences, isBlank, readLines, splitList, trimBlankEnd, unquote } from "./text.ts";

export const EXPECTED_RESULTS_FILE = "artifacts/EXPECTED_RESULTS.md";

/** One result (Artifact Contracts F.2). */
export interface ExpectedResult {
  readonly title: string;
  readonly acceptance: string;
  readonly evidence: readonly string[];
  readonly related_gates: readonly string[];
}

const FIELDS = ["Acceptance", "Evidence", "Related-Gates"] as const;
type Field = (typeof FIELDS)[number];

const ENTRY = /^(?:#{1,6}[ \t]+)?(R[0-9]{3})[ \t]*(?::[ \t]*(.*))?$/s;
const FIELD = /^[ \t]*(?:[-*+][ \t]+)?(Acceptance|Evidence|Related-Gates)[ \t]*:[ \t]*(.*)$/is;
const BULLET = /^[ \t]*[-*+][ \t]+([^ \t\v\f\r].*)$/s;
const INDENTED = /^(?: {2}|\t)/;

interface FieldValue {
  readonly line: number;
  readonly inline: string;
  readonly items: { readonly text: string; readonly line: number }[];
  more: string;
}

interface Entry {
  readonly id: string;
  readonly line: number;
  readonly title: string;
  readonly fields: Map<Field, FieldValue>;
}

class Reader {
  readonly entries: Entry[] = [];
  readonly errors: ArtifactFinding[] = [];
  readonly #file: string;
  #entry: Entry | null = null;
  /** The list that bullets still belong to. */
  #list: FieldValue | null = null;
  /** The acceptance that an indented line directly below continues. */
  #acceptance: FieldValue | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  read(text: string, line: number): void {
    const field = FIELD.exec(text);
    const entry = ENTRY.exec(text);
    if (field !== null) this.#field(field, line);
    else if (entry !== null) this.#start(entry, line);
    else if (this.#acceptance !== null && INDENTED.test(text) && !isBlank(text)) {
      this.#acceptance.more += ` ${text.trim()}`;
    } else this.#other(text, line);
  }

  #other(text: string, line: number): void {
    this.#acceptance = null;
    if (isBlank(text)) return;
    const bullet = BULLET.exec(text);
    if (bullet === null) this.#list = null;
    else this.#list?.items.push({ text: unquote(bullet[1]!), line });
  }

  #start(match: RegExpExecArray, line: number): void {
    const entry: Entry = { id: match[1]!, line, title: match[2] ?? "", fields: new Map() };
    this.#list = null;
    this.#acceptance = null;
    this.#entry = entry;
    if (this.entries.every(({ id }) => id !== entry.id)) this.entries.push(entry);
    else this.add("EXPECTED_DUPLICATE", line, entry.id, undefined, `${entry.id} appears twice`);
  }

  #field(match: RegExpExecArray, line: number): void {
    const name = FIELDS.find((field) => field.toLowerCase() === match[1]!.toLowerCase())!;
    const value: FieldValue = { line, inline: match[2]!, items: [], more: "" };
    this.#list = name !== "Acceptance" && value.inline === "" ? value : null;
    this.#acceptance = name === "Acceptance" ? value : null;
    if (this.#entry === null) {
      this.add("EXPECTED_FIELD_ORPHAN", line, name, undefined, `${name} appears before the first R### entry`);
    } else if (this.#entry.fields.has(name)) {
      this.add("EXPECTED_FIELD_DUPLICATE", line, name, undefined, `${name} appears twice`);
    } else this.#entry.fields.set(name, value);
  }

  add(code: string, line: number | null, key: string | undefined, item: string | undefined, message: string): void {
    this.errors.push({
      code,
      file: this.#file,
      line,
      ...(key === undefined ? {} : { key }),
      ...(item === undefined ? {} : { item }),
      message,
      fix: "Each R### entry needs Acceptance, Evidence and Related-Gates, once each.",
    });
  }
}

/**
 * Judges EXPECTED_RESULTS.md.
 *
 * @example
 * validateExpectedResults("").value; // => null
 */
export function validateExpectedResults(
  bytes: Uint8Array | string,
  file = EXPECTED_RESULTS_FILE,
): Verdict<Readonly<Record<string, ExpectedResult>>> {
  const { lines, error } = readLines(bytes, file);
  if (error !== null) return toVerdict<Record<string, ExpectedResult>>([error], [], null);
  const reader = new Reader(file);
  const fences = new Fences();
  for (const [i, text] of lines.entries()) if (!fences.covers(text)) reader.read(trimBlankEnd(text), i + 1);
  if (reader.entries.length === 0)
    reader.add("EXPECTED_EMPTY", null, undefined, undefined, "there are no R### entries");
  const results: Record<string, ExpectedResult> = {};
  for (const entry of reader.entries) results[entry.id] = toResult(entry, reader);
  const keys = [...FIELDS, ...reader.entries.map(({ id }) => id)];
  return toVerdict(sortedByLine(reader.errors, keys), [], results);
}

function toResult(entry: Entry, reader: Reader): ExpectedResult {
  const acceptance = entry.fields.get("Acceptance");
  const evidence = toItems(entry.fields.get("Evidence"));
  const gates = toItems(entry.fields.get("Related-Gates"));
  const text = acceptance === undefined ? "" : `${acceptance.inline}${acceptance.more}`.trim();
  const empty = { Acceptance: text === "", Evidence: evidence.length === 0, "Related-Gates": gates.length === 0 };
  for (const field of FIELDS) {
    if (empty[field]) {
      reader.add("EXPECTED_FIELD_MISSING", entry.line, entry.id, field, `${entry.id} has no ${field}`);
    }
  }
  for (const { text: path, line } of evidence) {
    if (/^(?:\/|[A-Za-z]:)|\\/.test(path) || path.split("/").includes("..")) {
      reader.add("EVIDENCE_PATH_INVALID", line, entry.id, path, `${JSON.stringify(path)} is not a relative path`);
    }
  }
  return {
    title: entry.title,
    acceptance: text,
    evidence: evidence.map((item) => item.text),
    related_gates: gates.map((item) => item.text),
  };
}

function toItems(field: FieldValue | undefined): { readonly text: string; readonly line: number }[] {
  if (field === undefined) return [];
  return field.inline === "" ? field.items : splitList(field.inline).map((text) => ({ text, line: field.line }));
}
