import { createHash, randomUUID } from "node:crypto";
import { lstatSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { gitEnvironment, runGit, splitNul } from "./git-process.ts";

/** Parts of a repository that may be links to those of another. */
const PARTS = ["HEAD", "config", "index", "info", "info/exclude", "objects", "packed-refs", "refs"];

/**
 * Everything besides the tree and its `.git` that decides what git says about them, as one text: its settings from
 * wherever they come, and the files of ignore and attribute rules that are outside. One process.
 */
export async function readGitContext(root: string): Promise<string> {
  // A repository that is elsewhere changes without the tree showing it: nothing is the same there.
  if (lstatSync(join(root, ".git"), { throwIfNoEntry: false })?.isDirectory() !== true) return randomUUID();
  if (PARTS.some((part) => lstatSync(join(root, ".git", part), { throwIfNoEntry: false })?.isSymbolicLink()))
    return randomUUID();
  const { code, stdout } = await runGit({ cwd: root, args: ["config", "--list", "--show-origin", "-z"] });
  const settings = new Map<string, string>();
  for (const item of splitNul(stdout)) {
    const line = item.indexOf("\n");
    if (line !== -1) settings.set(item.slice(0, line), item.slice(line + 1));
  }
  const base = gitEnvironment()["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
  const places = [
    settings.get("core.excludesfile") ?? join(base, "git", "ignore"),
    settings.get("core.attributesfile") ?? join(base, "git", "attributes"),
    "/etc/gitattributes",
  ].map((place) => (place.startsWith("~/") ? join(homedir(), place.slice(2)) : place));
  const hash = createHash("sha256").update(`${code}\0`).update(stdout);
  for (const place of places) {
    // Both, because people keep such files elsewhere and link to them.
    for (const look of [lstatSync, statSync]) {
      const facts = look(place, { bigint: true, throwIfNoEntry: false });
      hash.update(`${place}\0${facts?.ino}\0${facts?.size}\0${facts?.mtimeNs}\0${facts?.ctimeNs}\0`);
    }
  }
  return hash.digest("hex");
}
