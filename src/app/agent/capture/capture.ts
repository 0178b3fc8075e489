import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { compareCodePoints, encodeUtf8, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { compilePathPattern, isGitName, isUnder } from "../../../core/paths/index.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import type { Entry, ViewChanges } from "../../../rooms/catalytic/index.ts";
import {
  type AgentAttempt,
  type ChangedPaths,
  type ChangeSide,
  type FileChange,
  type FileSide,
  type PathThen,
  splitChanges,
} from "../../../rooms/workflow/index.ts";

/** A path that the agent changed and that no candidate carries. */
interface NotCarried {
  readonly path: string;
  readonly why:
    | "special_file"
    | "too_large"
    | "reserved"
    | "git_name"
    | "empty_folder"
    | "mode"
    | "filtered"
    | "left_out"
    | "setuid";
  /** Where its bytes are kept, if it is a file. */
  readonly sha256: string | null;
}

/** What an agent changed. */
export interface Captured {
  readonly changes: readonly FileChange[];
  readonly not_carried: readonly NotCarried[];
  /** New paths that the rules of the real tree ignore. */
  readonly ignored: number;
}

/** What is taken out of a view whose command is not trusted to have left the real tree alone. */
export const NOTHING_CAPTURED: Captured = { changes: [], not_carried: [], ignored: 0 };

interface CaptureRequest {
  readonly root: string;
  readonly changes: ViewChanges;
  /** Where the real tree was not as the tree of the run when the view began, and that tree was written into the view. */
  readonly frozen?: readonly Frozen[];
  /** Paths with everything below them, and patterns. */
  readonly leave_out: readonly string[];
  readonly content: ContentStore;
  readonly crypto: SyncCrypto;
  /** Bytes of a file as the tree of the run has it, for the case that the real one is not that any more. */
  readBase(path: string): Promise<Uint8Array | null>;
}

type Frozen = NonNullable<AgentAttempt["began"]>["frozen"][number];

interface Sides {
  readonly before: Entry | null;
  readonly after: Entry | null;
}

/** Turns what changed in a view into changes of files against the tree the run began with. Linear in the changed bytes. */
export async function captureChanges(git: ChangedPaths, request: CaptureRequest): Promise<Captured> {
  const { changes, root } = request;
  const isLeftOut = compileLeaveOut(request.leave_out);
  const files: FileChange[] = [];
  const every = await listChanges(git, request);
  // The view leaves out what was ignored and there; what the agent made again is held against the same rules.
  const added = [...changes.added].map(([path, { type }]) => (type === "dir" ? `${path}/` : path));
  const ignored = await git.listIgnored(root, [...added, ...changes.refused]);
  const refused = changes.refused.filter((path) => !ignored.has(path) && !isLeftOut(path));
  const not_carried: NotCarried[] = [
    ...refused.map((path): NotCarried => {
      return { path, why: changes.large.includes(path) ? "too_large" : "special_file", sha256: null };
    }),
    ...changes.reserved.map((path): NotCarried => ({ path, why: "reserved", sha256: null })),
  ];
  const all = every.filter(([path]) => !ignored.has(path) && !ignored.has(`${path}/`));
  const folders = listFilledFolders(all);
  // git keeps other bytes of them than the tree shows, so neither a patch nor a merge between the two is right.
  const kept = all.filter(([, { before }]) => before?.type === "file").map(([path]) => path);
  const filtered = await git.listFiltered(root, kept);
  for (const [path, { before, after }] of all) {
    if (isLeftOut(path)) {
      if (after?.type !== "dir") not_carried.push({ path, why: "left_out", sha256: hashOf(after) });
      continue;
    }
    // git takes no such name into a tree, on any system. A repository inside the repository is one line.
    const names = path.split("/");
    const at = names.findIndex(isGitName);
    if (at !== -1) {
      const isWhole = at === names.length - 1 && after?.type !== "dir";
      const place = isWhole ? path : `${names.slice(0, at + 1).join("/")}/`;
      if (not_carried.every((one) => one.path !== place)) {
        not_carried.push({ path: place, why: "git_name", sha256: isWhole ? hashOf(after) : null });
      }
      continue;
    }
    const old = toMode(before);
    const mode = toMode(after);
    if (after?.type === "dir" && before === null && !folders.has(path)) {
      not_carried.push({ path, why: "empty_folder", sha256: null });
    }
    if (old === null && mode === null) continue;
    if (after?.type === "file" && hasSpecialBits(after) && !(before?.type === "file" && hasSpecialBits(before))) {
      not_carried.push({ path, why: "setuid", sha256: hashOf(after) });
      continue;
    }
    if (old === mode && sameContent(before, after)) {
      not_carried.push({ path, why: "mode", sha256: null });
      continue;
    }
    if (filtered.has(path)) {
      not_carried.push({ path, why: "filtered", sha256: hashOf(after) });
      continue;
    }
    files.push({
      path,
      before: before === null || old === null ? null : await toBefore(request, path, before, old),
      after: after === null || mode === null ? null : await toAfter(request, after, mode),
    });
  }
  not_carried.sort((a, b) => compareCodePoints(a.path, b.path));
  return { changes: files, not_carried, ignored: countFiles(ignored) };
}

/** The text part of a change in git's words; null where there is none. */
export async function formatText(
  git: ChangedPaths,
  place: { readonly root: string; readonly tree: string; readonly objects: string },
  changes: readonly FileChange[],
  content: ContentStore,
): Promise<Uint8Array | null> {
  const { text } = splitChanges(changes);
  if (text.length === 0) return null;
  const patch = await git.formatPatch({
    ...place,
    changes: text.map(({ path, before, after }) => ({
      path,
      before: before === null ? null : () => readBefore(place.root, path),
      after: after === null ? null : { mode: after.mode, hasNul: after.has_nul, read: () => content.get(after.sha256) },
    })),
  });
  return patch.text.length === 0 ? null : patch.text;
}

/** A name is a path with everything below it; one with a star or a question mark is a pattern. */
function compileLeaveOut(names: readonly string[]): (path: string) => boolean {
  const tests = names.map((name) => {
    const plain = name.replace(/\/+$/, "");
    if (!/[*?]/.test(name)) return (path: string) => isUnder(path, plain);
    const pattern = compilePathPattern(name, { fold: false });
    return (path: string) => pattern.matches(path) || isUnder(path, plain);
  });
  return (path) => tests.some((test) => test(path));
}

function hasSpecialBits({ mode }: { readonly mode: string }): boolean {
  return (Number.parseInt(mode, 8) & 0o6000) !== 0;
}

function countFiles(paths: ReadonlySet<string>): number {
  return [...paths].filter((path) => !path.endsWith("/")).length;
}

/**
 * What changed, by path. The view is compared with the real tree; where that was not as the tree of the run, it is the
 * latter that the change is held against.
 */
async function listChanges(
  git: ChangedPaths,
  { changes, frozen = [], root }: CaptureRequest,
): Promise<[string, Sides][]> {
  const all = new Map<string, Sides>();
  for (const [path, after] of changes.added) all.set(path, { before: null, after });
  for (const [path, before] of changes.removed) all.set(path, { before, after: null });
  for (const [path, { before, after }] of changes.changed) all.set(path, { before, after });
  const untouched = frozen.filter(({ path }) => !all.has(path)).map(({ path }) => path);
  // What the rules of the real tree ignore by now is in no view's changes: it stays as it was.
  const ignored = await git.listIgnored(root, untouched);
  for (const { path, base, real } of frozen) {
    if (ignored.has(path)) continue;
    const found = all.get(path);
    const [before, after] = [toEntry(base), found === undefined ? toEntry(real) : found.after];
    if (toMode(before) === toMode(after) && sameContent(before, after)) all.delete(path);
    else all.set(path, { before, after });
  }
  return sortedByCodePoint(all.keys()).map((path) => [path, all.get(path)!]);
}

function toEntry(then: PathThen): Entry | null {
  if (then === null) return null;
  const { mode, sha256, target } = then;
  if (mode === "120000") return { type: "symlink", target: target ?? "" };
  return { type: "file", mode: mode === "100755" ? "0755" : "0644", size: 0, sha256 };
}

/** Every folder above something that an agent left there. */
function listFilledFolders(all: readonly [string, Sides][]): ReadonlySet<string> {
  const filled = new Set<string>();
  for (const [path, { after }] of all) {
    if (after === null || after.type === "dir") continue;
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) filled.add(path.slice(0, at));
  }
  return filled;
}

