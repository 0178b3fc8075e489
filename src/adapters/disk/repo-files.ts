import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { RepoFiles } from "../../rooms/workflow/ports.ts";
import { syncFolder, writeDurably } from "./durable-write.ts";
import { errnoCode } from "./errors.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Plain files below a repository's root. A link on the way or at the end is never followed. */
export function createRepoFiles(root: string): RepoFiles {
  return {
    look: (path) => look(root, path),
    put: (path, bytes, mode) => {
      const place = join(root, path);
      writeDurably(place, bytes);
      chmodSync(place, mode === "100755" ? 0o755 : 0o644);
    },
    drop: (path) => drop(root, path),
  };
}

function look(root: string, path: string): ReturnType<RepoFiles["look"]> {
  if (crossesLink(root, path)) return "other";
  let file: number;
  try {
    file = openSync(join(root, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code === "ELOOP" || code === "EMLINK" || code === "ENXIO") return "other";
    throw thrown;
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return "other";
    return { bytes: readFileSync(file), mode: (facts.mode & 0o100) === 0 ? "100644" : "100755" };
  } finally {
    closeSync(file);
  }
}

function crossesLink(root: string, path: string): boolean {
  const parts = path.split("/").slice(0, -1);
  return parts.some(
    (_, i) => lstatSync(join(root, ...parts.slice(0, i + 1)), { throwIfNoEntry: false })?.isSymbolicLink() === true,
  );
}

function drop(root: string, path: string): void {
  try {
    unlinkSync(join(root, path));
  } catch (thrown) {
    if (errnoCode(thrown) !== "ENOENT") throw thrown;
  }
  for (let folder = dirname(join(root, path)); folder !== root; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch (thrown) {
      const code = errnoCode(thrown);
      if (code === "ENOTEMPTY" || code === "EEXIST") {
        syncFolder(folder);
        return;
      }
      if (code !== "ENOENT") throw thrown;
    }
  }
}
