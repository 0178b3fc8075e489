import { compareCodePoints } from "../../../core/canonical/index.ts";
import { foldCase, isUnder } from "../../../core/paths/index.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import type { FileChange, FileSide } from "../candidate/build-candidate.ts";
import type { CandidateFile } from "../contracts/candidate.ts";
import type { LandedFile } from "../contracts/landing.ts";
import type { BaseTree, LandingFiles, TextMerge, TreeFiles } from "../ports.ts";

/** What landing needs from outside to decide. */
export interface PlanPorts {
  readonly files: Pick<LandingFiles, "look" | "names" | "below">;
  readonly trees: TreeFiles;
  readonly merge: TextMerge;
  readonly content: Pick<ContentStore, "get" | "put">;
  readonly crypto: SyncCrypto;
}

/** A file or a link by what it is; its bytes are in the content store, or in the tree. */
interface Image {
  readonly mode: FileSide["mode"];
  readonly sha256: string;
}

/** The image that is in the working tree. A link has no permissions of its own. */
export interface FoundImage extends Image {
  readonly permissions: number | null;
  readonly bytes: number;
  readonly has_nul: boolean;
}

/** What landing will do to one path. */
export interface PlannedFile extends LandedFile {
  /** Null: nothing is there now. */
  readonly pre: FoundImage | null;
  /** What is to be there afterwards; null: nothing. For a conflict what is there now. */
  readonly post: (Image & Pick<FileSide, "bytes" | "has_nul" | "target">) | null;
  /** Of a conflict between lines: both versions between markers, for whoever settles it. */
  readonly marked?: Image;
}

export interface LandingPlan {
  readonly files: readonly PlannedFile[];
}

interface LoadedImage extends Image {
  read(): Promise<Uint8Array>;
}

interface Sides {
  readonly path: string;
  readonly base: LoadedImage | null;
  readonly now: (FoundImage & LoadedImage) | null;
  readonly candidate: LoadedImage | null;
}

/** What a candidate wants of a path. */
export type WantedFile = Pick<CandidateFile, "path" | "mode" | "sha256">;

/**
 * What becomes of each path of a candidate on the tree as it is now. Nothing is written but the results of merges, and
 * those only to the content store. A path that the candidate does not name is not looked at.
 */
export async function planLanding(
  ports: PlanPorts,
  base: BaseTree,
  candidate: readonly WantedFile[],
): Promise<LandingPlan> {
  const wanted = joinByPath(candidate);
  const paths = [...wanted.keys()].sort(compareCodePoints);
  const gone = paths.filter((path) => wanted.get(path) === null);
  const before = await ports.trees.find(base, paths);
  const files: PlannedFile[] = [];
  for (const path of paths) {
    const image = wanted.get(path) ?? null;
    const old = before.get(path);
    const found = look(ports, path);
    const obstacle = findObstacle(ports, path, image, old !== undefined, found, gone);
    if (obstacle !== null) {
      files.push({ path, how: "conflict", why: obstacle, ranges: [], pre: imageOf(found), post: imageOf(found) });
      continue;
    }
    const oldBytes = old === undefined ? null : await old.read();
    files.push(
      await decide(ports, {
        path,
        now: imageOf(found),
        base:
          oldBytes === null
            ? null
            : { mode: old!.mode, sha256: ports.crypto.sha256(oldBytes), read: async () => oldBytes },
        candidate: image === null ? null : { ...image, read: () => ports.content.get(image.sha256) },
      }),
    );
  }
  return { files: withoutOrphans(files) };
}

/** The last word of a candidate on each path: a deletion and an addition are what was added. */
function joinByPath(files: readonly WantedFile[]): Map<string, Image | null> {
  const joined = new Map<string, Image | null>();
  for (const { path, mode, sha256 } of files) {
    const image = mode === null || sha256 === null ? null : { mode, sha256 };
    if (image !== null || !joined.has(path)) joined.set(path, image);
  }
  return joined;
}

type Found = (FoundImage & LoadedImage) | "missing" | "folder" | "special" | "blocked";

function look({ files, crypto }: PlanPorts, path: string): Found {
  const entry = files.look(path);
  if (entry.kind !== "file" && entry.kind !== "link") return entry.kind;
  const { mode, bytes } = entry;
  return {
    mode,
    sha256: crypto.sha256(bytes),
    permissions: entry.kind === "file" ? entry.permissions : null,
    bytes: bytes.length,
    has_nul: bytes.includes(0),
    read: async () => bytes,
  };
}

function imageOf(found: Found): (FoundImage & LoadedImage) | null {
  return typeof found === "string" ? null : found;
}

/** What keeps a path from being a place where files can be compared at all. */
function findObstacle(
  { files }: PlanPorts,
  path: string,
  image: Image | null,
  hasBase: boolean,
  found: Found,
  gone: readonly string[],
): LandedFile["why"] | null {
  if (found === "special") return "not_a_file";
  if (found === "blocked") {
    // A file that the same candidate takes away makes room for a folder.
    const first = findBlocker(files, path);
    if (first === null || !gone.includes(first)) return image === null ? null : "in_the_way";
    return null;
  }
  if (found === "folder" && image !== null) {
    const left = files.below(path).files.filter((one) => !gone.includes(one));
    if (hasBase || left.length > 0) return "in_the_way";
  }
  return found === "missing" && image !== null && hasTwin(files, path, gone) ? "twin" : null;
}

