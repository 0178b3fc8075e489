import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import type { FoundFile, RepoReader } from "../../rooms/workflow/ports.ts";
import { errnoCode } from "./errors.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/**
 * Reads files below a root. A parent folder is resolved once; the last component is opened without following links,
 * so only a link costs its own resolution. Cost per file: open, stat, read, close.
 */
export function createRepoReader(root: string): RepoReader {
  const realRoot = realpathSync.native(root);
  const parents = new Map<string, Place | null>();
  const locate = (path: string) => findPlace(realRoot, path, parents);
  return {
    open: (path) => withPlace(locate(path), (place) => openAt(realRoot, place)),
    probe: (path) => withPlace(locate(path), (place) => probeAt(realRoot, place)),
  };
}

/** A folder with all links resolved: absolute, and relative to the root (null: outside). */
interface Place {
  readonly absolute: string;
  readonly relative: string | null;
}

type Located = Place | "missing" | "unreadable";

function withPlace(place: Located, look: (place: Place) => FoundFile): FoundFile {
  return typeof place === "string" ? { state: place } : look(place);
}

function findPlace(realRoot: string, path: string, parents: Map<string, Place | null>): Located {
  const slash = path.lastIndexOf("/");
  const parent = slash === -1 ? "" : path.slice(0, slash);
  const name = path.slice(slash + 1);
  let place = parents.get(parent);
  if (place === undefined) {
    const real = toReal(parent === "" ? realRoot : `${realRoot}/${parent}`);
    if (real === "unreadable") return real;
    place = real === "missing" ? null : toPlace(realRoot, real.absolute);
    parents.set(parent, place);
  }
  if (place === null) return "missing";
  const relative = place.relative === null ? null : place.relative === "" ? name : `${place.relative}/${name}`;
  return { absolute: `${place.absolute}${sep}${name}`, relative };
}

function toReal(place: string): { readonly absolute: string } | "missing" | "unreadable" {
  try {
    return { absolute: realpathSync.native(place) };
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

function toPlace(realRoot: string, absolute: string): Place {
  if (absolute === realRoot) return { absolute, relative: "" };
  const inside = absolute.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
  return { absolute, relative: inside ? absolute.slice(realRoot.length + 1).replaceAll(sep, "/") : null };
}

function openAt(realRoot: string, place: Place, followed = false): FoundFile {
  if (place.relative === null) return probeAt(realRoot, place, followed, openAt);
  let descriptor: number;
  try {
    descriptor = openSync(place.absolute, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if ((code === "ELOOP" || code === "EMLINK") && !followed) return followLink(realRoot, place, openAt);
    // A socket or a device without a driver exists but is no file to read.
    if (code === "ENXIO" || code === "ENODEV" || code === "EOPNOTSUPP") return toNotRegular(place);
    return { state: toFailure(thrown) };
  }
  const facts = fstatSync(descriptor);
  const regular = facts.isFile();
  let open = true;
  const close = () => {
    if (open) closeSync(descriptor);
    open = false;
  };
  return {
    state: "found",
    real: place.relative ?? "",
    regular,
    size: facts.size,
    read: (most) => {
      try {
        return readText(descriptor, facts.size, most);
      } finally {
        close();
      }
    },
    close,
  };
}

type Look = (realRoot: string, place: Place, followed: boolean) => FoundFile;

function probeAt(realRoot: string, place: Place, followed = false, look: Look = probeAt): FoundFile {
  try {
    const facts = lstatSync(place.absolute, { throwIfNoEntry: false });
    if (facts === undefined) return { state: "missing" };
    if (facts.isSymbolicLink()) return followed ? { state: "missing" } : followLink(realRoot, place, look);
    if (place.relative === null) return { state: "outside" };
    return { ...toNotRegular(place), regular: facts.isFile(), size: facts.size };
  } catch (thrown) {
    return { state: toFailure(thrown) };
  }
}

function followLink(realRoot: string, place: Place, look: Look): FoundFile {
  const real = toReal(place.absolute);
  if (typeof real === "string") return { state: real };
  const target = toPlace(realRoot, real.absolute);
  return target.relative === null ? { state: "outside" } : look(realRoot, target, true);
}

function toNotRegular(place: Place): Extract<FoundFile, { readonly state: "found" }> {
  const unread = () => ({ text: "", bytes: 0, complete: true });
  return { state: "found", real: place.relative ?? "", regular: false, size: 0, read: unread, close: () => undefined };
}

/** One read; what was read is what counts, even when the file changed size meanwhile. */
function readText(descriptor: number, size: number, most: number | null) {
  const wanted = most === null ? size : Math.min(size, most);
  const buffer = Buffer.allocUnsafe(wanted);
  let length = 0;
  while (length < wanted) {
    const count = readSync(descriptor, buffer, length, wanted - length, null);
    if (count === 0) break;
    length += count;
  }
  const bytes = length === wanted ? buffer : buffer.subarray(0, length);
  const text = bytes.toString("utf8");
  return {
    text,
    bytes: isUtf8(bytes) ? length : Buffer.byteLength(text),
    complete: length === size || length < wanted,
  };
}
