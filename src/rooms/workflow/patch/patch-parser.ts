import { foldCase } from "../../../core/paths/index.ts";
import { PatchLines } from "./patch-lines.ts";
import { type Platform, readBodyName } from "./patch-names.ts";
import {
  ExtendedLines,
  type HeaderNames,
  type PatchOperation,
  type PatchSection,
  readHeaderOperands,
} from "./patch-section.ts";
import { refuseParse, refusePolicy } from "./rejection.ts";
import { LINES_A_TURN, runWhole, type Turns } from "./turns.ts";

const HUNK = /^@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(?: .*)?$/s;
const NO_NEWLINE = "\\ No newline at end of file";
const HEADER = "diff --git ";

/**
 * Parses a patch into its sections or refuses it at the first problem. Accepts a small part of what git accepts,
 * so that every name git would act on has been read. Cost: linear in the patch.
 */
export function parsePatch(bytes: Uint8Array, platform: Platform = "posix"): PatchSection[] {
  return runWhole(parsePatchInTurns(bytes, platform));
}

/** The same in turns: a patch may have millions of lines, and others wait meanwhile. */
export function* parsePatchInTurns(bytes: Uint8Array, platform: Platform): Turns<PatchSection[]> {
  const lines = yield* PatchLines.inTurns(bytes);
  checkFrame(lines);
  const sections: PatchSection[] = [];
  const changed = new Set<string>();
  let at = 0;
  while (at < lines.count) {
    const parser = new SectionParser(lines, at, platform);
    const section = yield* parser.parse();
    for (const path of changedPaths(section)) {
      if (changed.has(foldCase(path))) refuseParse("duplicate_path", section.line, path);
    }
    for (const path of changedPaths(section)) changed.add(foldCase(path));
    sections.push(section);
    at = skipToNext(lines, parser.end);
  }
  return sections;
}

/** The paths git changes for a section: both sides of a rename. */
export function changedPaths(section: PatchSection): string[] {
  return section.operation === "rename" ? [section.old_path, section.new_path] : [section.new_path];
}

function checkFrame(lines: PatchLines): void {
  const { bytes } = lines;
  if (bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))) refuseParse("empty_patch", 1);
  if (!lines.startsWith(0, HEADER)) refuseParse("bad_start", 1);
  const nul = bytes.indexOf(0);
  if (nul !== -1) refusePolicy("binary_payload", lines.lineOf(nul));
  if (bytes.at(-1) !== 0x0a) refuseParse("no_final_newline", lines.count);
}

function skipToNext(lines: PatchLines, end: number): number {
  let at = end;
  while (at < lines.count && lines.isEmpty(at)) at++;
  if (at >= lines.count || lines.startsWith(at, HEADER)) return at;
  if (lines.startsWith(at, "--- ") && lines.startsWith(at + 1, "+++ ")) refuseParse("headerless_section", at + 1);
  const first = lines.first(at);
  const hunkLike = first === 0x20 || first === 0x2b || first === 0x2d;
  return refuseParse(at === end && hunkLike ? "hunk_count" : "trailing_text", at + 1);
}

class SectionParser {
  /** Index of the first line after the section. */
  end: number;
  readonly #lines: PatchLines;
  readonly #platform: Platform;
  readonly #header: number;
  readonly #extended: ExtendedLines;

  constructor(lines: PatchLines, start: number, platform: Platform) {
    this.#lines = lines;
    this.#platform = platform;
    this.#header = start;
    this.end = start + 1;
    this.#extended = new ExtendedLines(platform);
  }

