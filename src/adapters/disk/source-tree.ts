import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, sep } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { FileStat, SourceTree, Walk, WalkRules } from "../../rooms/context/ports.ts";
import { errnoCode } from "./errors.ts";

const NEVER: ReadonlySet<string> = new Set([".git", ".verbatim"]);
// Control characters, DEL and backslash: names no address can carry.
const BAD_NAME = /[\u0000-\u001f\u007f\\]/;
const FIRST_BUFFER = 1024 * 1024;

/** The files below a root. `clockFile` is written to learn the file system's time. */
export function createSourceTree(root: string, clockFile: string): SourceTree {
  const realRoot = realpathSync(root);
  let buffer = Buffer.allocUnsafe(FIRST_BUFFER);
  return {
    clock() {
      writeFileSync(clockFile, "");
      return statSync(clockFile, { bigint: true }).mtimeNs;
    },
    walk: (rules) => walk(realRoot, rules),
    stat(path) {
      const place = join(realRoot, path);
      const facts = statSync(place, { bigint: true, throwIfNoEntry: false });
      return facts?.isFile() === true ? toStat(facts) : null;
    },
    read(path, limit) {
      let file: number;
      try {
        file = openSync(join(realRoot, path), constants.O_RDONLY | constants.O_NONBLOCK);
      } catch (thrown) {
        return unreadable(path, thrown);
      }
      try {
        let size = 0;
        for (;;) {
          if (size === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
          const count = readSync(file, buffer, size, buffer.length - size, null);
          if (count === 0) return buffer.subarray(0, size);
          size += count;
          if (size > limit) return { code: "SOURCE_TOO_LARGE", file_path: path, bytes: size, limit };
        }
      } catch (thrown) {
        return unreadable(path, thrown);
      } finally {
        closeSync(file);
      }
    },
    pause: () => turn(),
  };
}

interface BigStat {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
}

function toStat(facts: BigStat): FileStat {
  return { size: facts.size, mtime_ns: facts.mtimeNs, ctime_ns: facts.ctimeNs, ino: facts.ino, dev: facts.dev };
}

function unreadable(path: string, thrown: unknown): Walk["problems"][number] {
  if (errnoCode(thrown) === null) throw thrown;
  return { code: "SOURCE_UNREADABLE", file_path: path };
}

/** Cost: one readdir per folder that can matter, one lstat per selected file. */
function walk(root: string, rules: WalkRules): Walk {
  const found: Walk = { files: [], problems: [], skipped_links: [] };
  const waiting = rules.prefixes.filter((prefix) => isFolder(root, prefix));
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of list(root, folder, rules, found)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!NEVER.has(entry.name) && rules.enters(path)) {
          if (BAD_NAME.test(entry.name)) found.problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
          else waiting.push(path);
        }
      } else if (entry.isSymbolicLink()) addLink(root, path, entry.name, rules, found);
      else if (rules.matches(path)) addFile(root, path, entry, found);
    }
  }
  return found;
}

/** A prefix is entered only as a real folder at every step: links to folders are not followed. */
function isFolder(root: string, prefix: string): boolean {
  let place = root;
  for (const name of prefix === "" ? [] : prefix.split("/")) {
    if (NEVER.has(name)) return false;
    place = join(place, name);
    if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  }
  return true;
}

function list(root: string, folder: string, rules: WalkRules, found: Walk): Dirent[] {
  const place = join(root, folder);
  try {
    const entries = readdirSync(place, { withFileTypes: true });
    // A name that is not UTF-8 reads as U+FFFD; only then the bytes are looked at.
    if (!entries.some(({ name }) => name.includes("\ufffd"))) return entries;
    const raw = readdirSync(place, { encoding: "buffer" });
    const bad = new Set(raw.filter((name) => !Buffer.from(name.toString("utf8")).equals(name)).map(String));
    return entries.filter((entry) => {
      if (!bad.has(entry.name)) return true;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const matters = entry.isDirectory() ? rules.enters(path) : rules.matches(path);
      if (matters) found.problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
      return false;
    });
  } catch (thrown) {
    found.problems.push(unreadable(folder === "" ? "." : folder, thrown));
    return [];
  }
}

function addFile(root: string, path: string, entry: Dirent, found: Walk): void {
  if (BAD_NAME.test(entry.name)) found.problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
  else if (!entry.isFile()) found.problems.push({ code: "SOURCE_NOT_REGULAR", file_path: path });
  else {
    const facts = lstatSync(`${root}${sep}${path}`, { bigint: true, throwIfNoEntry: false });
    if (facts === undefined) found.problems.push({ code: "SOURCE_UNREADABLE", file_path: path });
    else found.files.push({ path, stat: toStat(facts) });
  }
}

function addLink(root: string, path: string, name: string, rules: WalkRules, found: Walk): void {
  const place = join(root, path);
  const target = statSync(place, { bigint: true, throwIfNoEntry: false });
  if (target?.isDirectory() === true) {
    if (rules.enters(path)) found.skipped_links.push(path);
    return;
  }
  if (!rules.matches(path)) return;
  if (BAD_NAME.test(name)) found.problems.push({ code: "SOURCE_PATH_INVALID", file_path: path });
  else if (target === undefined) found.problems.push({ code: "SOURCE_UNREADABLE", file_path: path });
  else if (!realpathSync(place).startsWith(root + sep))
    found.problems.push({ code: "SOURCE_LINK_OUTSIDE", file_path: path });
  else if (!target.isFile()) found.problems.push({ code: "SOURCE_NOT_REGULAR", file_path: path });
  else found.files.push({ path, stat: toStat(target) });
}
