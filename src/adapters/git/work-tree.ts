import { lstatSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import type { BaseTree, GitWork } from "../../rooms/workflow/ports.ts";
import { checkOutCopy } from "./checkout.ts";
import { requireGit, runGit, splitNul } from "./git-process.ts";
import { findMoved } from "./moved-since.ts";
import { findNoFilters } from "./no-filters.ts";
import { createPatchChecker } from "./patch-check.ts";
import { explainDistrust } from "./trusted-owner.ts";

const MOST_TRIES = 3;
const OUTSIDE_OURS = ["--", ".", ":(exclude,top).verbatim"];

/**
 * git on one work tree. The index and the object store of the user are read, never written. `records` is a folder of
 * the tree where the product keeps its own records, which are not part of its state.
 */
export function createGitWork(root: string, records: string | null = null): GitWork {
  let found: Promise<readonly string[]> | undefined;
  const noFilters = () => {
    found ??= findNoFilters(root);
    return found;
  };
  return {
    root,
    ...createPatchChecker(root),
    head: () => readHead(root),
    changedTracked: async () => splitStatus(await readStatus(root, "no")),
    cleanCommit: () => readCleanCommit(root),
    writeWorkingTree: (objects, untracked) => writeTree(root, objects, untracked),
    differences: (base, untracked) => findDifferences(root, base, untracked),
    movedSince: (from, to, objects) => findMoved(root, objects, from, to),
    fingerprint: async (withStat) => readFingerprint(root, records, withStat, await noFilters()),
    states: async () => readStates(root, records, await noFilters()),
    apply: async (patch) =>
      runGit({ cwd: root, args: [...(await noFilters()), "apply", "--whitespace=nowarn", "-"], stdin: patch }),
    checkOut: async (folder, base, commit) => checkOutCopy(root, await readObjectFolder(root), folder, base, commit),
  };
}

async function readHead(root: string): Promise<{ readonly commit: string; readonly tree: string }> {
  const args = ["rev-parse", "HEAD^{commit}", "HEAD^{tree}"];
  const { code, stdout, stderr } = await runGit({ cwd: root, args });
  const [commit, tree] = stdout.toString("utf8").split("\n");
  if (code !== 0 || commit === undefined || tree === undefined || tree === "") {
    throw new VerbatimError("REPO_NOT_GIT", { where: root, ...(explainDistrust(stderr) ?? explainEmpty(stderr)) });
  }
  return { commit, tree };
}

/** What to say where the repository is there and empty. */
function explainEmpty(stderr: string): { readonly message: string } | undefined {
  // What git says of a name that it does not know, in the language that runGit asks for.
  if (!stderr.includes("'HEAD^{commit}'")) return undefined;
  return { message: "the repository has no commit yet" };
}

/** One process for what `git add` and `git write-tree` would say; those set the times of objects that are there. */
async function readCleanCommit(root: string): Promise<string | null> {
  const flags = ["--untracked-files=normal", "--no-renames", "--ignore-submodules=none"];
  const { code, stdout } = await runGit({ cwd: root, args: ["status", "--porcelain=v2", "--branch", "-z", ...flags] });
  if (code !== 0) return null;
  const rows = splitNul(stdout);
  const isClean = rows.every((row) => row.startsWith("# ") || row === "? .verbatim/");
  const [, commit] =
    rows.map((row) => /^# branch\.oid ([0-9a-f]{40,64})$/.exec(row)).find((found) => found !== null) ?? [];
  return isClean ? (commit ?? null) : null;
}

function readStatus(
  root: string,
  untracked: "no" | "all",
  settings: readonly string[] = [],
  more: readonly string[] = [],
): Promise<Buffer> {
  const args = ["status", "--porcelain=v1", "-z", `--untracked-files=${untracked}`, "--no-renames", ...more];
  return requireGit({ cwd: root, args: [...settings, ...args, ...OUTSIDE_OURS] });
}

async function readStates(
  root: string,
  records: string | null,
  settings: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = splitNul(await readStatus(root, "all", settings, ["--ignored=matching"]));
  return new Map(rows.filter((row) => !isBelow(row.slice(3), records)).map((row) => [row.slice(3), row.slice(0, 2)]));
}

async function readFingerprint(
  root: string,
  records: string | null,
  withStat: boolean,
  settings: readonly string[],
): Promise<string> {
  const { commit } = await readHead(root);
  const rows = splitNul(await readStatus(root, "all", settings)).filter((row) => !isBelow(row.slice(3), records));
  const text = `${commit}\n${rows.join("\0")}`;
  if (!withStat) return text;
  const facts = rows.map((row) => {
    const stat = lstatSync(join(root, row.slice(3)), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? "" : `${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  });
  return `${text}\n${facts.join("\n")}`;
}

function isBelow(path: string, folder: string | null): boolean {
  return folder !== null && (path === folder || path.startsWith(`${folder}/`));
}

function splitStatus(output: Buffer): string[] {
  return splitNul(output).map((row) => row.slice(3));
}

/** The folder of a repository's objects. */
export async function readObjectFolder(root: string): Promise<string> {
  const path = (await requireGit({ cwd: root, args: ["rev-parse", "--git-path", "objects"] })).toString("utf8");
  return resolve(root, path.replace(/\r?\n$/, ""));
}

/** A tree of the working state, made with a copy of the index and an object folder of its own. */
export async function writeTree(root: string, objects: string, untracked: boolean): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-index-"));
  try {
    const index = join(folder, "index");
    const real = (await requireGit({ cwd: root, args: ["rev-parse", "--git-path", "index"] })).toString("utf8");
    await copyFile(resolve(root, real.replace(/\r?\n$/, "")), index).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ENOENT") throw thrown;
    });
    await mkdir(objects, { recursive: true });
    const env = {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: await readObjectFolder(root),
    };
    const add = { cwd: root, args: ["add", untracked ? "-A" : "-u", ...OUTSIDE_OURS], env };
    // A file that goes away or shrinks while git reads it makes git give up; the next time it may stand still.
    for (let tries = 1; (await runGit(add)).code !== 0; tries++) if (tries === MOST_TRIES) await requireGit(add);
    return (await requireGit({ cwd: root, args: ["write-tree"], env })).toString("utf8").trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findDifferences(root: string, base: BaseTree, untracked: boolean): Promise<string[]> {
  const objects = await mkdtemp(join(tmpdir(), "verbatim-objects-"));
  try {
    const tree = await writeTree(root, objects, untracked);
    if (tree === base.tree) return [];
    const more = base.objects === null ? objects : `${objects}:${base.objects}`;
    const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base.tree, tree];
    return splitNul(await requireGit({ cwd: root, args, env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: more } }));
  } finally {
    await rm(objects, { recursive: true, force: true });
  }
}
