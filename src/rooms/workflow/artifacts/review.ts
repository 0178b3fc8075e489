import { type ArtifactFinding, sortedByLine } from "./finding.ts";
import { isBlank, readLines, trimBlankEnd } from "./text.ts";

export const REVIEW_CONTRACT_FILE = "reviews/review_contract.md";
export const REVIEW_COST_FILE = "reviews/review_cost.md";
const SECTIONS = ["Blocking Reasons", "Required Fix/Artifacts"] as const;
type Section = (typeof SECTIONS)[number];
const REQUIRED_FIX: Section = "Required Fix/Artifacts";

/** What a review decides, or why it decides nothing. */
export interface ReviewResult {
  readonly verdict: "APPROVE" | "BLOCK" | "INVALID" | "STALE";
  readonly errors: readonly ArtifactFinding[];
  /** The hash the review names, when it names one. */
  readonly draftSha256: string | null;
  readonly sections: Readonly<Record<Section, readonly string[]>>;
}

/** What RUN.json keeps of a review that was accepted. */
export interface ReviewRecord {
  readonly review_sha256: string;
  readonly draft_sha256: string;
  readonly reasons_sha256: string;
  readonly expected_results_sha256: string;
}

/** What a review is held against; null outside a run. */
export interface ReviewContext {
  readonly draft_sha256: string;
  readonly review_sha256?: string;
  readonly reasons_sha256?: string | null;
  readonly expected_results_sha256?: string | null;
  readonly record?: ReviewRecord | undefined;
}

