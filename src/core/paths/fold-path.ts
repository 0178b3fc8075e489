/** Code points that HFS+ leaves out when it compares names. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** A text composed and without case: how deny rules and duplicates compare paths. */
export function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** A name as the most forgiving file system might see it: twins of a forbidden name fold to the same text. */
export function foldName(name: string): string {
  return name
    .normalize("NFC")
    .replace(IGNORED, "")
    .toLowerCase()
    .replace(/[. ]+$/, "");
}

/** A path folded by name. One of dots or spaces folds to the empty text, which is a name here and not the root. */
export function foldPath(path: string): string {
  return path.split("/").map(foldName).join("/");
}

/** A name without the stream that NTFS would take from it: `.git::$INDEX_ALLOCATION` is the folder `.git`. */
export function dropStream(name: string): string {
  return name.replace(/:.*$/s, "");
}

const OWN_NAME = /^(?:\.verbatim|verbatim\.config\.json|verbat~[0-9]+(?:\.jso)?)$/;

/** Whether some file system takes a name for our configuration or state folder, which bring rules of their own. */
export function isOwnName(name: string): boolean {
  return OWN_NAME.test(foldName(dropStream(name)));
}

/** Whether some file system takes a name for the git folder; `git~1` is its short name on Windows. */
export function isGitName(name: string): boolean {
  const folded = foldName(dropStream(name));
  return folded === ".git" || folded === "git~1";
}
