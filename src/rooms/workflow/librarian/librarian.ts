import { isJsonObject, type JsonValue, sortedByCodePoint, utf8Length } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { cutLines, toLines } from "../../../core/text/index.ts";
import {
  CONTEXT_PACK_VERSION,
  type ContextPack,
  type OmitReason,
  type OmittedRow,
  type PackFile,
} from "../artifacts/context-pack.ts";
import type { FileRequest } from "../artifacts/file-request.ts";
import type { FileText, RepoReader } from "../ports.ts";
import { findDenial, normalizePath, type ReadRules, readLineRanges, readNeedPath } from "./need.ts";

/** One document that every pack begins with. */
interface MandatoryDoc {
  readonly path: string;
  readonly required: boolean;
}

/**
 * `fail`: no pack. `skip`: as if it were not required, for direct runs without requested files, whose pack no model reads.
 * `list`: an omitted row, for packs outside a run where nobody chose the documents.
 */
type MissingDocs = "fail" | "skip" | "list";

export interface LibrarianRules extends ReadRules {
  readonly mandatory_docs: readonly MandatoryDoc[];
  readonly max_snippet_file_bytes: number;
  /** What a required document that does not exist means: no pack (Artifact Contracts B.1, if nothing is said). */
  readonly missing_docs?: MissingDocs;
}

/**
 * Builds the context pack of a valid request (Artifact Contracts B.1, B.2). Reads only what is asked for, each file
 * once, and never scans a folder; the same repository, rules and request give the same pack.
 */
export function buildPack(
  request: FileRequest,
  repoSlug: string,
  rules: LibrarianRules,
  repo: RepoReader,
): ContextPack {
  const pack = new PackBuilder(request, rules, repo);
  pack.addMandatory();
  for (const [i, need] of request.needs.entries()) pack.addNeed(need, i);
  return {
    schema_version: CONTEXT_PACK_VERSION,
    goal: request.goal,
    repo_slug: repoSlug,
    summary: pack.summary(),
    files: pack.files,
    omitted: pack.omitted,
  };
}

class PackBuilder {
  readonly files: PackFile[] = [];
  readonly omitted: OmittedRow[] = [];
  readonly #request: FileRequest;
  readonly #rules: LibrarianRules;
  readonly #repo: RepoReader;
  readonly #why: string;
  /** Paths in `files`, and whether their text is complete. */
  readonly #included = new Map<string, boolean>();
  readonly #rows = new Set<string>();
  #bytes = 0;

  constructor(request: FileRequest, rules: LibrarianRules, repo: RepoReader) {
    this.#request = request;
    this.#rules = rules;
    this.#repo = repo;
    this.#why = `requested:${toReason(request.reason)}`;
  }

