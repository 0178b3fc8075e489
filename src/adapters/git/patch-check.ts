import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import type { BaseTree, PatchChecker, TargetType } from "../../rooms/workflow/ports.ts";
import { listBelow } from "../disk/source/repo-files.ts";
import { runGit, splitNul } from "./git-process.ts";
import { type IndexRow, withIndex } from "./scratch-index.ts";

const OLDEST = [2, 30] as const;

/** Judges patches against a work tree, or against a tree of its repository. */
export function createPatchChecker(root: string): PatchChecker {
  const listPaths = onceAtATime((paths, base) => listTreePaths(root, paths, base));
  return {
    requireUsable: () => requireUsable(root),
    check: async (patch, base, paths) => {
      if (base === null) return await check(root, patch, [], {});
      const rows = isCaseTold(root) ? await listPaths(paths, base) : null;
      return await withIndex(root, base, rows, (env) => check(root, patch, ["--cached"], env));
    },
    targets: async (paths, base) =>
      base === null ? lookAtFiles(root, paths) : toTargets(paths, await listPaths(paths, base)),
    entries: (folders, base) => (base === null ? listFolders(root, folders) : listTreeFolders(root, folders, base)),
    below: (folder, base) =>
      base === null
        ? Promise.resolve(listBelow(root, folder))
        : listTree(root, ["-r", "--name-only"], [`${folder}/`], base),
  };
}

async function check(root: string, patch: Uint8Array, more: readonly string[], env: Record<string, string>) {
  const args = ["apply", "--check", "--numstat", "--summary", "-z", "--whitespace=nowarn", ...more, "-"];
  return await runGit({ cwd: root, args, stdin: patch, env });
}

// In a sub-folder of a work tree git apply skips paths in silence, so only the top level is judged.
async function requireUsable(root: string): Promise<void> {
  const top = isPlainTop(root) ? root : await askTop(root);
  if (top === null || (top !== root && realpathSync.native(top) !== realpathSync.native(root))) {
    throw new VerbatimError("PATCH_ENV_INVALID", {
      message: top === null ? "the folder is not a git work tree" : `the top of the work tree is ${top}`,
      where: root,
    });
  }
  gitVersion ??= readVersion(root);
  const [major, minor] = await gitVersion;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new VerbatimError("PATCH_ENV_INVALID", { message: `git ${major}.${minor} is older than 2.30`, where: root });
  }
}

/** Whether a folder has its own .git and nothing in its configuration moves the work tree: then it is the top. */
function isPlainTop(root: string): boolean {
  const [head, config] = [readOwn(root, "HEAD"), readOwn(root, "config")];
  return head !== null && config !== null && /^ref: |^[0-9a-f]{40}/.test(head) && !/worktree/i.test(config);
}

/**
 * Whether names that differ in case are different names to git here. Where they may not be, git compares a path with
 * every name of the tree, and an index with some of them would answer another question.
 */
function isCaseTold(root: string): boolean {
  const config = process.platform === "linux" ? readOwn(root, "config") : null;
  return config !== null && !/ignorecase|include/i.test(config);
}

/** A file of a .git that is a folder, or null. */
function readOwn(root: string, name: string): string | null {
  try {
    return readFileSync(join(root, ".git", name), "utf8");
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EISDIR"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return null;
    throw thrown;
  }
}

async function askTop(root: string): Promise<string | null> {
  const { code, stdout } = await runGit({ cwd: root, args: ["rev-parse", "--show-toplevel"] });
  return code === 0 ? stdout.toString("utf8").replace(/\r?\n$/, "") : null;
}

let gitVersion: Promise<readonly [number, number]> | undefined;

async function readVersion(root: string): Promise<readonly [number, number]> {
  const { stdout } = await runGit({ cwd: root, args: ["version"] });
  const match = /([0-9]+)\.([0-9]+)/.exec(stdout.toString("utf8"));
  return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
}