/** The file on the way to a path; null when it is a link or something else. */
function findBlocker(files: PlanPorts["files"], path: string): string | null {
  const parts = path.split("/");
  for (let depth = 1; depth < parts.length; depth++) {
    const place = parts.slice(0, depth).join("/");
    const { kind } = files.look(place);
    if (kind === "file" || kind === "link") return place;
    if (kind !== "folder") return null;
  }
  return null;
}

/** Whether another spelling of a new name is there, which some file systems would take for the same file. */
function hasTwin(files: PlanPorts["files"], path: string, gone: readonly string[]): boolean {
  const parts = path.split("/");
  return parts.some((name, depth) => {
    const folder = parts.slice(0, depth).join("/");
    const names = files.names(folder);
    if (names.includes(name)) return false;
    return names.some((one) => {
      const place = folder === "" ? one : `${folder}/${one}`;
      if (foldCase(one) !== foldCase(name)) return false;
      if (files.look(place).kind !== "folder") return !gone.includes(place);
      return files.below(place).files.some((file) => !gone.includes(file));
    });
  });
}

async function decide(ports: PlanPorts, sides: Sides): Promise<PlannedFile> {
  const { path, base, now, candidate } = sides;
  const settled = (how: LandedFile["how"], post: PlannedFile["post"], ranges: LandedFile["ranges"] = []) => {
    return { path, how, ranges, pre: withoutRead(now), post };
  };
  if (isSame(now, candidate)) return settled("already", withoutRead(now));
  if (isSame(now, base)) return settled("as_is", await describe(candidate));
  const conflict = (why: NonNullable<LandedFile["why"]>, ranges: LandedFile["ranges"] = []): PlannedFile => {
    return { ...settled("conflict", withoutRead(now), ranges), why };
  };
  if (base === null) return conflict("both_created");
  if (now === null || candidate === null) return conflict("deleted_and_edited");
  if ([base, now, candidate].some(({ mode }) => mode === "120000")) return conflict("link");
  const mode = candidate.mode === base.mode ? now.mode : candidate.mode;
  // Only one side changed the bytes: what the other did to the mode goes with them.
  if (now.sha256 === base.sha256 || candidate.sha256 === base.sha256 || now.sha256 === candidate.sha256) {
    const bytes = candidate.sha256 === base.sha256 ? now : candidate;
    const post = await describe({ ...bytes, mode, read: bytes.read });
    if (bytes === now) await ports.content.put(await now.read());
    return settled("merged", post);
  }
  const texts = await Promise.all([now.read(), base.read(), candidate.read()]);
  if (texts.some((text) => text.includes(0))) return conflict("binary");
  const merge = await ports.merge.merge(...(texts as [Uint8Array, Uint8Array, Uint8Array]));
  if (merge.state === "conflict") {
    const met = conflict(
      "lines",
      merge.ranges.map((range) => ({ whose: "both" as const, ...range })),
    );
    return merge.marked === null ? met : { ...met, marked: { mode, sha256: await ports.content.put(merge.marked) } };
  }
  const sha256 = await ports.content.put(merge.bytes);
  const post = { mode, sha256, bytes: merge.bytes.length, has_nul: false };
  return settled("merged", post, [
    ...merge.yours.map((range) => ({ whose: "yours" as const, ...range })),
    ...merge.agent.map((range) => ({ whose: "agent" as const, ...range })),
  ]);
}

function isSame(a: Image | null, b: Image | null): boolean {
  return a === null || b === null ? a === b : a.mode === b.mode && a.sha256 === b.sha256;
}

function withoutRead(now: Sides["now"]): FoundImage | null {
  if (now === null) return null;
  const { mode, sha256, permissions, bytes, has_nul } = now;
  return { mode, sha256, permissions, bytes, has_nul };
}

async function describe(image: LoadedImage | null): Promise<PlannedFile["post"]> {
  if (image === null) return null;
  const bytes = await image.read();
  const post = { mode: image.mode, sha256: image.sha256, bytes: bytes.length, has_nul: bytes.includes(0) };
  return image.mode === "120000" ? { ...post, target: new TextDecoder().decode(bytes) } : post;
}

/** A file that stays where a folder is needed keeps everything below it from landing, and the other way round. */
function withoutOrphans(files: readonly PlannedFile[]): PlannedFile[] {
  const stays = files.filter(({ how, post }) => how === "conflict" && post !== null).map(({ path }) => path);
  return files.map((file) => {
    const isBlocked = stays.some(
      (path) => path !== file.path && (isUnder(file.path, path) || isUnder(path, file.path)),
    );
    if (!isBlocked || file.how === "conflict" || file.post === null) return file;
    return { ...file, how: "conflict", why: "in_the_way", ranges: [], post: file.pre };
  });
}

/** What a landing changes in the tree as it is now, for the candidate that is judged and verified before it lands. */
export function toLandingChanges(plan: LandingPlan): FileChange[] {
  return plan.files
    .filter(({ how }) => how === "as_is" || how === "merged")
    .map(({ path, pre, post }) => ({ path, before: toSide(pre), after: toSide(post) }));
}

function toSide(image: PlannedFile["post"]): FileSide | null {
  if (image === null) return null;
  const { mode, sha256, bytes, has_nul, target } = image;
  return { mode, sha256, bytes, has_nul, ...(target === undefined ? {} : { target }) };
}