  addMandatory(): void {
    const missing: { readonly path: string; readonly detail: string }[] = [];
    // Named twice, a document stands where it is named first and is required if either says so.
    const docs = new Map<string, boolean>();
    for (const { path, required } of this.#rules.mandatory_docs) docs.set(path, required || docs.get(path) === true);
    for (const [path, required] of docs) {
      const normal = normalizePath(path);
      if ("reason" in normal || normal.path !== path) throw configInvalid(path);
      const found = this.#look(path);
      const content = "reason" in found ? found : readOrLeave(found, null);
      if (!("reason" in content)) {
        this.#add({ path, why: "mandatory_contract", content: content.text }, content.bytes, true);
      } else if (required && !this.#toleratesMissing(content.detail)) missing.push({ path, detail: content.detail });
      else if (content.detail !== "missing" || (required && this.#rules.missing_docs === "list"))
        this.#omit(path, content.reason, content.detail);
    }
    if (missing.length > 0) throw docsMissing(missing);
    const { max_files, max_total_bytes } = this.#request.budget;
    if (this.files.length > max_files || this.#bytes > max_total_bytes) {
      throw budgetTooSmall(this.files.length, this.#bytes, max_files, max_total_bytes);
    }
  }

  /** A document that exists and may not be read is never passed over where a pack is asked for. */
  #toleratesMissing(detail: string): boolean {
    const { missing_docs = "fail" } = this.#rules;
    return missing_docs === "skip" || (missing_docs === "list" && detail === "missing");
  }

  addNeed(need: JsonValue, index: number): void {
    const named = readNeedPath(need, index);
    const left = "reason" in named ? named : this.#take(named.path, isJsonObject(need) ? need : {});
    if (left !== null) this.#omit(named.path, left.reason, left.detail);
  }

  /** Adds what a path asks for, or says why it is left out. */
  #take(path: string, need: Need): LeftOut | null {
    const complete = this.#included.get(path);
    if (complete === true) return null;
    if (complete === false) return { reason: "invalid_request", detail: "duplicate_path" };
    return this.#addPlain(path, need) ? null : this.#addLooked(path, need);
  }

  /** Most needs are small plain files asked for in full: one that fits is read without a look at it first. */
  #addPlain(path: string, need: Need): boolean {
    const { max_files, max_total_bytes } = this.#request.budget;
    if (need["mode"] !== "full" || this.files.length >= max_files || findDenial(path, this.#rules) !== null)
      return false;
    const left = max_total_bytes - this.#bytes;
    const content = this.#repo.readPlain(path, left + 4);
    if (content === null || content.bytes > left) return false;
    this.#add({ path, why: this.#why, content: content.text }, content.bytes, true);
    return true;
  }

  #addLooked(path: string, need: Need): LeftOut | null {
    const found = this.#look(path);
    return "reason" in found ? found : this.#addContent(path, need, found);
  }

  #addContent(path: string, need: Need, found: Found): LeftOut | null {
    const mode = Object.hasOwn(need, "mode") ? need["mode"] : undefined;
    if (mode !== "full" && mode !== "snippets") return { reason: "invalid_request", detail: "mode" };
    const given = Object.hasOwn(need, "line_ranges") ? need["line_ranges"] : undefined;
    const ranges = mode === "full" ? null : readLineRanges(given);
    if (mode === "snippets") {
      if (ranges === null) return { reason: "invalid_request", detail: "line_ranges" };
      if (found.size === 0) return { reason: "invalid_request", detail: "empty_file" };
      if (found.size > this.#rules.max_snippet_file_bytes) return { reason: "too_large", detail: "max_file_bytes" };
    }
    if (this.files.length >= this.#request.budget.max_files) return { reason: "budget_exceeded", detail: "max_files" };
    const left = this.#request.budget.max_total_bytes - this.#bytes;
    return ranges === null ? this.#addFull(path, found, left) : this.#addSnippets(path, found, ranges, left);
  }

  #addFull(path: string, found: Found, left: number): LeftOut | null {
    // Four bytes more than fit are enough to see every character that could still fit.
    const content = readOrLeave(found, left + 4);
    if ("reason" in content) return content;
    if (content.complete && content.bytes <= left) {
      this.#add({ path, why: this.#why, content: content.text }, content.bytes, true);
      return null;
    }
    const prefix = cutToBytes(content.text, left);
    if (prefix.text === "") return TOO_MANY_BYTES;
    this.#add({ path, why: this.#why, content: prefix.text, truncated: true }, prefix.bytes, false);
    return null;
  }

  #addSnippets(path: string, found: Found, ranges: LineRanges, left: number): LeftOut | null {
    const read = readOrLeave(found, null);
    if ("reason" in read) return read;
    const whole = read.text;
    // The file may have been emptied since it was looked at.
    if (whole === "") return { reason: "invalid_request", detail: "empty_file" };
    const content = cutSnippets(whole, ranges);
    const bytes = priceOf(content);
    if (bytes > left) return TOO_MANY_BYTES;
    this.#add({ path, why: this.#why, content }, bytes, false);
    return null;
  }

  /** Rules e to j: what may be read at a path, or why not. */
  #look(path: string): Found | LeftOut {
    const denied = findDenial(path, this.#rules);
    if (denied !== null) return { reason: "denied", detail: denied };
    const found = this.#repo.look(path);
    if (found.state !== "found") return LEFT_OUT[found.state];
    const real = found.real === path ? null : findDenial(found.real, this.#rules);
    if (real !== null) return { reason: "denied", detail: real };
    return found.regular ? found : { reason: "not_found", detail: "not_regular_file" };
  }

  #add(file: PackFile, bytes: number, complete: boolean): void {
    this.files.push(file);
    this.#included.set(file.path, complete);
    this.#bytes += bytes;
  }

  #omit(path: string, reason: OmitReason, detail: string): void {
    const key = `${reason}\n${detail}\n${path}`;
    if (this.#rows.has(key)) return;
    this.#rows.add(key);
    this.omitted.push({ path, reason, detail });
  }

  summary(): string {
    const { max_files, max_total_bytes } = this.#request.budget;
    const counts = new Map<string, number>();
    for (const { reason } of this.omitted) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    const reasons = sortedByCodePoint(counts.keys()).map((reason) => `${reason}:${counts.get(reason)}`);
    return (
      `included=${this.files.length} omitted=${this.omitted.length} used_files=${this.files.length}/${max_files} ` +
      `used_bytes=${this.#bytes}/${max_total_bytes}; omitted_by_reason=${reasons.join(",") || "none"}`
    );
  }
}

interface LeftOut {
  readonly reason: OmitReason;
  readonly detail: string;
}

type Need = { readonly [key: string]: JsonValue };
type LineRanges = readonly (readonly [number, number])[];

const TOO_MANY_BYTES: LeftOut = { reason: "budget_exceeded", detail: "max_total_bytes" };

const LEFT_OUT: Readonly<Record<"missing" | "unreadable" | "outside", LeftOut>> = {
  missing: { reason: "not_found", detail: "missing" },
  unreadable: { reason: "denied", detail: "unreadable" },
  outside: { reason: "denied", detail: "outside_repo" },
};

/** Reads a file that was looked at; it may be gone by now. */
function readOrLeave(found: Found, most: number | null): FileText | LeftOut {
  const read = found.read(most);
  return typeof read === "string" ? LEFT_OUT[read] : read;
}

type Found = Extract<ReturnType<RepoReader["look"]>, { readonly state: "found" }>;

/** The reason of a request as provenance text: one line, at most 200 characters. */
function toReason(reason: string): string {
  const line = reason.replace(/[\x00-\x20\x7f]+/g, " ").replace(/^ | $/g, "");
  return [...line].slice(0, 200).join("");
}

function docsMissing(missing: readonly { readonly path: string; readonly detail: string }[]): VerbatimError {
  const list = missing.map(({ path, detail }) => `${path} (${detail})`).join(", ");
  return new VerbatimError("MANDATORY_DOC_MISSING", {
    message: `mandatory documents cannot be used: ${list}`,
    details: { missing },
  });
}

function budgetTooSmall(files: number, bytes: number, maxFiles: number, maxBytes: number): VerbatimError {
  return new VerbatimError("BUDGET_TOO_SMALL", {
    message: `increase budget: max_files >= ${files}, max_total_bytes >= ${bytes} (given: ${maxFiles}, ${maxBytes})`,
    details: { needs_max_files: files, needs_max_total_bytes: bytes, max_files: maxFiles, max_total_bytes: maxBytes },
  });
}

function configInvalid(path: string): VerbatimError {
  return new VerbatimError("CONFIG_INVALID", {
    message: `workflow.mandatory_docs: ${JSON.stringify(path)} is not a normalised path inside the repository`,
    where: "verbatim.config.json",
  });
}

/** The longest prefix of whole code points that costs at most `most` bytes of UTF-8. */
function cutToBytes(text: string, most: number): { readonly text: string; readonly bytes: number } {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const point = text.codePointAt(end)!;
    const cost = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes + cost > most) break;
    bytes += cost;
    end += point < 0x10000 ? 1 : 2;
  }
  return { text: text.slice(0, end), bytes };
}

/** The blocks of the ranges in request order, joined by one LF; each ends before the LF that ends its last line. */
function cutSnippets(text: string, ranges: readonly (readonly [number, number])[]): string {
  const lines = toLines(text);
  const count = lines.starts.length - 1;
  const clamp = (line: number) => Math.min(Math.max(line, 1), count);
  return ranges
    .map(([first, last]) => {
      const block = cutLines(lines, clamp(first) - 1, clamp(last));
      return block.endsWith("\n") ? block.slice(0, -1) : block;
    })
    .join("\n");
}

/** What a text costs in a pack. */
function priceOf(text: string): number {
  return utf8Length(text);
}