function toMode(entry: Entry | null): ChangeSide["mode"] | null {
  if (entry === null || entry.type === "dir") return null;
  if (entry.type === "symlink") return "120000";
  // git looks at the owner's bit only.
  return (Number.parseInt(entry.mode, 8) & 0o100) === 0 ? "100644" : "100755";
}

function sameContent(before: Entry | null, after: Entry | null): boolean {
  if (before === null || after === null) return before === after;
  if (before?.type === "file" && after?.type === "file") return before.sha256 === after.sha256;
  return before?.type === "symlink" && after?.type === "symlink" && before.target === after.target;
}

function hashOf(entry: Entry | null): string | null {
  return entry?.type === "file" ? entry.sha256 : null;
}

/** A file that was moved, and that somebody has edited where it was: its bytes are those the tree of the run has there. */
async function keepMoved({ changes, content, crypto, readBase }: CaptureRequest, sha256: string): Promise<void> {
  const origin = [...changes.removed].find(([, entry]) => hashOf(entry) === sha256);
  const bytes = origin === undefined ? null : await readBase(origin[0]);
  if (bytes !== null && crypto.sha256(bytes) === sha256) await content.put(bytes);
}

async function toAfter(request: CaptureRequest, entry: Entry, mode: FileSide["mode"]): Promise<FileSide> {
  const { content, crypto } = request;
  if (entry.type === "symlink") {
    // The bytes of a link are its target; whoever lands it finds them like those of a file.
    const bytes = encodeUtf8(entry.target);
    await content.put(bytes);
    return { mode, sha256: crypto.sha256(bytes), bytes: bytes.length, has_nul: false, target: entry.target };
  }
  const sha256 = hashOf(entry)!;
  if (!(await content.has(sha256))) await keepMoved(request, sha256);
  const bytes = await content.get(sha256);
  return { mode, sha256, bytes: bytes.length, has_nul: bytes.includes(0) };
}

