import { closeSync, constants, lstatSync, openSync, readFileSync, readSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";
import type { FileText, FoundFile, RepoReader } from "../../../rooms/workflow/ports.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Larger files are looked at before they are read. */
const PLAIN_BYTES = 256 * 1024;

/** A place with all links of its folder resolved: absolute, and relative to the root (null: outside). */
interface Place {
  readonly absolute: string;
  readonly relative: string | null;
}

type Failure = "missing" | "unreadable";

/**
 * Looks at files below a root. A parent folder is resolved once and the last component without following links, so
 * only a link costs its own resolution. Cost per file: one lstat, and one read when its text is wanted.
 */
export function createRepoReader(root: string): RepoReader {
  const realRoot = realpathSync.native(root);
  const inside = realRoot.endsWith(sep) ? realRoot : realRoot + sep;
  // True for a folder that is where its name says: most are, and their files need no new names.
  const parents = new Map<string, Place | Failure | true>();
  const resolveParent = (parent: string) => {
    const place = resolvePlace(realRoot, parent === "" ? realRoot : `${inside}${parent}`);
    const found = typeof place !== "string" && place.relative === parent ? true : place;
    parents.set(parent, found);
    return found;
  };
  const buffer = Buffer.allocUnsafe(PLAIN_BYTES);
  return {
    readPlain(path, most) {
      const slash = path.lastIndexOf("/");
      const parent = slash === -1 ? "" : path.slice(0, slash);
      const folder = parents.get(parent) ?? resolveParent(parent);
      return folder === true ? readPlainFile(inside + path, buffer, Math.min(most, PLAIN_BYTES)) : null;
    },
    look(path) {
      const slash = path.lastIndexOf("/");
      const parent = slash === -1 ? "" : path.slice(0, slash);
      const folder = parents.get(parent) ?? resolveParent(parent);
      if (folder === true) return lookAt(realRoot, inside + path, path);
      if (typeof folder === "string") return { state: folder };
      const name = path.slice(slash + 1);
      const relative = folder.relative === null || folder.relative === "" ? folder.relative : `${folder.relative}/`;
      return lookAt(realRoot, `${folder.absolute}${sep}${name}`, relative === null ? null : relative + name);
    },
  };
}

/**
 * Opens without following links and reads from the start. Links, folders, pipes and sockets cannot be read so, and what
 * has no end or nothing in it fills the buffer or leaves it empty: in all these cases someone has to look.
 */
function readPlainFile(place: string, buffer: Buffer, most: number): FileText | null {
  let file: number;
  try {
    file = openSync(place, FLAGS);
  } catch (thrown) {
    if (errnoCode(thrown) === null) throw thrown;
    return null;
  }
  try {
    const length = readSync(file, buffer, 0, most, 0);
    if (length === 0 || length === most) return null;
    const text = buffer.toString("utf8", 0, length);
    return { text, bytes: Buffer.byteLength(text), complete: true };
  } catch (thrown) {
    if (errnoCode(thrown) === null) throw thrown;
    return null;
  } finally {
    closeSync(file);
  }
}

function resolvePlace(realRoot: string, place: string): Place | Failure {
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
function toFailure(thrown: unknown): Failure {
  const code = errnoCode(thrown);
  if (code === null) throw thrown;
  return code === "EACCES" || code === "EPERM" ? "unreadable" : "missing";
}

function lookAt(realRoot: string, absolute: string, relative: string | null): FoundFile {
  try {
    const facts = lstatSync(absolute, MISSING_IS_FINE);
    if (facts === undefined) return { state: "missing" };
    if (facts.isSymbolicLink()) {
      const target = resolvePlace(realRoot, absolute);
      return typeof target === "string" ? { state: target } : lookAt(realRoot, target.absolute, target.relative);
    }
    if (relative === null) return { state: "outside" };
    return new LookedAt(absolute, relative, facts.isFile(), facts.size);
  } catch (thrown) {
    return { state: toFailure(thrown) };
  }
}

const MISSING_IS_FINE = { throwIfNoEntry: false } as const;
// Node takes the flags of open(2) as a number; its types know only the letters.
const AS_TEXT = { encoding: "utf8", flag: FLAGS as unknown as string } as const;

/** A file that was looked at. A class, because the librarian makes thousands and closures cost more. */
class LookedAt {
  readonly state = "found";
  readonly real: string;
  readonly regular: boolean;
  readonly size: number;
  readonly #place: string;

  constructor(place: string, real: string, regular: boolean, size: number) {
    this.#place = place;
    this.real = real;
    this.regular = regular;
    this.size = size;
  }

  /** One read; what was read is what counts, even when the file changed size meanwhile. */
  read(most: number | null): FileText | Failure {
    try {
      if (most !== null && this.size > most) return readStart(this.#place, most);
      // Reading a whole file as text is one call into Node; its price is that of the text.
      const text = readFileSync(this.#place, AS_TEXT);
      return { text, bytes: Buffer.byteLength(text), complete: true };
    } catch (thrown) {
      return toFailure(thrown);
    }
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
