import { closeSync, constants, openSync, readSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import { type FileStat, type SourceProblem, type SourceTree, STAT_FIELDS } from "../../../rooms/context/ports.ts";
import { PRIVATE_FILE } from "../guarded/private-modes.ts";
import { followLink, isBadName, lookAt, putStat, toPlace, unreadable, walkSources } from "./source-walk.ts";

const FIRST_BUFFER = 1024 * 1024;

/** The files below a root. `clockFile` is written to learn the file system's time; `tracked` asks git. */
export function createSourceTree(
  root: string,
  clockFile: string,
  tracked: SourceTree["tracked"] = () => Promise.resolve(null),
): SourceTree {
  const realRoot = realpathSync(root);
  // Not a Buffer: parts of it are taken by the hundred thousand, which a plain array does faster.
  let buffer = new Uint8Array(FIRST_BUFFER);
  return {
    clock() {
      try {
        // One byte, because a file system may not count the truncation of an empty file as a change.
        writeFileSync(clockFile, "\n", { mode: PRIVATE_FILE });
        return statSync(clockFile).mtimeMs;
      } catch (thrown) {
        throw toDiskError(thrown, clockFile);
      }
    },
    walk: (rules) => walkSources(realRoot, rules),
    statAll(paths, kind) {
      const stats = new Float64Array(paths.length * STAT_FIELDS).fill(Number.NaN);
      const isFile = kind === "file";
      for (let i = 0; i < paths.length; i++) {
        const facts = lookAt(toPlace(realRoot, paths[i]!));
        if (facts !== null && (isFile ? facts.isFile() : facts.isDirectory())) putStat(stats, i, facts);
      }
      return stats;
    },
    inspect: (path) => inspect(realRoot, path),
    stat: (path) => stat(toPlace(realRoot, path)),
    read(path, limit, expected) {
      let file: number;
      try {
        // A pipe in the place of a file must not make the build wait for a writer.
        file = openSync(toPlace(realRoot, path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      } catch (thrown) {
        return unreadable(path, thrown);
      }
      try {
        for (let size = 0; ; ) {
          if (size === buffer.length) buffer = enlarge(buffer);
          const count = readSync(file, buffer, size, buffer.length - size, null);
          size += count;
          if (size > limit) return { code: "SOURCE_TOO_LARGE", file_path: path, bytes: size, limit };
          if (count === 0 || size === expected) return buffer.subarray(0, size);
        }
      } catch (thrown) {
        return unreadable(path, thrown);
      } finally {
        closeSync(file);
      }
    },
    tracked,
    pause: () => turn(),
  };
}

function enlarge(buffer: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(buffer.length * 2);
  larger.set(buffer);
  return larger;
}

function stat(place: string): FileStat | null {
  try {
    const facts = statSync(place);
    if (!facts.isFile()) return null;
    return { size: facts.size, mtime_ms: facts.mtimeMs, ctime_ms: facts.ctimeMs, ino: facts.ino, dev: facts.dev };
  } catch (thrown) {
    if (errnoCode(thrown) === null) throw thrown;
    return null;
  }
}

/** Goes to a path as a walk would: through real folders only. */
function inspect(root: string, path: string): string | SourceProblem {
  const names = path.split("/");
  if (names.some(isBadName)) return { code: "SOURCE_PATH_INVALID", file_path: path };
  for (let i = 1; i < names.length; i++) {
    const facts = lookAt(toPlace(root, names.slice(0, i).join("/")));
    if (facts === null) return { code: "SOURCE_UNREADABLE", file_path: path };
    if (!facts.isDirectory()) return { code: "SOURCE_NOT_REGULAR", file_path: path };
  }
  const facts = lookAt(toPlace(root, path));
  if (facts === null) return { code: "SOURCE_UNREADABLE", file_path: path };
  if (facts.isFile()) return path;
  const target = facts.isSymbolicLink() ? followLink(root, path) : null;
  if (target?.kind === "file") return target.path;
  return { code: target?.kind === "problem" ? target.code : "SOURCE_NOT_REGULAR", file_path: path };
}