async function lookAtFiles(root: string, paths: readonly string[]): Promise<Map<string, TargetType>> {
  return new Map(
    paths.map((path) => {
      try {
        const facts = lstatSync(join(root, path), { throwIfNoEntry: false });
        if (facts === undefined) return [path, "missing"];
        if (facts.isSymbolicLink()) return [path, "link"];
        if (facts.isFile()) return [path, (facts.mode & 0o100) === 0 ? "file" : "executable"];
        return [path, facts.isDirectory() ? "folder" : "other"];
      } catch (thrown) {
        const { code } = thrown as NodeJS.ErrnoException;
        if (code === "ENOTDIR" || code === "ENAMETOOLONG" || code === "ELOOP") return [path, "missing"];
        throw thrown;
      }
    }),
  );
}

const CHUNK = 200;

function toTargets(paths: readonly string[], rows: readonly IndexRow[]): Map<string, TargetType> {
  const found = new Map<string, TargetType>(paths.map((path) => [path, "missing"]));
  for (const { path, mode } of rows) found.set(path, toType(mode));
  return found;
}

async function listTreePaths(root: string, paths: readonly string[], base: BaseTree): Promise<readonly IndexRow[]> {
  const rows: IndexRow[] = [];
  for (let at = 0; at < paths.length; at += CHUNK) {
    for (const row of await listTree(root, [], paths.slice(at, at + CHUNK), base)) {
      const match = /^([0-7]{6}) \S+ (\S+)\t(.*)$/s.exec(row);
      if (match !== null) rows.push({ mode: match[1]!, id: match[2]!, path: match[3]! });
    }
  }
  return rows;
}

type ListPaths = (paths: readonly string[], base: BaseTree) => Promise<readonly IndexRow[]>;

/** A gate asks twice for the same paths at the same time, and git is asked once. */
function onceAtATime(list: ListPaths): ListPaths {
  const asked = new Map<string, ReturnType<ListPaths>>();
  return (paths, base) => {
    const key = JSON.stringify([base.tree, base.objects, paths]);
    const known = asked.get(key);
    if (known !== undefined) return known;
    const answer = list(paths, base).finally(() => asked.delete(key));
    asked.set(key, answer);
    return answer;
  };
}

async function listTree(root: string, flags: readonly string[], paths: readonly string[], base: BaseTree) {
  const args = ["ls-tree", "-z", "--full-tree", ...flags, base.tree, "--", ...paths];
  const env = { ...objectsOf(base), GIT_LITERAL_PATHSPECS: "1" };
  const { code, stdout, stderr } = await runGit({ cwd: root, args, env });
  if (code !== 0) throw new VerbatimError("PATCH_ENV_INVALID", { message: stderr.trim(), where: root });
  return splitNul(stdout);
}

async function listTreeFolders(
  root: string,
  folders: readonly string[],
  base: BaseTree,
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (folders.length === 0) return new Map();
  const deeper = folders.filter((folder) => folder !== "").map((folder) => `${folder}/`);
  const chunks = Array.from({ length: Math.ceil(deeper.length / CHUNK) }, (_, i) =>
    deeper.slice(i * CHUNK, (i + 1) * CHUNK),
  );
  const lists = await Promise.all([[], ...chunks].map((paths) => listTree(root, ["--name-only"], paths, base)));
  const found = new Map<string, string[]>();
  for (const path of lists.flat()) {
    const slash = path.lastIndexOf("/");
    const folder = slash === -1 ? "" : path.slice(0, slash);
    found.set(folder, [...(found.get(folder) ?? []), path.slice(slash + 1)]);
  }
  return found;
}

async function listFolders(root: string, folders: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  return new Map(
    folders
      .filter((folder) => lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() === true)
      .map((folder) => [folder, readdirSync(join(root, folder))]),
  );
}

function toType(mode: string): TargetType {
  if (mode === "120000") return "link";
  if (mode === "100755") return "executable";
  return mode === "100644" ? "file" : mode === "040000" ? "folder" : "other";
}

/** Names of a candidate are names and no patterns. */
function objectsOf(base: BaseTree): Record<string, string> {
  const literal = { GIT_LITERAL_PATHSPECS: "1" };
  return base.objects === null ? literal : { ...literal, GIT_ALTERNATE_OBJECT_DIRECTORIES: base.objects };
}
