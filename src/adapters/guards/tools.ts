import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { errnoCode } from "../../core/errors/system.ts";

/** Where the system keeps its own tools; the caller's PATH is not asked for them. */
const SYSTEM_PATH = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"].join(":");

/** The executable file a word means: a path as it is, a name by PATH. */
export function findExecutable(name: string, cwd: string, path: string): string | null {
  const places = name.includes("/")
    ? [isAbsolute(name) ? name : resolve(cwd, name)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder === "" ? "." : folder), name));
  return places.find(isExecutable) ?? null;
}

/** A tool of the system, or null. */
export function findTool(name: string): string | null {
  return findExecutable(name, "/", SYSTEM_PATH);
}

function isExecutable(place: string): boolean {
  try {
    accessSync(place, constants.X_OK);
    return statSync(place).isFile();
  } catch (thrown) {
    if (["ENOENT", "EACCES", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(errnoCode(thrown) ?? "")) return false;
    throw thrown;
  }
}
