import { encodeUtf8 } from "../../core/canonical/index.ts";
import { requireGit, splitNul } from "./git-process.ts";
import { listFilters } from "./no-filters.ts";

/** Which of some paths a filter program of the user's settings rewrites, such as that of git-lfs. */
export async function listFilteredPaths(root: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const filters = paths.length === 0 ? [] : await listFilters(root);
  if (filters.length === 0) return new Set();
  const stdin = encodeUtf8(paths.map((path) => `${path}\0`).join(""));
  const fields = splitNul(await requireGit({ cwd: root, args: ["check-attr", "-z", "--stdin", "filter"], stdin }));
  const found = new Set<string>();
  // Path, attribute and value, one after another.
  for (let i = 0; i + 2 < fields.length; i += 3) {
    if (filters.includes(`filter.${fields[i + 2]!}`)) found.add(fields[i]!);
  }
  return found;
}
