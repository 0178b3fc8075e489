import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { relative, sep } from "node:path";
import { compareCodePoints, decodeUtf8, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import { type SourceProblem, STAT_FIELDS, type Walk, type WalkRules } from "../../../rooms/context/ports.ts";

// Control characters, DEL and backslash: names no address can carry.
const BAD_NAME = /[\u0000-\u001f\u007f\\]/;

/** Whether a name can be part of a path that people type. */
export function isBadName(name: string): boolean {
  return BAD_NAME.test(name);
}

/** A problem of reading; what the system did not say is thrown. */
export function unreadable(path: string, thrown: unknown): SourceProblem {
  if (errnoCode(thrown) === null) throw thrown;
  return { code: "SOURCE_UNREADABLE", file_path: path };
}

/** Facts of what is at a place, links not followed; null when nothing can be seen there. */
export function lookAt(place: string): Stats | null {
  try {
    return lstatSync(place);
  } catch (thrown) {
    if (errnoCode(thrown) === null) throw thrown;
    return null;
  }
}

/** Writes the facts of entry `i` of a list. */
export function putStat(stats: Float64Array, i: number, facts: Stats): void {
  const at = i * STAT_FIELDS;
  stats[at] = facts.size;
  stats[at + 1] = facts.mtimeMs;
  stats[at + 2] = facts.ctimeMs;
  stats[at + 3] = facts.ino;
  stats[at + 4] = facts.dev;
}

/** What a link leads to: a folder, a problem, or a file inside the root. */
type LinkTarget =
  | { readonly kind: "folder" }
  | { readonly kind: "problem"; readonly code: SourceProblem["code"] }
  | { readonly kind: "file"; readonly facts: Stats; readonly path: string };

/** Follows a link. Only what is inside the root is a file; a folder is a folder wherever it is. */
export function followLink(root: string, path: string): LinkTarget {
  const place = toPlace(root, path);
  try {
    const facts = statSync(place);
    if (facts.isDirectory()) return { kind: "folder" };
    const real = realpathSync(place);
    if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
      return { kind: "problem", code: "SOURCE_LINK_OUTSIDE" };
    if (!facts.isFile()) return { kind: "problem", code: "SOURCE_NOT_REGULAR" };
    return { kind: "file", facts, path: relative(root, real).split(sep).join("/") };
  } catch (thrown) {
    return { kind: "problem", code: unreadable(path, thrown).code };
  }
}

/** The place of a path below the root. */
export function toPlace(root: string, path: string): string {
  return path === "" ? root : `${root}/${path}`;
}

/** Walks a tree. Cost: one lstat and one readdir per folder that can matter, one lstat per selected file. */
export function walkSources(root: string, rules: WalkRules): Walk {
  const walker = new Walker(root, rules);
  // No prefix contains another, so their order with a slash at the end is the order of everything below them.
  const starts = sortedByCodePoint(rules.prefixes.map((prefix) => `${prefix}/`)).map((start) => start.slice(0, -1));
  for (const start of starts) if (rules.enters(start) && walker.reach(start)) walker.enter(start);
  return walker.result();
}

class Walker {
  readonly #root: string;
  readonly #rules: WalkRules;
  readonly #paths: string[] = [];
  #stats = new Float64Array(1024 * STAT_FIELDS);
  readonly #links = new Map<string, string>();
  readonly #skipped = new Set<string>();
  readonly #problems: SourceProblem[] = [];
  readonly #folders = new Map<string, Stats>();
  #linksMatter = false;

  constructor(root: string, rules: WalkRules) {
    this.#root = root;
    this.#rules = rules;
  }

  result(): Walk {
    return {
      paths: this.#paths,
      stats: this.#stats.slice(0, this.#paths.length * STAT_FIELDS),
      links: this.#links,
      skipped_links: sortedByCodePoint(this.#skipped),
      problems: this.#problems,
      folders: this.#linksMatter || this.#problems.length > 0 ? null : this.#listFolders(),
    };
  }

  #listFolders(): { paths: string[]; stats: Float64Array } {
    const stats = new Float64Array(this.#folders.size * STAT_FIELDS);
    let i = 0;
    for (const facts of this.#folders.values()) putStat(stats, i++, facts);
    return { paths: [...this.#folders.keys()], stats };
  }

  /** Whether a folder can be reached through real folders. What is on the way decides, so it is remembered too. */
  reach(folder: string): boolean {
    let path = "";
    for (const name of folder === "" ? [] : folder.split("/")) {
      if (!this.#note(path)) return false;
      path = path === "" ? name : `${path}/${name}`;
      const facts = lookAt(toPlace(this.#root, path));
      if (facts?.isSymbolicLink() === true) {
        this.#linksMatter = true;
        if (followLink(this.#root, path).kind === "folder") this.#skipped.add(path);
      }
      if (facts?.isDirectory() !== true) return false;
    }
    return true;
  }

  /** Remembers the facts of a folder before it is listed; false when it is gone. */
  #note(folder: string): boolean {
    if (this.#folders.has(folder)) return true;
    const facts = lookAt(toPlace(this.#root, folder));
    if (facts?.isDirectory() !== true) return false;
    this.#folders.set(folder, facts);
    return true;
  }

  enter(folder: string): void {
    if (!this.#note(folder)) {
      this.#problems.push({ code: "SOURCE_UNREADABLE", file_path: folder === "" ? "." : folder });
      return;
    }
    for (const entry of this.#list(folder)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!this.#rules.enters(path)) continue;
        if (isBadName(entry.name)) this.#problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
        else this.enter(path);
      } else if (entry.isSymbolicLink()) this.#addLink(path, entry.name);
      else if (this.#rules.matches(path)) this.#addFile(path, entry);
    }
  }

  /** Entries in the order of the paths below them: a folder's name counts with the slash that follows it. */
  #list(folder: string): Dirent[] {
    const place = toPlace(this.#root, folder);
    try {
      let entries = readdirSync(place, { withFileTypes: true });
      // A name that is not UTF-8 reads as U+FFFD; only then the bytes are looked at.
      if (entries.some(({ name }) => name.includes("\ufffd"))) entries = this.#refuseBadNames(folder, entries, place);
      return entries.sort((a, b) => compareCodePoints(toKey(a), toKey(b)));
    } catch (thrown) {
      this.#problems.push(unreadable(folder === "" ? "." : folder, thrown));
      return [];
    }
  }

  #refuseBadNames(folder: string, entries: readonly Dirent[], place: string): Dirent[] {
    const raw = readdirSync(place, { encoding: "buffer" });
    const bad = new Set(raw.filter((name) => decodeUtf8(name) === null).map((name) => name.toString("utf8")));
    return entries.filter((entry) => {
      if (!bad.has(entry.name)) return true;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const matters = entry.isDirectory() ? this.#rules.enters(path) : this.#rules.matches(path);
      if (matters) this.#problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
      return false;
    });
  }

  #addFile(path: string, entry: Dirent): void {
    if (isBadName(entry.name)) {
      this.#problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
      return;
    }
    const facts = entry.isFile() ? lookAt(toPlace(this.#root, path)) : null;
    if (facts?.isFile() === true) this.#add(path, facts);
    else {
      const isOther = !entry.isFile() || facts !== null;
      this.#problems.push({ code: isOther ? "SOURCE_NOT_REGULAR" : "SOURCE_UNREADABLE", file_path: path });
    }
  }

  #addLink(path: string, name: string): void {
    const isWanted = this.#rules.matches(path);
    if (!isWanted && !this.#rules.enters(path)) return;
    this.#linksMatter = true;
    const target = followLink(this.#root, path);
    if (target.kind === "folder") this.#skipped.add(path);
    else if (!isWanted) return;
    else if (isBadName(name)) this.#problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
    else if (target.kind === "problem") this.#problems.push({ code: target.code, file_path: path });
    else {
      this.#add(path, target.facts);
      this.#links.set(path, target.path);
    }
  }

  #add(path: string, facts: Stats): void {
    const count = this.#paths.push(path);
    if (count * STAT_FIELDS > this.#stats.length) {
      const larger = new Float64Array(this.#stats.length * 2);
      larger.set(this.#stats);
      this.#stats = larger;
    }
    putStat(this.#stats, count - 1, facts);
  }
}

function toKey(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name;
}
