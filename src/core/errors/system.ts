import { isVerbatimError, VerbatimError } from "./index.ts";

/** The system's code of a file error (`ENOENT`), or null when it has none. */
export function errnoCode(thrown: unknown): string | null {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
}

/** Whether an error says that nothing is there. */
export function isAbsence(thrown: unknown): boolean {
  return errnoCode(thrown) === "ENOENT" || errnoCode(thrown) === "ENOTDIR";
}

/** Turns an error of writing to disk into one of the table; what has no code of its own stays as it is. */
export function toDiskError(thrown: unknown, path: string): unknown {
  if (isVerbatimError(thrown)) return thrown;
  switch (errnoCode(thrown)) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new VerbatimError("FOLDER_READ_ONLY", { where: path, cause: thrown });
    case "ENOSPC":
    case "EDQUOT":
      return new VerbatimError("DISK_FULL", { where: path, cause: thrown });
    case "ENOTDIR":
      return new VerbatimError("FILE_NOT_FOUND", {
        message: "a part of the path is not a folder",
        where: path,
        cause: thrown,
      });
    case "ENAMETOOLONG":
    case "ELOOP":
      return new VerbatimError("PATH_REFUSED", {
        message: "the system cannot follow this path: it is too long, or its links form a loop",
        where: path,
        fix: "Choose another path.",
        cause: thrown,
      });
    default:
      return thrown;
  }
}
