import { z } from "zod";
import { type FINDINGS, VerbatimError } from "../../../core/errors/index.ts";
import { AgentRecord, type Run } from "../../../rooms/workflow/index.ts";
import { hidesCharacters } from "../capture/hidden-characters.ts";
import { fileDiff, readDiff } from "./diff.ts";
import { sayFinding } from "./explain-gates.ts";

const { hunks, mode, ...whole } = fileDiff.shape;
const { text, parts, ...extent } = hunks.element.shape;

export const diffLine = z.strictObject({
  kind: z.enum(["context", "added", "deleted"]),
  text: z.string().describe("The line without its line feed. Bytes that are not UTF-8 are U+FFFD."),
  no_eol: z.boolean().describe("The file ends with this line, without a line feed."),
});

export const fileFinding = z.strictObject({
  code: z.string(),
  says: z.string(),
  line: z.int().nullable().describe("Line of the new file; null: the whole file."),
});

const changedFile = z.strictObject({
  ...whole,
  mode,
  findings: z
    .array(fileFinding)
    .describe("What the gate, the notices and a look at the characters say about the file."),
  hunks: z.array(
    z.strictObject({
      ...extent,
      heading: z
        .string()
        .nullable()
        .describe("The line that its part of the file begins with, such as that of a function; null: not known."),
      from: z.int().describe("How many lines of the hunk earlier pages had."),
      lines: z.array(diffLine),
    }),
  ),
});

export const agentDiff = z.strictObject({
  run_id: z.string(),
  candidate: z.int().nullable().describe("The number of the candidate; null: a run of an earlier version."),
  files: z.array(changedFile),
  next: z.string().nullable().describe("Where the next page begins, for after; null: this was the last one."),
});

type ChangedFile = z.infer<typeof changedFile>;
type Line = z.infer<typeof diffLine>;
type FileDiff = z.infer<typeof fileDiff>;

interface DiffRequest {
  readonly candidate?: number | undefined;
  readonly file?: string | undefined;
  readonly after?: string | undefined;
  /** Lines of a page. A file without lines counts as one. */
  readonly limit: number;
}

/** As much text as one page holds, however long its lines are. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** The change of a run in pages of lines, cut inside a hunk where one is longer than a page. */
export function readDiffPage(run: Run, request: DiffRequest): z.infer<typeof agentDiff> {
  const record = AgentRecord.load(run);
  const candidate = request.candidate ?? record?.now.candidate ?? null;
  if (request.candidate !== undefined && record?.candidate(request.candidate) == null) {
    throw new VerbatimError("SELECTION_INVALID", { message: `there is no candidate ${request.candidate}` });
  }
  const diffs = readDiff(run, request.file ?? null, record === null ? undefined : candidate);
  const findings = listFindings(record, candidate);
  const page = new Page(request.limit);
  const [firstFile, firstHunk, firstLine] = parseCursor(request.after);
  for (let f = firstFile; f < diffs.length; f++) {
    const diff = diffs[f]!;
    const file = page.begin(diff, findings.get(diff.path) ?? []);
    if (file === null) return page.end(run.id, candidate, `${f}.0.0`);
    for (let h = f === firstFile ? firstHunk : 0; h < diff.hunks.length; h++) {
      const from = f === firstFile && h === firstHunk ? firstLine : 0;
      const stopped = page.addHunk(file, diff.hunks[h]!, from);
      if (stopped !== null) return page.end(run.id, candidate, `${f}.${h}.${stopped}`);
    }
  }
  return page.end(run.id, candidate, null);
}

/** A page that is being filled: lines, and files without any, until it has enough of them. */
class Page {
  readonly #files: ChangedFile[] = [];
  #lines: number;
  #characters = MOST_CHARACTERS;

  constructor(limit: number) {
    this.#lines = limit;
  }