async function toBefore(
  { root, crypto, readBase }: CaptureRequest,
  path: string,
  entry: Entry,
  mode: FileSide["mode"],
): Promise<FileSide> {
  if (entry.type === "symlink") {
    const bytes = encodeUtf8(entry.target);
    return { mode, sha256: crypto.sha256(bytes), bytes: bytes.length, has_nul: false, target: entry.target };
  }
  const sha256 = hashOf(entry)!;
  const place = join(root, path);
  const isFile = lstatSync(place, { throwIfNoEntry: false })?.isFile() === true;
  const now = isFile ? readFileSync(place) : null;
  // The real tree is as it was when the agent began, unless somebody wrote there meanwhile.
  const bytes = now !== null && crypto.sha256(now) === sha256 ? now : await readBase(path);
  return { mode, sha256, bytes: bytes?.length ?? 0, has_nul: bytes?.includes(0) === true };
}

/** Only for paths the tree does not hold: what is inside submodules. */
function readBefore(root: string, path: string): ChangeSide {
  const place = join(root, path);
  const facts = lstatSync(place);
  if (facts.isSymbolicLink()) return { mode: "120000", bytes: encodeUtf8(readlinkSync(place)) };
  return { mode: (facts.mode & 0o100) === 0 ? "100644" : "100755", bytes: readFileSync(place) };
}
