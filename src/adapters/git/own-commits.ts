import { lstatSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isPlainBelow, listGuarded, readGuarded } from "../disk/guarded/guarded-file.ts";
import { ObjectReader } from "./object-reader.ts";

const MOST_COMMITS = 10_000;
const MOST_REFS = 10_000;
const MOST_DEPTH = 16;
const SMALL = 64 * 1024;
const LARGE = 16 * 1024 * 1024;
const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * How many commits someone made in a copy of a repository: those its branches, tags and HEAD lead to that the real
 * repository does not hold and that were not fetched. Null when there are too many to count. The copy's `.git` is read
 * by this code alone and never by git, whose configuration there belongs to whoever worked in the copy.
 */
export function countOwnCommits(view: string, real: string): number | null {
  const own = join(view, ".git");
  if (!isFolder(own) || !isFolder(join(own, "objects"))) return 0;
  const known = listRealObjects(real).map((folder) => new ObjectReader(folder));
  const walk = new Walk(new ObjectReader(join(own, "objects")), (id) => known.some((one) => one.has(id)));
  const tips = listTips(own);
  const fetched = listFetched(own);
  if (tips === null || fetched === null) return null;
  // What was fetched is marked first, so that only the rest is counted.
  if (walk.visit(fetched) === null) return null;
  return walk.visit(tips);
}

class Walk {
  readonly #objects: ObjectReader;
  readonly #isKnown: (id: string) => boolean;
  readonly #seen = new Set<string>();

  constructor(objects: ObjectReader, isKnown: (id: string) => boolean) {
    this.#objects = objects;
    this.#isKnown = isKnown;
  }

  /** Commits that were not seen before and are not known elsewhere. */
  visit(tips: readonly string[]): number | null {
    let count = 0;
    const pending = [...tips];
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      if (this.#seen.has(id)) continue;
      if (this.#seen.size >= MOST_COMMITS + MOST_REFS) return null;
      this.#seen.add(id);
      if (this.#isKnown(id)) continue;
      const object = this.#objects.read(id);
      if (object?.type !== "commit" && object?.type !== "tag") continue;
      if (object.type === "commit" && ++count > MOST_COMMITS) return null;
      pending.push(...readLinks(object.bytes, object.type));
    }
    return count;
  }
}

/** The parents of a commit, or what a tag names. */
function readLinks(bytes: Buffer, type: "commit" | "tag"): string[] {
  const links: string[] = [];
  for (const line of bytes.toString("latin1").split("\n")) {
    const [word, id] = line.split(" ");
    if (word === (type === "commit" ? "parent" : "object") && ID.test(id ?? "")) links.push(id!);
    else if (word !== "tree") break;
  }
  return links;
}

/** Where HEAD, branches and tags stand; null when there are too many. */
function listTips(git: string): string[] | null {
  const tips = new Set<string>();
  const head = readGuarded(join(git, "HEAD"), SMALL)?.toString("latin1").trim() ?? "";
  if (ID.test(head)) tips.add(head);
  const packed = readGuarded(join(git, "packed-refs"), LARGE)?.toString("latin1") ?? "";
  for (const line of packed.split("\n")) {
    const [id = "", name = ""] = line.split(" ");
    if (ID.test(id) && isOwnRef(name)) tips.add(id);
  }
  const names = ["refs/heads", "refs/tags"].flatMap((folder) => listFiles(git, folder));
  if (names.length > MOST_REFS || tips.size > MOST_REFS) return null;
  for (const name of names) {
    const id = readGuarded(join(git, name), SMALL)?.toString("latin1").trim() ?? "";
    if (ID.test(id)) tips.add(id);
  }
  return [...tips];
}

function isOwnRef(name: string): boolean {
  return name.startsWith("refs/heads/") || name.startsWith("refs/tags/");
}

/** Commits that came from elsewhere, by the records git keeps of fetching; null when there are too many. */
function listFetched(git: string): string[] | null {
  const fetched = new Set<string>();
  const last = readGuarded(join(git, "FETCH_HEAD"), LARGE)?.toString("latin1") ?? "";
  for (const line of last.split("\n")) if (ID.test(line.split("\t")[0]!)) fetched.add(line.split("\t")[0]!);
  const logs = listFiles(git, "logs/refs/remotes");
  if (logs.length > MOST_REFS) return null;
  for (const name of logs) {
    const text = readGuarded(join(git, name), LARGE)?.toString("latin1") ?? "";
    for (const line of text.split("\n")) {
      const id = line.split(" ")[1] ?? "";
      if (ID.test(id) && /\t(?:fetch|pull|clone)\b/.test(line)) fetched.add(id);
      if (fetched.size > MOST_REFS) return null;
    }
  }
  return [...fetched];
}

/** Regular files below a folder, links never followed. */
function listFiles(git: string, folder: string, depth = 0): string[] {
  if (depth > MOST_DEPTH || !isPlainBelow(git, `${folder}/x`)) return [];
  const found: string[] = [];
  for (const name of listGuarded(join(git, folder), MOST_REFS + 1)) {
    const path = `${folder}/${name}`;
    const facts = lstatSync(join(git, path), { throwIfNoEntry: false });
    if (facts?.isFile() === true) found.push(path);
    else if (facts?.isDirectory() === true) found.push(...listFiles(git, path, depth + 1));
    if (found.length > MOST_REFS) break;
  }
  return found;
}

/** The object folders of the user's own repository, which may be a linked work tree or borrow from others. */
export function listRealObjects(root: string): string[] {
  let git = join(root, ".git");
  if (lstatSync(git, { throwIfNoEntry: false })?.isFile() === true) {
    git = resolve(
      root,
      readFileSync(git, "utf8")
        .replace(/^gitdir: /, "")
        .trim(),
    );
  }
  const common = readGuarded(join(git, "commondir"), SMALL)?.toString("utf8").trim();
  const folders = [join(common === undefined ? git : resolve(git, common), "objects")];
  for (const [i, folder] of folders.entries()) {
    if (i > MOST_DEPTH) break;
    const others = readGuarded(join(folder, "info", "alternates"), SMALL)?.toString("utf8") ?? "";
    for (const line of others.split("\n"))
      if (line !== "" && !line.startsWith("#")) folders.push(resolve(folder, line));
  }
  return folders;
}

function isFolder(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}
