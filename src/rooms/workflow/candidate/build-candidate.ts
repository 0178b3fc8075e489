import { compareCodePoints, hashCanonical, toCanonicalFile } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import {
  CANDIDATE_VERSION,
  CARRIED_VERSION,
  type Candidate,
  type CandidateFile,
  type CandidateNotice,
  type CandidatePick,
  type CarriedFile,
  candidateIdentity,
} from "../contracts/candidate.ts";
import { PatchRefused } from "../patch/rejection.ts";
import { type FileHunks, readHunks } from "./hunks.ts";

/** A file on one side of a change. */
export interface FileSide {
  readonly mode: "100644" | "100755" | "120000";
  readonly sha256: string;
  readonly bytes: number;
  /** Whether it holds a NUL byte, which no text patch carries. */
  readonly has_nul: boolean;
  /** Where a link leads. */
  readonly target?: string;
}

/** A path before and after; null: nothing is there. */
export interface FileChange {
  readonly path: string;
  readonly before: FileSide | null;
  readonly after: FileSide | null;
}

/** A change in its two parts: what a patch says, and what travels whole. */
export interface SplitChange {
  readonly text: readonly FileChange[];
  readonly carried: readonly CarriedFile[];
}

const LINK = "120000";

/**
 * Which paths a text patch carries and which travel whole. A file that becomes a link, or back, is a deletion and an
 * addition, of which each travels in its own way.
 */
export function splitChanges(changes: readonly FileChange[]): SplitChange {
  const text: FileChange[] = [];
  const carried: CarriedFile[] = [];
  for (const change of changes) {
    const { path, before, after } = change;
    if (isUnchanged(change)) continue;
    if (before !== null && after !== null && (before.mode === LINK) !== (after.mode === LINK)) {
      // Only the deletion of a text is a patch: one that creates a file where the base has a link applies nowhere.
      if (isText(before)) text.push({ path, before, after: null });
      carried.push(carry(path, isText(before) ? null : before, after));
    } else if ((before === null || isText(before)) && (after === null || isText(after))) text.push(change);
    else carried.push(carry(path, before, after));
  }
  const byPath = (a: { readonly path: string }, b: { readonly path: string }) => compareCodePoints(a.path, b.path);
  return { text: text.sort(byPath), carried: carried.sort(byPath) };
}

function isUnchanged({ before, after }: FileChange): boolean {
  return before?.sha256 === after?.sha256 && before?.mode === after?.mode;
}

function isText(side: FileSide): boolean {
  return side.mode !== LINK && !side.has_nul;
}

function carry(path: string, before: FileSide | null, after: FileSide | null): CarriedFile {
  const isLink = (after ?? before)?.mode === LINK;
  const isSame = before !== null && before.mode !== LINK && before.sha256 === after?.sha256;
  return {
    path,
    operation: before === null ? "create" : after === null ? "delete" : "modify",
    kind: isLink ? "link" : isSame ? "mode" : "binary",
    mode: after?.mode ?? null,
    sha256: after?.sha256 ?? null,
    bytes: after?.bytes ?? 0,
    ...(after?.target === undefined ? {} : { target: after.target }),
  };
}

export interface CandidateParts {
  readonly c: number;
  readonly kind: Candidate["kind"];
  readonly parent?: number;
  readonly attempt?: number;
  readonly base: Candidate["base"];
  /** The text part in git's words; null where there is none. */
  readonly patch: Uint8Array | null;
  readonly changes: readonly FileChange[];
  readonly notices: readonly CandidateNotice[];
  readonly picked?: readonly CandidatePick[];
}

/** A candidate with the bytes of carried.json, which are null where nothing is carried. */
export interface BuiltCandidate {
  readonly candidate: Candidate;
  readonly carried: Uint8Array | null;
}

/** Writes a change down as a candidate. Its hash follows from base, patch and carried files alone. */
export function buildCandidate(parts: CandidateParts, crypto: SyncCrypto): BuiltCandidate {
  const { base, patch, changes } = parts;
  const split = splitChanges(changes);
  const hunks = patch === null ? NO_HUNKS : readAcceptable(patch, crypto);
  const carried = split.carried.length === 0 ? null : formatCarried(split.carried);
  const patch_sha256 = patch === null ? null : crypto.sha256(patch);
  const carried_sha256 = carried === null ? null : crypto.sha256(carried);
  const before = new Map(changes.map((change) => [change.path, change.before]));
  const files: CandidateFile[] = [
    ...split.text.map((change) => toTextFile(change, hunks.get(change.path))),
    ...split.carried.map((file) => toCarriedFile(file, before.get(file.path))),
  ];
  const candidate: Candidate = {
    schema_version: CANDIDATE_VERSION,
    c: parts.c,
    kind: parts.kind,
    ...(parts.parent === undefined ? {} : { parent: parts.parent }),
    ...(parts.attempt === undefined ? {} : { attempt: parts.attempt }),
    base,
    patch_sha256,
    carried_sha256,
    sha256: hashCanonical(crypto, candidateIdentity({ tree: base.tree, patch_sha256, carried_sha256 })),
    // One path twice is a deletion and the addition after it.
    files: files.sort((a, b) => compareCodePoints(a.path, b.path) || rank(a) - rank(b)),
    notices: [...parts.notices],
    ...(parts.picked === undefined ? {} : { picked: [...parts.picked] }),
  };
  return { candidate, carried };
}

const NO_HUNKS: ReadonlyMap<string, FileHunks> = new Map();

/** A patch with a name that no patch may hold has no hunks to choose from; the gate says what is wrong with it. */
function readAcceptable(patch: Uint8Array, crypto: SyncCrypto): ReadonlyMap<string, FileHunks> {
  try {
    return readHunks(patch, crypto);
  } catch (thrown) {
    if (thrown instanceof PatchRefused) return NO_HUNKS;
    throw thrown;
  }
}

function rank({ operation }: CandidateFile): number {
  return operation === "delete" ? 0 : 1;
}

/** The bytes of carried.json, the same on every machine. */
function formatCarried(files: readonly CarriedFile[]): Uint8Array {
  return toCanonicalFile({ schema_version: CARRIED_VERSION, files });
}

/** carried.json says what is to be there; only candidate.json says how large it was. */
function toCarriedFile(file: CarriedFile, before: FileSide | null | undefined): CandidateFile {
  const old = file.kind === "binary" && before != null && before.mode !== LINK ? { old_bytes: before.bytes } : {};
  return { ...file, added: 0, deleted: 0, ...old };
}

function toTextFile({ path, before, after }: FileChange, found: FileHunks | undefined): CandidateFile {
  const operation = before === null ? "create" : after === null ? "delete" : "modify";
  return {
    path,
    operation,
    kind: operation === "modify" && before?.sha256 === after?.sha256 ? "mode" : "text",
    added: found?.section.added ?? 0,
    deleted: found?.section.deleted ?? 0,
    bytes: after?.bytes ?? 0,
    sha256: after?.sha256 ?? null,
    mode: after?.mode ?? null,
    hunks: (found?.hunks ?? []).map(({ facts }) => facts),
  };
}
