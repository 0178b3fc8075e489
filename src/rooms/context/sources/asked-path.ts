import { isUnder, parseRepoPath } from "../../../core/paths/index.ts";
import { findFile } from "../index/index-image.ts";
import { loadStored } from "../index/index-view.ts";
import type { ContextStore, SourceTree } from "../ports.ts";

/** `a:1.md` is a lawful name of a file, and `C:/Users` a place of another system. */
const LOOKS_LIKE_DRIVE = /^[A-Za-z]:/;

/**
 * A path that someone asks about and that may not be indexed. What looks like a drive is taken only where the folders
 * below the root list that very file, so that no name that came from elsewhere is opened; else it is PATH_REFUSED like
 * every unsafe path. Cost: nothing for other paths, for such a one the listings of the folders on its way.
 */
export function parseAskedPath(tree: SourceTree, path: string): string {
  return LOOKS_LIKE_DRIVE.test(path) && isListed(tree, path) ? path : parseRepoPath(path);
}

/** The same where what the index holds may be asked for as well. Only for what looks like a drive is it loaded. */
export async function parseKnownPath(
  { tree, store }: { readonly tree: SourceTree; readonly store: ContextStore },
  path: string,
): Promise<string> {
  return LOOKS_LIKE_DRIVE.test(path) && (await isIndexed(store, path)) ? path : parseAskedPath(tree, path);
}

function isListed(tree: SourceTree, path: string): boolean {
  const { paths, problems } = tree.walk({
    prefixes: [""],
    enters: (folder) => folder === "" || isUnder(path, folder),
    matches: (one) => one === path,
  });
  return paths.length > 0 || problems.some(({ file_path }) => file_path === path);
}

async function isIndexed(store: ContextStore, path: string): Promise<boolean> {
  const stored = await loadStored(store);
  return stored !== null && findFile(stored.image, path) !== -1;
}
