import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";
import type { BaseTree, CopyChange, IsolatedCopy } from "../../rooms/workflow/ports.ts";
import { NO_SETTINGS, requireGit, runGit, splitNul } from "./git-process.ts";

/** Settings of the repository that decide which bytes a checkout has. */
const CARRIED = ["core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.symlinks", "core.longpaths"];

/**
 * Checks a tree out into a folder with its own .git, which reads the repository's objects through alternates.
 * Nothing is registered and nothing is written in the repository.
 */
export async function checkOutCopy(
  repoRoot: string,
  repoObjects: string,
  folder: string,
  base: BaseTree,
  commit: string,
): Promise<IsolatedCopy> {
  mkdirSync(folder, { recursive: true });
  const root = realpathSync.native(folder);
  const format = commit.length === 64 ? "sha256" : "sha1";
  await requireGit({ cwd: root, args: ["init", "-q", "--template=", `--object-format=${format}`] });
  const alternates = [repoObjects, ...(base.objects === null ? [] : [base.objects])];
  mkdirSync(join(root, ".git", "objects", "info"), { recursive: true });
  writeFileSync(join(root, ".git", "objects", "info", "alternates"), `${alternates.join("\n")}\n`);
  for (const name of CARRIED) {
    const { code, stdout } = await runGit({ cwd: repoRoot, args: ["config", "--get", name] });
    if (code === 0) await requireGit({ cwd: root, args: ["config", name, stdout.toString("utf8").trim()] });
  }
  writeFileSync(join(root, ".git", "HEAD"), `${commit}\n`);
  await requireGit({ cwd: root, args: ["read-tree", base.tree] });
  await requireGit({ cwd: root, args: ["checkout-index", "-a", "-f", "-q", "-u"] });
  const list = async () => splitNul(await requireGit({ cwd: root, args: ["ls-files", "-z"], env: NO_SETTINGS }));
  let files = await list();
  return {
    root,
    // From here on files are the candidate's: no program of the user is chosen by its attributes.
    async apply(patch) {
      const args = ["apply", "--index", "--whitespace=nowarn", "-"];
      const answer = await runGit({ cwd: root, args, stdin: patch, env: NO_SETTINGS });
      files = await list();
      return answer;
    },
    changes: () => readChanges(root, base.tree),
    // Known before the gates run: they may write anything into the copy, its `.git` included.
    files: () => files,
    read: (path, most) => readInside(root, path, most),
    exists: (path) => toInside(root, path) !== null,
    share: (from, path, how) => share(root, from, path, how),
  };
}

async function readChanges(root: string, tree: string): Promise<CopyChange[]> {
  const args = ["diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", tree];
  const fields = (await requireGit({ cwd: root, args, env: NO_SETTINGS })).toString("utf8").split("\0");
  const changes: CopyChange[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const path = fields[i + 1]!;
    const mode = fields[i]!.split(" ")[1]!;
    const gone = mode === "000000";
    changes.push({ path, mode: gone ? null : mode, sha256: gone ? null : hashFile(join(root, path)) });
  }
  return changes;
}

function hashFile(place: string): string | null {
  if (lstatSync(place, { throwIfNoEntry: false })?.isFile() !== true) return null;
  return createHash("sha256").update(readFileSync(place)).digest("hex");
}

/** The real place of a path of the copy, or null when it does not exist or is outside. */
function toInside(root: string, path: string): string | null {
  try {
    const real = realpathSync.native(join(root, path));
    return real === root || real.startsWith(root + sep) ? real : null;
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

function readInside(root: string, path: string, most: number): Uint8Array | null {
  const place = toInside(root, path);
  if (place === null) return null;
  const facts = lstatSync(place);
  return facts.isFile() && facts.size <= most ? readFileSync(place) : null;
}

function share(root: string, from: string, path: string, how: "copy" | "link"): void {
  const target = join(root, path);
  if (existsSync(target) || lstatSync(target, { throwIfNoEntry: false }) !== undefined) return;
  if (!existsSync(from)) {
    throw new VerbatimError("CONFIG_INVALID", {
      message: `workflow.verify.share names ${JSON.stringify(path)}, which does not exist`,
      where: "verbatim.config.json",
    });
  }
  mkdirSync(dirname(target), { recursive: true });
  if (how === "link") symlinkSync(from, target);
  else cpSync(from, target, { recursive: true, verbatimSymlinks: true });
}
