import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import { findPathProblem, showPath } from "../../core/paths/index.ts";

/** Paths of the repository as a person writes them; a file to show must be there. */
export function requirePaths(
  root: string,
  { files, leaveOut }: { readonly files: readonly string[]; readonly leaveOut: readonly string[] },
): void {
  const named = [
    ...leaveOut.map((path) => ["--leave-out", path.replace(/\/+$/, "")] as const),
    ...files.map((path) => ["--file", path] as const),
  ];
  for (const [flag, path] of named) {
    if (findPathProblem(path) !== null) {
      throw new VerbatimError("USAGE", { message: `${flag} must be a path inside the repository: ${showPath(path)}` });
    }
  }
  const missing = files.find((path) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile() !== true);
  if (missing === undefined) return;
  throw new VerbatimError("FILE_NOT_FOUND", { message: `--file ${showPath(missing)} is not a file`, where: missing });
}

/** What the record of the run says it is for: the goal on one line. */
export function toIntent(goal: string): string {
  const line = goal.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return [...`Let an agent work: ${line}`].slice(0, 200).join("");
}

/** A place that stays really writable, absolutely. */
export function toKept(path: string): string {
  const place = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  if (resolve(place) === place.replace(/(?<=.)[/\\]+$/, "")) return resolve(place);
  throw new VerbatimError("USAGE", {
    message: `--keep must be absolute or begin with ~/: ${JSON.stringify(path)}`,
  });
}
