import {
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { formatEntry, parseEntry, StreamVerifier } from "../../../core/ledger/index.ts";
import type { EntryRecord, SyncCrypto } from "../../../core/ports.ts";
import { decodeBase64 } from "../../../core/trust/base64.ts";

export const WORLD_FORMAT = "verbatim.world";

export interface FileOutcome {
  readonly request_id: string;
  readonly body_sha256: string;
  readonly outcome: string;
  readonly headers: string;
}

/** The parts of an exported world. */
export interface WorldFile {
  readonly header: JsonObject;
  /** Ancestors first. */
  readonly records: readonly EntryRecord[];
  readonly outcomes: readonly FileOutcome[];
  readonly blobs: readonly { readonly sha256: string; readonly base64: string }[];
  readonly manifest: JsonObject;
}

export interface FileFinding {
  readonly code: string;
  readonly where: string;
  readonly message: string;
  readonly fix: string;
}

const SECTIONS = ["record", "outcome", "blob"] as const;
type Section = (typeof SECTIONS)[number];

/** The lines of an exported world, each canonical JSON. The manifest vouches for every byte before it. */
export function formatWorldFile(crypto: SyncCrypto, file: Omit<WorldFile, "manifest">): string[] {
  const { before, manifest } = toLines(crypto, file);
  return [...before, formatCanonical(manifest)];
}

function toLines(
  crypto: SyncCrypto,
  file: Omit<WorldFile, "manifest">,
): { readonly before: readonly string[]; readonly manifest: JsonObject } {
  const lines: Record<Section, string[]> = {
    record: file.records.map((entry) => `{"entry":${formatEntry(entry)},"type":"record"}`),
    outcome: file.outcomes.map((outcome) => formatCanonical({ type: "outcome", ...outcome })),
    blob: file.blobs.map((blob) => formatCanonical({ type: "blob", ...blob })),
  };
  const before = [formatCanonical({ type: "header", ...file.header }), ...SECTIONS.flatMap((name) => lines[name])];
  const sections = Object.fromEntries(SECTIONS.map((name) => [name, summarize(crypto, lines[name])]));
  const manifest = {
    type: "manifest",
    sections,
    head_hash: file.records.at(-1)?.hash ?? null,
    file_sha256: crypto.sha256(before.map((line) => `${line}\n`).join("")),
  };
  return { before, manifest };
}

function summarize(crypto: SyncCrypto, lines: readonly string[]): JsonObject {
  return { count: lines.length, sha256: crypto.sha256(lines.map((line) => `${line}\n`).join("")) };
}

/** Reads the lines of an export; WORLD_FILE_MALFORMED lines are refused as IMPORT_FORMAT_UNKNOWN. */
export function readWorldFile(text: string): WorldFile {
  const lines = splitLines(text);
  const values = lines.map((line, i) => ({ value: readLine(line, i), number: i + 1 }));
  const [first] = values;
  const last = values.at(-1);
  if (first?.value["type"] !== "header" || first.value["format"] !== WORLD_FORMAT || first.value["version"] !== 1) {
    throw malformed(1, "the first line is not the header of an exported world");
  }
  if (last?.value["type"] !== "manifest") throw malformed(lines.length, "the last line is not a manifest");
  const records: EntryRecord[] = [];
  const outcomes: FileOutcome[] = [];
  const blobs: WorldFile["blobs"][number][] = [];
  for (const { value, number } of values.slice(1, -1)) {
    if (value["type"] === "record") records.push(readEntry(value["entry"], number));
    else if (value["type"] === "outcome") outcomes.push(readTexts(value, number, OUTCOME));
    else if (value["type"] === "blob") blobs.push(readTexts(value, number, BLOB));
    else throw malformed(number, "a line of an unknown type");
  }
  return { header: first.value, records, outcomes, blobs, manifest: last.value };
}

/** The lines of an export; the line feed at the end may be missing. */
export function splitLines(text: string): string[] {
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

/** The one part of a manifest that the lines before it do not decide. */
export function signatureOf({ signature = null }: JsonObject): JsonObject {
  return signature === null ? {} : { signature };
}

/** The object of a line, or IMPORT_FORMAT_UNKNOWN. */
export function readLine(line: string, index: number): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(line);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw malformed(index + 1, "a line that is not JSON");
  }
  if (!isJsonObject(value)) throw malformed(index + 1, "a line that is not a JSON object");
  return value;
}

const OUTCOME = ["request_id", "body_sha256", "outcome", "headers"] as const;
const BLOB = ["sha256", "base64"] as const;