const VERDICT_LIKE = /^[#*_> \t-]*verdict[*_ \t]*:/i;
const VERDICT = /^verdict:[ \t]*(approve|block)[ \t]*$/i;
const HASH = /^draft-sha256:[ \t]*([0-9a-f]{64})[ \t]*$/i;
const SECTION = /^#*[ \t]*(Blocking Reasons|Required Fix\/Artifacts)[ \t]*(?::[ \t]*(.*))?$/is;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const EMPTY_WORDS = new Set(["", "none", "n/a", "na", "nil", "nothing", "no", "-"]);

interface Read {
  readonly verdicts: { readonly word: "APPROVE" | "BLOCK"; readonly line: number }[];
  readonly unclear: number[];
  readonly hashes: { readonly hash: string; readonly line: number }[];
  readonly sections: Record<Section, string[]>;
  /** Sections whose line is there. */
  readonly present: Set<Section>;
}

/**
 * Judges a review. Outside a run it is held against Artifact Contracts G alone. In a run it must also say which draft it is
 * about, and nothing but a clear, current APPROVE counts as one; what an APPROVE still asks for may then be left out.
 *
 * @example
 * judgeReview("Looks good to me.\n", null, "review.md").verdict; // => "INVALID"
 */
export function judgeReview(bytes: Uint8Array | string, context: ReviewContext | null, file: string): ReviewResult {
  const { lines, error } = readLines(bytes, file);
  const empty = { "Blocking Reasons": [], "Required Fix/Artifacts": [] };
  if (error !== null) return { verdict: "INVALID", errors: [error], draftSha256: null, sections: empty };
  const read = readReview(lines);
  const errors = findErrors(read, context !== null, file);
  const draftSha256 = read.hashes[0]?.hash ?? null;
  const facts = { draftSha256, sections: read.sections };
  if (errors.length > 0) return { verdict: "INVALID", errors: sortedByLine(errors, SECTIONS), ...facts };
  const stale = context === null ? null : findStale(read.hashes[0]!, context, file);
  if (stale !== null) return { verdict: "STALE", errors: [stale], ...facts };
  return { verdict: read.verdicts[0]!.word, errors: [], ...facts };
}

function readReview(lines: readonly string[]): Read {
  const read: Read = {
    verdicts: [],
    unclear: [],
    hashes: [],
    sections: { "Blocking Reasons": [], "Required Fix/Artifacts": [] },
    present: new Set(),
  };
  let open: string[] | null = null;
  let some = false;
  for (const [i, text] of lines.entries()) {
    if (VERDICT_LIKE.test(text)) {
      const word = VERDICT.exec(text)?.[1]?.toUpperCase();
      if (word === undefined) read.unclear.push(i + 1);
      else read.verdicts.push({ word: word as "APPROVE" | "BLOCK", line: i + 1 });
      open = null;
      continue;
    }
    const hash = HASH.exec(text)?.[1];
    if (hash !== undefined) {
      read.hashes.push({ hash: hash.toLowerCase(), line: i + 1 });
      open = null;
      continue;
    }
    const section = SECTION.exec(trimBlankEnd(text));
    if (section !== null) {
      const name = SECTIONS.find((one) => one.toLowerCase() === section[1]!.toLowerCase())!;
      read.present.add(name);
      open = read.sections[name];
      some = section[2] !== undefined && section[2] !== "";
      if (some) open.push(section[2]!);
    } else if (open !== null) {
      if (HEADING.test(text) || (isBlank(text) && some)) open = null;
      else if (!isBlank(text)) {
        open.push(text);
        some = true;
      }
    }
  }
  return read;
}

function findErrors(read: Read, inRun: boolean, file: string): ArtifactFinding[] {
  const errors: ArtifactFinding[] = [];
  const add = (code: string, line: number | null, message: string, key?: string) =>
    errors.push({ code, file, line, ...(key === undefined ? {} : { key }), message, fix: FIX });
  for (const line of read.unclear) add("REVIEW_VERDICT_UNCLEAR", line, "the verdict must be just APPROVE or BLOCK");
  const [verdict] = read.verdicts;
  if (verdict === undefined && read.unclear.length === 0) {
    add("REVIEW_VERDICT_MISSING", null, "there is no line that starts with Verdict:");
  }
  const other = read.verdicts.find(({ word }) => word !== verdict?.word);
  if (other !== undefined) add("REVIEW_VERDICT_CONFLICT", other.line, "there are two different verdicts");
  const [hash] = read.hashes;
  if (hash === undefined && inRun)
    add("REVIEW_DRAFT_SHA_MISSING", null, "the review does not say which draft it is about");
  const differing = read.hashes.find((one) => one.hash !== hash?.hash);
  if (differing !== undefined) add("REVIEW_DRAFT_SHA_CONFLICT", differing.line, "there are two different draft hashes");
  if (verdict === undefined || other !== undefined || read.unclear.length > 0) return errors;
  for (const section of SECTIONS) {
    const real = read.sections[section].some(isRealContent);
    if (verdict.word === "BLOCK" && !real) {
      add("REVIEW_SECTION_MISSING", verdict.line, `a BLOCK must fill in ${section}`, section);
    }
    if (verdict.word === "APPROVE" && !inRun && section === REQUIRED_FIX && !read.present.has(section)) {
      add("REVIEW_SECTION_MISSING", verdict.line, `${section} must be present, even if it only says none`, section);
    }
    if (verdict.word === "APPROVE" && section === "Blocking Reasons" && real) {
      add("REVIEW_CONTRADICTS", verdict.line, "APPROVE, but there are blocking reasons", section);
    }
  }
  return errors;
}

const FIX = "Write Draft-SHA256, Verdict: APPROVE or BLOCK, Blocking Reasons and Required Fix/Artifacts.";

function isRealContent(line: string): boolean {
  const text = line.replace(/^[ \t\-*+>]+/, "");
  let end = text.length;
  while (end > 0 && " \t.".includes(text[end - 1]!)) end--;
  return !EMPTY_WORDS.has(text.slice(0, end).toLowerCase());
}

function findStale(
  hash: { readonly hash: string; readonly line: number },
  context: ReviewContext,
  file: string,
): ArtifactFinding | null {
  const { record } = context;
  const stale = (what: string): ArtifactFinding => ({
    code: "REVIEW_STALE",
    file,
    line: hash.line,
    message: `the review is about a different version of ${what}`,
    fix: "Review the current files again.",
  });
  if (hash.hash !== context.draft_sha256) return stale("PLAN_draft.md");
  if (record === undefined || record.review_sha256 !== context.review_sha256) return null;
  if (record.reasons_sha256 !== context.reasons_sha256) return stale("REASONS.md");
  return record.expected_results_sha256 === context.expected_results_sha256 ? null : stale("EXPECTED_RESULTS.md");
}
