import { closeSync, constants, lstatSync, openSync, readFileSync, readSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import type { FileText, FoundFile, RepoReader } from "../../rooms/workflow/ports.ts";
import { errnoCode } from "./errors.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** A place with all links of its folder resolved: absolute, and relative to the root (null: outside). */
interface Place {
  readonly absolute: string;
  readonly relative: string | null;
}

/**
 * Looks at files below a root. A parent folder is resolved once and the last component without following links, so
 * only a link costs its own resolution. Cost per file: one lstat, and one read when its text is wanted.
 */
export function createRepoReader(root: string): RepoReader {
  const realRoot = realpathSync.native(root);
  const parents = new Map<string, Place | "missing" | "unreadable">();
  return {
    look(path) {
      const slash = path.lastIndexOf("/");
      const parent = slash === -1 ? "" : path.slice(0, slash);
      let folder = parents.get(parent);
      if (folder === undefined) {
        folder = resolvePlace(realRoot, parent === "" ? realRoot : `${realRoot}/${parent}`);
        parents.set(parent, folder);
      }
      if (typeof folder === "string") return { state: folder };
      const name = path.slice(slash + 1);
      const relative = folder.relative === null || folder.relative === "" ? folder.relative : `${folder.relative}/`;
      return lookAt(realRoot, {
        absolute: `${folder.absolute}${sep}${name}`,
        relative: relative === null ? null : relative + name,
      });
    },
  };
}

function resolvePlace(realRoot: string, place: string): Place | "missing" | "unreadable" {
  try {
    const absolute = realpathSync.native(place);
    if (absolute === realRoot) return { absolute, relative: "" };
    const inside = absolute.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
    return { absolute, relative: inside ? absolute.slice(realRoot.length + 1).replaceAll(sep, "/") : null };
  } catch (thrown) {
    return toFailure(thrown);
  }
}

// Missing, a loop, not a directory, too long: all of them mean that there is no such file.
function toFailure(thrown: unknown): "missing" | "unreadable" {
  const code = errnoCode(thrown);
  if (code === null) throw thrown;
  return code === "EACCES" || code === "EPERM" ? "unreadable" : "missing";
}

function lookAt(realRoot: string, place: Place): FoundFile {
  try {
    const facts = lstatSync(place.absolute, { throwIfNoEntry: false });
    if (facts === undefined) return { state: "missing" };
    if (facts.isSymbolicLink()) {
      const target = resolvePlace(realRoot, place.absolute);
      return typeof target === "string" ? { state: target } : lookAt(realRoot, target);
    }
    if (place.relative === null) return { state: "outside" };
    const { absolute } = place;
    const { size } = facts;
    return {
      state: "found",
      real: place.relative,
      regular: facts.isFile(),
      size,
      read: (most) => readText(absolute, size, most),
    };
  } catch (thrown) {
    return { state: toFailure(thrown) };
  }
}

/** One read; what was read is what counts, even when the file changed size meanwhile. */
function readText(place: string, size: number, most: number | null): FileText | "missing" | "unreadable" {
  try {
    if (most !== null && size > most) return readStart(place, most);
    // Reading a whole file as text is one call into Node; its price is that of the text.
    const text = readFileSync(place, { encoding: "utf8", flag: FLAGS as unknown as string });
    return { text, bytes: Buffer.byteLength(text), complete: true };
  } catch (thrown) {
    return toFailure(thrown);
  }
}

function readStart(place: string, most: number): FileText {
  const file = openSync(place, FLAGS);
  try {
    const buffer = Buffer.allocUnsafe(most);
    let length = 0;
    while (length < most) {
      const count = readSync(file, buffer, length, most - length, null);
      if (count === 0) break;
      length += count;
    }
    const text = buffer.toString("utf8", 0, length);
    return { text, bytes: Buffer.byteLength(text), complete: length < most };
  } finally {
    closeSync(file);
  }
}
