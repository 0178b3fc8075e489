import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";

/** The system's code of a file error (`ENOENT`), or null when it has none. */
export function errnoCode(thrown: unknown): string | null {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
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
    default:
      return thrown;
  }
}