function readTexts<N extends string>(
  value: JsonObject,
  line: number,
  names: readonly N[],
): JsonObject & Readonly<Record<N, string>> {
  const hasTexts = (object: JsonObject): object is JsonObject & Record<N, string> =>
    names.every((name) => typeof object[name] === "string");
  if (hasTexts(value) && Object.keys(value).length === names.length + 1) return value;
  throw malformed(line, `a line that does not have exactly ${names.join(", ")}`);
}

function readEntry(value: JsonValue | undefined, line: number): EntryRecord {
  try {
    return parseEntry(value ?? null);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw malformed(line, "a record that is not a ledger entry");
  }
}

/** The refusal of a line. */
export function malformed(line: number, message: string): VerbatimError {
  return new VerbatimError("IMPORT_FORMAT_UNKNOWN", { message: `line ${line}: ${message}`, where: `line ${line}` });
}

/** Everything wrong with an export: manifest, chains, payloads. No database and no network are needed. */
export function verifyWorldFile(crypto: SyncCrypto, text: string): { file: WorldFile | null; findings: FileFinding[] } {
  let file: WorldFile;
  try {
    file = readWorldFile(text);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const finding = { code: "WORLD_FILE_MALFORMED", where: thrown.where ?? "", message: thrown.message };
    return { file: null, findings: [{ ...finding, fix: "Export the world again." }] };
  }
  const findings: FileFinding[] = [];
  const lines = splitLines(text);
  const { type: _, ...header } = file.header;
  const { manifest } = toLines(crypto, { ...file, header });
  const again = formatCanonical({ ...manifest, ...signatureOf(file.manifest) });
  const body = lines
    .slice(0, -1)
    .map((line) => `${line}\n`)
    .join("");
  if (again !== lines.at(-1) || file.manifest["file_sha256"] !== crypto.sha256(body)) {
    const message = "the manifest does not match the lines before it";
    findings.push({
      code: "WORLD_FILE_HASH_MISMATCH",
      where: `line ${lines.length}`,
      message,
      fix: "Export the world again.",
    });
  }
  findings.push(...verifyChains(crypto, file.records), ...verifyBlobs(crypto, file.blobs));
  findings.push(...verifyOutcomes(crypto, file));
  return { file, findings };
}

/** Answers that a beat's record vouches for; a refresh has no record. */
function verifyOutcomes(crypto: SyncCrypto, { records, outcomes, header }: WorldFile): FileFinding[] {
  const own = records.at(-1)?.stream;
  const wrong = (where: string, message: string): FileFinding => {
    return { code: "WORLD_OUTCOME_MISMATCH", where, message, fix: "Export the world again." };
  };
  if (own !== `world/${String(header["world_id"])}`) {
    const message = "the header names a different world from the records";
    return [{ code: "WORLD_FILE_MALFORMED", where: "line 1", message, fix: "Export the world again." }];
  }
  const stored = new Map(outcomes.map((one) => [one.request_id, one]));
  return records.flatMap(({ stream, kind, body }, i) => {
    if (stream !== own || kind !== "WORLD_BEAT") return [];
    const { request_id, outcome_sha256 } = JSON.parse(body) as Record<string, unknown>;
    const outcome = stored.get(String(request_id))?.outcome;
    if (typeof outcome !== "string") return [wrong(`record ${i + 1}`, "the answer of a beat is missing")];
    if (crypto.sha256(outcome) === outcome_sha256) return [];
    return [wrong(`record ${i + 1}`, "the answer of a beat differs from its record")];
  });
}

function verifyChains(crypto: SyncCrypto, records: readonly EntryRecord[]): FileFinding[] {
  const streams = new Map<string, EntryRecord[]>();
  for (const record of records) {
    const known = streams.get(record.stream) ?? [];
    streams.set(record.stream, known);
    known.push(record);
  }
  return [...streams].flatMap(([stream, entries]) => {
    const verifier = new StreamVerifier(crypto, stream);
    const problem = verifier.acceptRecords(entries);
    if (problem === null) return [];
    const message = `expected ${problem.expected}, found ${problem.actual}`;
    return [{ code: problem.code, where: `${stream}@${problem.position}`, message, fix: "Export the world again." }];
  });
}

function verifyBlobs(crypto: SyncCrypto, blobs: WorldFile["blobs"]): FileFinding[] {
  return blobs.flatMap(({ sha256, base64 }, i) => {
    const bytes = decodeBase64(base64);
    if (bytes !== null && crypto.sha256(bytes) === sha256) return [];
    const message = "a payload does not match its hash";
    return [{ code: "WORLD_FILE_HASH_MISMATCH", where: `blob ${i + 1}`, message, fix: "Export the world again." }];
  });
}
