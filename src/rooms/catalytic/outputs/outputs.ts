import { compareCodePoints, formatCanonical, sortedByCodePoint } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { EMPTY_ROOT } from "../contracts/constants.ts";
import { isArtifactPlace, isInside } from "../declare/path-rules.ts";
import { type Entry, entryHash, merkleRoot, type OtherEntry } from "../tree/tree.ts";
import type { Violation } from "../verify/verdict.ts";

/** A line of OUTPUTS.json. */
export type OutputItem = { readonly path: string } & Entry;

/**
 * What the command left below the anchors: path -> entry for everything declared and everything added or changed,
 * null for what was removed. `not_utf8` names are shown with `\xHH`.
 */
export interface Staged {
  readonly entries: ReadonlyMap<string, Entry | OtherEntry | null>;
  readonly not_utf8?: ReadonlySet<string>;
  /** Declared outputs that were not read. */
  readonly too_large?: ReadonlySet<string>;
}

interface SealedOutputs {
  readonly violations: readonly Violation[];
  readonly outputs: readonly OutputItem[];
  readonly output_hashes: ReadonlyMap<string, string>;
  readonly outputs_root: string;
}

interface Declared {
  readonly path: string;
  readonly folder: boolean;
}

const MAX_LINKS = 40;

/**
 * Judges the staged outputs against the declared paths (CMP-01, Phase 3). With a violation nothing is an output.
 *
 * @example
 * const staged = { entries: new Map([["out/report.txt", null]]) };
 * sealOutputs(nodeCrypto, ["out/report.txt"], staged, ".verbatim/runs").violations.length; // => 1
 */
export function sealOutputs(
  crypto: SyncCrypto,
  durablePaths: readonly string[],
  staged: Staged,
  runsRoot: string,
  endedAsExpected = true,
): SealedOutputs {
  const declared = durablePaths.map(toDeclared);
  const violations: Violation[] = [];
  const report = (code: string, path: string) => void violations.push({ code, path });
  for (const one of declared) judgeDeclared(one, staged, endedAsExpected, report);
  for (const path of staged.entries.keys()) judgeStaged(path, staged, declared, runsRoot, report);
  violations.sort((a, b) => compareCodePoints(a.path, b.path) || compareCodePoints(a.code, b.code));
  if (violations.length > 0) {
    return { violations, outputs: [], output_hashes: new Map(), outputs_root: EMPTY_ROOT };
  }
  return { violations, ...listOutputs(crypto, declared, staged) };
}

/** A declared output: its path without the slash, and whether it is a folder. */
export function toDeclared(path: string): Declared {
  return path.endsWith("/") ? { path: path.slice(0, -1), folder: true } : { path, folder: false };
}

function judgeDeclared(
  one: Declared,
  staged: Staged,
  ended: boolean,
  report: (code: string, path: string) => void,
): void {
  const entry = staged.entries.get(one.path) ?? null;
  if (entry === null) {
    if (ended) report("OUTPUT_MISSING", one.path);
  } else if (staged.too_large?.has(one.path) === true) report("OUTPUT_TOO_LARGE", one.path);
  else if (entry.type === "symlink") report("OUTPUT_IS_SYMLINK", one.path);
  else if (entry.type === "other") report("OUTPUT_SPECIAL_FILE", one.path);
  else if ((entry.type === "dir") !== one.folder) report("OUTPUT_TYPE_MISMATCH", one.path);
}

function judgeStaged(
  path: string,
  staged: Staged,
  declared: readonly Declared[],
  runsRoot: string,
  report: (code: string, path: string) => void,
): void {
  const entry = staged.entries.get(path) ?? null;
  const owner = declared.find((one) => isInside(path, one.path));
  if (entry !== null && isArtifactPlace(path, runsRoot)) report("OUTPUT_RESERVED", path);
  if (owner === undefined) {
    const above = entry?.type === "dir" && declared.some((one) => isInside(one.path, path));
    if (!above) report("OUTPUT_UNDECLARED", path);
    return;
  }
  if (path === owner.path || entry === null) return;
  if (staged.not_utf8?.has(path) === true) report("OUTPUT_NAME_NOT_UTF8", path);
  else if (entry.type === "other") report("OUTPUT_SPECIAL_FILE", path);
  else if (entry.type === "symlink" && leavesFolder(path, entry.target, owner.path, staged)) {
    report("OUTPUT_SYMLINK_ESCAPES", path);
  }
}

/** Whether a link, followed step by step through the staged links, ever leaves the folder or never ends. */
function leavesFolder(path: string, target: string, folder: string, staged: Staged): boolean {
  let links = 1;
  const done = path
    .slice(folder.length + 1)
    .split("/")
    .slice(0, -1);
  const todo = target.split("/").reverse();
  if (target.startsWith("/")) return true;
  while (todo.length > 0) {
    const name = todo.pop()!;
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (done.length === 0) return true;
      done.pop();
      continue;
    }
    done.push(name);
    const entry = staged.entries.get(`${folder}/${done.join("/")}`);
    if (entry?.type !== "symlink") continue;
    if (entry.target.startsWith("/") || ++links > MAX_LINKS) return true;
    done.pop();
    todo.push(...entry.target.split("/").reverse());
  }
  return false;
}

function listOutputs(
  crypto: SyncCrypto,
  declared: readonly Declared[],
  staged: Staged,
): Omit<SealedOutputs, "violations"> {
  const outputs: OutputItem[] = [];
  for (const path of sortedByCodePoint(staged.entries.keys())) {
    const entry = staged.entries.get(path) ?? null;
    if (entry === null || entry.type === "other" || !declared.some((one) => isInside(path, one.path))) continue;
    outputs.push({ path, ...entry });
  }
  return { outputs, ...hashOutputs(crypto, outputs) };
}

/** OUTPUT_HASHES and outputs_root, which follow from OUTPUTS. */
export function hashOutputs(
  crypto: SyncCrypto,
  outputs: readonly OutputItem[],
): { readonly output_hashes: ReadonlyMap<string, string>; readonly outputs_root: string } {
  const hashes = new Map<string, string>();
  const entries = new Map<string, string>();
  for (const { path, ...entry } of outputs) {
    const hash = contentHash(crypto, entry as Entry);
    if (hash !== null) hashes.set(path, hash);
    entries.set(path, entryHash(crypto, entry as Entry));
  }
  return { output_hashes: hashes, outputs_root: merkleRoot(crypto, entries) };
}

/** What stands for the content of an entry in a list of hashes; folders have none. */
export function contentHash(crypto: SyncCrypto, entry: Entry): string | null {
  if (entry.type === "file") return entry.sha256;
  return entry.type === "symlink" ? crypto.sha256(`symlink:${entry.target}`) : null;
}

/** OUTPUTS.json without its line feed. */
export function formatOutputs(outputs: readonly OutputItem[]): string {
  return formatCanonical(outputs);
}
