import type { ArtifactFinding } from "./finding.ts";
import { isBlank, trimBlankEnd, unquote } from "./text.ts";

/** The keys of PLAN.md in canonical order (Artifact Contracts F). */
export const PLAN_KEYS = [
  "Status",
  "Scope-Allow",
  "Scope-Deny",
  "Gates",
  "Stop",
  "Budgets",
  "Behaviors",
  "Results",
] as const;

export type PlanKey = (typeof PLAN_KEYS)[number];

/** One key of the header block with its inline value and its bullets. */
export interface PlanEntry {
  readonly key: PlanKey;
  readonly line: number;
  readonly value: string;
  readonly bullets: { readonly text: string; readonly line: number }[];
}

interface PlanHeader {
  readonly entries: ReadonlyMap<PlanKey, PlanEntry>;
  readonly errors: readonly ArtifactFinding[];
  readonly warnings: readonly ArtifactFinding[];
}

const KEY_LINE = /^ {0,3}([A-Za-z][A-Za-z0-9_-]*)[ \t]*:[ \t]*(.*)$/s;
// White space is ASCII in the artifacts: a no-break space is a character of an item like any other.
const BULLET = /^ {0,3}[-*+][ \t]+([^ \t\v\f\r].*)$/s;

/** The known key of a key line, in canonical spelling, or null. */
function knownKey(name: string): PlanKey | null {
  return PLAN_KEYS.find((key) => key.toLowerCase() === name.toLowerCase()) ?? null;
}

/** Reads the header block of a plan. What comes after it is body and never read. */
export function readPlanHeader(lines: readonly string[], file: string): PlanHeader {
  const entries = new Map<PlanKey, PlanEntry>();
  const errors: ArtifactFinding[] = [];
  let at = 0;
  while (at < lines.length && isPreamble(lines[at]!)) at++;
  let current: PlanEntry | "ignored" | null = null;
  let afterBlank = false;
  for (; at < lines.length; at++) {
    const text = trimBlankEnd(lines[at]!);
    if (isBlank(text)) {
      afterBlank = true;
      continue;
    }
    const keyLine = KEY_LINE.exec(text);
    if (keyLine !== null) {
      current = addKey(keyLine, at + 1, entries, errors, file);
    } else {
      const bullet = BULLET.exec(text);
      if (bullet === null || current === null || !takesBullet(current, afterBlank)) break;
      if (current !== "ignored") addBullet(current, bullet[1]!, at + 1, errors, file);
    }
    afterBlank = false;
  }
  return { entries, errors, warnings: findKeysInBody(lines, at, file) };
}

function isPreamble(line: string): boolean {
  return isBlank(line) || line.startsWith("#") || /^---[ \t]*$/.test(line);
}

function addKey(
  match: RegExpExecArray,
  line: number,
  entries: Map<PlanKey, PlanEntry>,
  errors: ArtifactFinding[],
  file: string,
): PlanEntry | "ignored" {
  const key = knownKey(match[1]!);
  if (key === null) return "ignored";
  if (entries.has(key)) {
    errors.push({
      code: "PLAN_KEY_DUPLICATE",
      file,
      line,
      key,
      message: `${key} is set twice; the first one is used, at line ${entries.get(key)!.line}`,
      fix: "Keep one of the two.",
    });
    return "ignored";
  }
  const entry: PlanEntry = { key, line, value: match[2]!, bullets: [] };
  entries.set(key, entry);
  return entry;
}

/** Whether a bullet below a key still belongs to the header block. */
function takesBullet(current: PlanEntry | "ignored", afterBlank: boolean): boolean {
  if (current === "ignored") return !afterBlank;
  if (current.value === "") return current.key !== "Status";
  return !afterBlank;
}

function addBullet(entry: PlanEntry, text: string, line: number, errors: ArtifactFinding[], file: string): void {
  if (entry.value === "") {
    entry.bullets.push({ text: unquote(text), line });
    return;
  }
  errors.push({
    code: "PLAN_LIST_AMBIGUOUS",
    file,
    line,
    key: entry.key,
    message: `${entry.key} has both a value on its line and bullets below it`,
    fix: "Write the list in one place only.",
  });
}

function findKeysInBody(lines: readonly string[], from: number, file: string): ArtifactFinding[] {
  const warnings: ArtifactFinding[] = [];
  for (let at = from; at < lines.length; at++) {
    const match = KEY_LINE.exec(trimBlankEnd(lines[at]!));
    const key = match === null ? null : knownKey(match[1]!);
    if (key === null) continue;
    warnings.push({
      code: "PLAN_KEY_IN_BODY",
      file,
      line: at + 1,
      key,
      message: `${key} is below the header block and is not read`,
      fix: "Move it into the block at the top, or reword the line.",
    });
  }
  return warnings;
}