  *parse(): Turns<PatchSection> {
    const header = this.#lines.text(this.#header);
    if (header.endsWith("\r")) refuseParse("crlf_header", this.#header + 1);
    while (this.end < this.#lines.count && !this.#lines.isEmpty(this.end)) {
      if (this.#lines.startsWith(this.end, HEADER)) break;
      if (this.#lines.startsWith(this.end, "--- ")) break;
      if (!this.#extended.take(this.#lines.text(this.end), this.end + 1)) this.#refuseLine();
      this.end++;
    }
    const body = this.#lines.startsWith(this.end, "--- ") ? yield* this.#body() : null;
    return this.#judge(header.slice(HEADER.length), body);
  }

  #refuseLine(): never {
    const [lines, at] = [this.#lines, this.end];
    if (lines.startsWith(at, "GIT binary patch") || lines.startsWith(at, "Binary files ")) {
      refusePolicy("binary_payload", at + 1);
    }
    const pair = lines.startsWith(at, "+++ ") || lines.startsWith(at, "@@");
    return refuseParse(pair ? "missing_pair" : "unknown_header_line", at + 1);
  }

  *#body(): Turns<Body> {
    const oldLine = this.end + 1;
    const old = this.#name("--- ", "a/");
    if (!this.#lines.startsWith(this.end, "+++ ")) refuseParse("missing_pair", this.end + 1);
    const newLine = this.end + 1;
    const next = this.#name("+++ ", "b/");
    const hunks: { oldCount: number; newCount: number }[] = [];
    let [added, deleted] = [0, 0];
    do {
      const hunk = yield* this.#hunk();
      hunks.push(hunk);
      added += hunk.added;
      deleted += hunk.deleted;
    } while (this.#lines.startsWith(this.end, "@@"));
    return { old, new: next, oldLine, newLine, hunks, added, deleted };
  }

  #name(mark: string, prefix: "a/" | "b/"): string | null {
    const text = this.#lines.text(this.end);
    const line = this.end + 1;
    if (text.endsWith("\r")) refuseParse("crlf_header", line);
    this.end++;
    return readBodyName(text.slice(mark.length), prefix, line, this.#platform);
  }

  *#hunk(): Turns<{ oldCount: number; newCount: number; added: number; deleted: number }> {
    const line = this.end + 1;
    const match = this.end < this.#lines.count ? HUNK.exec(this.#lines.text(this.end)) : null;
    if (match === null) return refuseParse("bad_hunk_header", line);
    this.end++;
    const oldCount = Number(match[2] ?? 1);
    const newCount = Number(match[4] ?? 1);
    const { added, deleted } = yield* this.#hunkLines(oldCount, newCount, line);
    if (added + deleted === 0) refuseParse("empty_hunk", line);
    return { oldCount, newCount, added, deleted };
  }

  *#hunkLines(oldCount: number, newCount: number, header: number): Turns<{ added: number; deleted: number }> {
    const lines = this.#lines;
    let [old, next, added, deleted] = [oldCount, newCount, 0, 0];
    let markable = false;
    while (old > 0 || next > 0) {
      const at = this.end;
      if (at % LINES_A_TURN === 0) yield;
      if (at >= lines.count || lines.startsWith(at, HEADER) || lines.startsWith(at, "@@ ")) {
        refuseParse("hunk_count", header);
      }
      switch (lines.first(at)) {
        case -1:
        case 0x20:
          old--;
          next--;
          break;
        case 0x2d:
          old--;
          deleted++;
          break;
        case 0x2b:
          next--;
          added++;
          break;
        case 0x5c:
          if (!markable || lines.text(at) !== NO_NEWLINE) refuseParse("hunk_line", at + 1);
          break;
        default:
          refuseParse("hunk_line", at + 1);
      }
      markable = lines.first(at) !== 0x5c;
      if (old < 0 || next < 0) refuseParse("hunk_count", header);
      this.end++;
    }
    if (lines.first(this.end) === 0x5c && lines.text(this.end) === NO_NEWLINE) this.end++;
    return { added, deleted };
  }

  /** The consistency rules, in their order. */
  #judge(operands: string, body: Body | null): PatchSection {
    const line = this.#header + 1;
    const ext = this.#extended;
    this.#requirePairs();
    const operation = this.#operation(line);
    const [oldMode, newMode] = [ext.get("old mode"), ext.get("new mode")];
    if (oldMode !== null && oldMode === newMode) refuseParse("no_change", line);
    if (body !== null) checkDevNull(body, operation);
    const known = this.#knownNames(operation);
    if (known !== null && known.old === known.new) refuseParse("no_change", line);
    const names = readHeaderOperands(operands, line, known, body !== null, this.#platform);
    if (body !== null) checkBody(body, names, operation, line);
    if (body === null && operation === "modify" && oldMode === null) refuseParse("no_change", line);
    return {
      operation,
      old_path: names.old,
      new_path: names.new,
      old_mode: oldMode ?? ext.get("deleted file mode"),
      new_mode: newMode ?? ext.get("new file mode"),
      index_mode: ext.get("index") || null,
      added: body?.added ?? 0,
      deleted: body?.deleted ?? 0,
      line,
    };
  }

  #requirePairs(): void {
    const pairs = [
      ["old mode", "new mode"],
      ["copy from", "copy to"],
      ["rename from", "rename to"],
    ] as const;
    for (const [a, b] of pairs) {
      const [hasA, hasB] = [this.#extended.get(a) !== null, this.#extended.get(b) !== null];
      if (hasA !== hasB) refuseParse("missing_pair", this.#extended.line(hasA ? a : b));
    }
  }

  #operation(line: number): PatchOperation {
    const ext = this.#extended;
    const kinds: PatchOperation[] = [];
    if (ext.get("rename from") !== null) kinds.push("rename");
    if (ext.get("copy from") !== null) kinds.push("copy");
    if (ext.get("new file mode") !== null) kinds.push("create");
    if (ext.get("deleted file mode") !== null) kinds.push("delete");
    const fresh = kinds.includes("create") || kinds.includes("delete");
    if (kinds.length > 1 || (fresh && ext.get("old mode") !== null)) refuseParse("conflicting_operations", line);
    return kinds[0] ?? "modify";
  }

  #knownNames(operation: PatchOperation): HeaderNames | null {
    if (operation !== "rename" && operation !== "copy") return null;
    return { old: this.#extended.get(`${operation} from`)!, new: this.#extended.get(`${operation} to`)! };
  }
}

/** The part of a section from its `---` line on. */
interface Body {
  /** Null where the line says /dev/null. */
  readonly old: string | null;
  readonly new: string | null;
  readonly oldLine: number;
  readonly newLine: number;
  readonly hunks: readonly { readonly oldCount: number; readonly newCount: number }[];
  readonly added: number;
  readonly deleted: number;
}

/** /dev/null stands exactly where a file is made or goes away. */
function checkDevNull(body: Body, operation: PatchOperation): void {
  if ((body.old === null) !== (operation === "create")) refuseParse("dev_null", body.oldLine);
  if ((body.new === null) !== (operation === "delete")) refuseParse("dev_null", body.newLine);
}

/** The names are those of the header, and a file that is made or goes away is so in one piece. */
function checkBody(body: Body, names: HeaderNames, operation: PatchOperation, line: number): void {
  if (body.old !== null && body.old !== names.old) refuseParse("name_mismatch", body.oldLine);
  if (body.new !== null && body.new !== names.new) refuseParse("name_mismatch", body.newLine);
  const [first, second] = body.hunks;
  const whole = second === undefined;
  if (operation === "create" && (!whole || first!.oldCount !== 0)) refuseParse("hunk_count", line);
  if (operation === "delete" && (!whole || first!.newCount !== 0)) refuseParse("hunk_count", line);
}