  /** The next file of the page; null: the page is full. */
  begin({ hunks: found, ...facts }: FileDiff, findings: ChangedFile["findings"]): ChangedFile | null {
    if (this.#lines <= 0 || this.#characters <= 0) return null;
    const file: ChangedFile = { ...facts, findings: [...findings, ...findHidden(facts.path, found)], hunks: [] };
    this.#files.push(file);
    if (found.length === 0) this.#lines--;
    return file;
  }

  /** Adds a hunk from one of its lines on; null: all of it, else the line the next page begins with. */
  addHunk(
    file: ChangedFile,
    { text: diff, parts: _, ...facts }: FileDiff["hunks"][number],
    from: number,
  ): number | null {
    const all = toLines(diff);
    const lines: Line[] = [];
    let at = from;
    while (at < all.length && this.#lines > 0 && this.#characters > 0) {
      const one = all[at++]!;
      lines.push(one);
      this.#lines--;
      this.#characters -= one.text.length;
    }
    if (lines.length > 0) file.hunks.push({ ...facts, heading: headingOf(diff), from, lines });
    return at < all.length ? at : null;
  }

  end(run_id: string, candidate: number | null, next: string | null): z.infer<typeof agentDiff> {
    return { run_id, candidate, files: this.#files, next };
  }
}

const LONGEST_HEADING = 200;

/** What git wrote behind the numbers of a hunk. */
export function headingOf(diff: string): string | null {
  const found = /^@@ [^@]*@@ (\S.*)/.exec(diff)?.[1]?.trimEnd() ?? "";
  return found === "" ? null : found.slice(0, LONGEST_HEADING);
}

const KINDS = { "+": "added", "-": "deleted" } as const;
const CUT = "\\";

/** The lines of a hunk as a unified diff has them, without its header. */
export function toLines(diff: string): Line[] {
  const [, ...marked] = diff.split("\n");
  if (marked.at(-1) === "") marked.pop();
  const lines: Line[] = [];
  for (const one of marked) {
    const mark = one[0] ?? " ";
    const last = lines.at(-1);
    if (mark === CUT && last !== undefined) lines[lines.length - 1] = { ...last, no_eol: true };
    else lines.push({ kind: isKind(mark) ? KINDS[mark] : "context", text: one.slice(1), no_eol: false });
  }
  return lines;
}

function isKind(mark: string): mark is keyof typeof KINDS {
  return Object.hasOwn(KINDS, mark);
}

const CURSOR = /^([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})$/;

function parseCursor(after: string | undefined): readonly [file: number, hunk: number, line: number] {
  if (after === undefined) return [0, 0, 0];
  const found = CURSOR.exec(after);
  if (found === null)
    throw new VerbatimError("INPUT_INVALID", { message: "not a place in the change", where: "/after" });
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** What is known against each file: findings of the gate, then notices. */
export function listFindings(
  record: AgentRecord | null,
  c: number | null,
): ReadonlyMap<string, ChangedFile["findings"]> {
  const found = new Map<string, ChangedFile["findings"]>();
  const add = (path: string, one: ChangedFile["findings"][number]) =>
    found.set(path, [...(found.get(path) ?? []), one]);
  if (record === null || c === null) return found;
  for (const finding of record.gate(c)?.findings ?? []) {
    if (finding.path !== null) add(finding.path, { code: finding.code, says: sayFinding(finding), line: finding.line });
  }
  for (const { path, rule, says } of record.candidate(c)?.notices ?? []) add(path, { code: rule, says, line: null });
  return found;
}

const HIDDEN = "HIDES_CHARACTERS" satisfies keyof (typeof FINDINGS)["workflow"];
const MOST_HIDDEN = 20;

/** Lines the change adds in which a reader does not see everything; a file name can hide something too. */
export function findHidden(path: string, found: FileDiff["hunks"]): ChangedFile["findings"] {
  const findings: ChangedFile["findings"] = [];
  const add = (says: string, at: number | null) => findings.push({ code: HIDDEN, says, line: at });
  if (hidesCharacters(path)) add("its name hides characters", null);
  for (const { text: diff, new_start } of found) {
    if (!hidesCharacters(diff.replaceAll("\r\n", "\n").replaceAll("\n", ""))) continue;
    let at = new_start;
    for (const one of toLines(diff)) {
      if (one.kind === "added" && hidesCharacters(one.text)) add("hides characters", at);
      if (one.kind !== "deleted") at++;
    }
  }
  return findings.slice(0, MOST_HIDDEN);
}
