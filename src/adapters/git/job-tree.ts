import { createHash } from "node:crypto";
import {
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import { isGitName } from "../../core/paths/index.ts";
import type { FileChange } from "./effect-commit.ts";
import { NO_SETTINGS, requireGit, splitNul } from "./git-process.ts";
import type { Mirror } from "./mirror.ts";

// Bytes on disk are those of the objects: no line ends, keywords, encodings or programs of attributes in the tree.
const PLAIN = "* -text -ident -filter -working-tree-encoding -eol\n";
const STATE = ".verbatim";

/**
 * Checks a commit out into a new folder of one attempt, with objects read from the mirror and nobody's settings; with `only`
 * that file alone, where the commit has it.
 */
export async function openJobTree(
  mirror: Mirror,
  commit: string,
  folder: string,
  only: string | null = null,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const env = NO_SETTINGS;
  const format = commit.length === 64 ? "sha256" : "sha1";
  await requireGit({ cwd: folder, args: ["init", "-q", "--template=", `--object-format=${format}`], env });
  const own = join(folder, ".git");
  mkdirSync(join(own, "objects", "info"), { recursive: true });
  mkdirSync(join(own, "info"), { recursive: true });
  writeFileSync(join(own, "objects", "info", "alternates"), `${join(mirror.folder, "objects")}\n`);
  writeFileSync(join(own, "info", "attributes"), PLAIN);
  writeFileSync(join(own, "HEAD"), `${commit}\n`);
  await requireGit({ cwd: folder, args: ["read-tree", commit], env });
  if (only === null) await requireGit({ cwd: folder, args: ["checkout-index", "-a", "-f", "-q"], env });
  else if ((await listPaths(mirror, commit, only)).length > 0) {
    await requireGit({ cwd: folder, args: ["checkout-index", "-f", "-q", "--", only], env });
  }
  // Found here and not in a folder above, whatever lies there.
  mkdirSync(join(folder, STATE), { mode: 0o700 });
}

/**
 * The same with objects of its own, for a command that is kept from seeing where the mirror is. There is no remote in it,
 * and nothing that an agent does to it reaches the mirror.
 */
export async function openAgentTree(mirror: Mirror, commit: string, folder: string): Promise<void> {
  await openJobTree(mirror, commit, folder);
  const own = join(folder, ".git");
  rmSync(join(own, "objects", "info", "alternates"));
  const from = join(mirror.folder, "objects");
  await cp(from, join(own, "objects"), { recursive: true, force: false, mode: constants.COPYFILE_FICLONE });
  // Files that were never touched are known by their facts, so that looking at the tree does not read all of it.
  await requireGit({ cwd: folder, args: ["update-index", "-q", "--refresh"], env: NO_SETTINGS });
}

interface Known {
  readonly mode: string;
  readonly id: string;
}

/** The rows of a tree, or of the entry at one path in it. */
async function listPaths(mirror: Mirror, commit: string, only: string | null): Promise<[string, Known][]> {
  const args = only === null ? ["-r", "-z", commit] : ["-z", commit, "--", only];
  const rows = splitNul(await mirror.git(["--literal-pathspecs", "ls-tree", ...args])).map(parseRow);
  return only === null ? rows : rows.filter(([name]) => name === only);
}

/** The file of a commit, or null when it has none there. */
export async function readCommitFile(mirror: Mirror, commit: string, path: string): Promise<Uint8Array | null> {
  const [found] = await listPaths(mirror, commit, path);
  if (found === undefined || !found[1].mode.startsWith("100")) return null;
  return await mirror.git(["cat-file", "blob", found[1].id]);
}

/**
 * What a work tree has otherwise than the commit it was made from, found without git: its `.git` may be anybody's by now. With
 * `only` the tree was made of that file alone, and nothing else can have changed.
 */
export async function readJobChanges(
  mirror: Mirror,
  commit: string,
  folder: string,
  only: string | null = null,
): Promise<FileChange[]> {
  const before = new Map(await listPaths(mirror, commit, only));
  const algorithm = commit.length === 64 ? "sha256" : "sha1";
  const changes: FileChange[] = [];
  const seen = new Set<string>();
  for (const path of walk(folder, "")) {
    const file = readFile(join(folder, path));
    if (file === null) continue;
    seen.add(path);
    const known = before.get(path);
    if (known?.mode === file.mode && known.id === blobId(algorithm, file.bytes)) continue;
    changes.push({ path, ...file });
  }
  for (const [path, { mode }] of before) {
    // A submodule is a folder that was never filled.
    if (seen.has(path) || mode === "160000") continue;
    changes.push({ path, mode: "100644", bytes: null });
  }
  return changes;
}

function parseRow(row: string): [string, Known] {
  const [facts = "", path = ""] = row.split("\t");
  const [mode = "", , id = ""] = facts.split(" ");
  return [path, { mode, id }];
}

function* walk(root: string, below: string): Iterable<string> {
  const entries = readdirSync(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (below === "" && (entry.name === ".git" || entry.name === STATE)) continue;
    if (isGitName(entry.name)) {
      throw new VerbatimError("PATH_REFUSED", {
        message: "a result has a file that belongs to git",
        where: entry.name,
      });
    }
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* walk(root, path);
    else yield path;
  }
}

function readFile(place: string): (Pick<FileChange, "mode"> & { readonly bytes: Uint8Array }) | null {
  const facts = lstatSync(place);
  if (facts.isSymbolicLink()) return { mode: "120000", bytes: Buffer.from(readlinkSync(place)) };
  // Sockets and pipes are nothing that git keeps.
  if (!facts.isFile()) return null;
  return { mode: (facts.mode & 0o100) === 0 ? "100644" : "100755", bytes: readFileSync(place) };
}

function blobId(algorithm: string, bytes: Uint8Array): string {
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
