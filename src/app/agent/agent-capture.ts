import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { compareCodePoints, encodeUtf8, sortedByCodePoint } from "../../core/canonical/index.ts";
import { isGitName, isUnder } from "../../core/paths/index.ts";
import type { ContentStore } from "../../core/ports.ts";
import type { Entry, ViewChanges } from "../../rooms/catalytic/index.ts";
import type { ChangedPaths, ChangeSide, LeftSide, PathChange } from "../../rooms/workflow/index.ts";

/** A path that the agent changed and that no patch can contain. */
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
    | "left_out";
  /** Where its bytes are kept, if it is a file. */
  readonly sha256: string | null;
}

interface CapturedFile {
  readonly path: string;
  readonly sha256: string | null;
  readonly mode: string | null;
  /** Nothing that git keeps was there before. */
  readonly isNew: boolean;
}

/** What an agent changed, as a patch. */
export interface Captured {
  readonly patch: Uint8Array;
  /** The part of the patch that can travel. */
  readonly text: Uint8Array;
  /** Changed paths of the patch with the hash they must have afterwards; null: gone. */
  readonly files: readonly CapturedFile[];
  /** Files with NUL bytes and links: they are in the patch so that the gate says no to them. */
  readonly binaries: readonly string[];
  readonly links: readonly string[];
  readonly not_carried: readonly NotCarried[];
  /** New paths that the rules of the real tree ignore. */
  readonly ignored: number;
}

/** What is taken out of a view whose command is not trusted to have left the real tree alone. */
export const NOTHING_CAPTURED: Captured = {
  patch: new Uint8Array(),
  text: new Uint8Array(),
  files: [],
  binaries: [],
  links: [],
  not_carried: [],
  ignored: 0,
};

interface CaptureRequest {
  readonly root: string;
  readonly tree: string;
  readonly objects: string;
  readonly changes: ViewChanges;
  readonly leave_out: readonly string[];
  readonly content: ContentStore;
}

interface Sides {
  readonly before: Entry | null;
  readonly after: Entry | null;
}

/** Turns what changed in a view into a patch against the tree the run began with. Linear in the changed bytes. */
export async function captureChanges(git: ChangedPaths, request: CaptureRequest): Promise<Captured> {
  const { changes, content, root } = request;
  const not_carried: NotCarried[] = [
    ...changes.refused.map((path): NotCarried => {
      return { path, why: changes.large.includes(path) ? "too_large" : "special_file", sha256: null };
    }),
    ...changes.reserved.map((path): NotCarried => ({ path, why: "reserved", sha256: null })),
  ];
  const files: CapturedFile[] = [];
  const binaries: string[] = [];
  const links: string[] = [];
  const changed: PathChange[] = [];
  const every = listChanges(changes);
  // The view leaves out what was ignored and there; what the agent made again is held against the same rules.
  const asked = [...changes.added].map(([path, { type }]) => (type === "dir" ? `${path}/` : path));
  const ignored = await git.listIgnored(root, asked);
  const all = every.filter(([path]) => !ignored.has(path) && !ignored.has(`${path}/`));
  const folders = listFilledFolders(all);
  // git keeps other bytes of them than the tree shows, so no patch between the two applies.
  const kept = all.filter(([, { before }]) => before?.type === "file").map(([path]) => path);
  const filtered = await git.listFiltered(root, kept);
  for (const [path, { before, after }] of all) {
    if (request.leave_out.some((one) => isUnder(path, one))) {
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
    if (old === mode && sameContent(before, after)) {
      not_carried.push({ path, why: "mode", sha256: null });
      continue;
    }
    if (filtered.has(path)) {
      not_carried.push({ path, why: "filtered", sha256: hashOf(after) });
      continue;
    }
    const side = after === null || mode === null ? null : await toLeftSide(after, mode, content);
    if (after?.type === "symlink") links.push(path);
    else if (side?.hasNul === true) binaries.push(path);
    changed.push({ path, before: old === null ? null : () => readBefore(root, path), after: side });
    files.push({ path, sha256: hashOf(after), mode, isNew: old === null });
  }
  const { text, rest } = await git.formatPatch({ ...request, changes: changed });
  not_carried.sort((a, b) => compareCodePoints(a.path, b.path));
  return {
    patch: Buffer.concat([text, rest]),
    text,
    files,
    binaries,
    links,
    not_carried,
    ignored: countFiles(ignored),
  };
}

function countFiles(paths: ReadonlySet<string>): number {
  return [...paths].filter((path) => !path.endsWith("/")).length;
}

function listChanges(changes: ViewChanges): [string, Sides][] {
  const all = new Map<string, Sides>();
  for (const [path, after] of changes.added) all.set(path, { before: null, after });
  for (const [path, before] of changes.removed) all.set(path, { before, after: null });
  for (const [path, { before, after }] of changes.changed) all.set(path, { before, after });
  return sortedByCodePoint(all.keys()).map((path) => [path, all.get(path)!]);
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
  if (before?.type === "file" && after?.type === "file") return before.sha256 === after.sha256;
  return before?.type === "symlink" && after?.type === "symlink" && before.target === after.target;
}

function hashOf(entry: Entry | null): string | null {
  return entry?.type === "file" ? entry.sha256 : null;
}

async function toLeftSide(entry: Entry, mode: LeftSide["mode"], content: ContentStore): Promise<LeftSide> {
  const read = async () => (entry.type === "symlink" ? encodeUtf8(entry.target) : content.get(hashOf(entry)!));
  return { mode, hasNul: entry.type === "file" && (await read()).includes(0), read };
}

/** Only for paths the tree does not hold: what is inside submodules. */
function readBefore(root: string, path: string): ChangeSide {
  const place = join(root, path);
  const facts = lstatSync(place);
  if (facts.isSymbolicLink()) return { mode: "120000", bytes: encodeUtf8(readlinkSync(place)) };
  return { mode: (facts.mode & 0o100) === 0 ? "100644" : "100755", bytes: readFileSync(place) };
}
