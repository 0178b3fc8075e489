import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { deflateSync } from "node:zlib";
import { encodeUtf8 } from "../../core/canonical/index.ts";
import type { ChangePatch, ChangePatchRequest, ChangeSide, PathChange } from "../../rooms/workflow/ports.ts";
import { NO_SETTINGS, requireGit, runGit, splitNul } from "./git-process.ts";

const DIFF = [
  "diff-index",
  "--cached",
  "--patch",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--unified=3",
  "--inter-hunk-context=0",
  "--diff-algorithm=myers",
  "--no-indent-heuristic",
];

/**
 * A unified diff from a tree to given files, in git's own words. Both sides are small trees of only the changed paths,
 * so a changed folder that the repository keeps as a submodule shows too. They are compared in a bare repository of our
 * own, where neither attributes nor settings have a say. Nothing is written into the real .git.
 */
export async function formatChangePatch(request: ChangePatchRequest): Promise<ChangePatch> {
  const { root, objects, changes } = request;
  const nothing = new Uint8Array();
  if (changes.length === 0) return { text: nothing, rest: nothing };
  mkdirSync(objects, { recursive: true });
  const real = await requireGit({ cwd: root, args: ["rev-parse", "--git-path", "objects"] });
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: resolve(root, real.toString("utf8").replace(/\r?\n$/, "")),
  };
  const paths = changes.map(({ path }) => path);
  const known = await listFiles(root, request.tree, paths, env);
  const hard = changes.filter(({ after }) => after?.mode === "120000" || after?.hasNul === true);
  const isHard = new Set(hard);
  const easy = changes.filter((change) => !isHard.has(change));
  // What git would call binary by its attributes alone still travels as text; what holds NUL cannot.
  return {
    text: easy.length === 0 ? nothing : await formatGroup(request, easy, known, env, ["--text"]),
    rest: hard.length === 0 ? nothing : await formatGroup(request, hard, known, env, []),
  };
}

async function formatGroup(
  { root, tree, objects }: ChangePatchRequest,
  changes: readonly PathChange[],
  known: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string>>,
  flags: readonly string[],
): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-diff-"));
  const git = { ...NO_SETTINGS, GIT_DIR: makeRepository(folder, tree.length) };
  try {
    const store = (side: ChangeSide) => `${side.mode} ${writeObject(objects, side.bytes, tree.length)}`;
    const before: string[] = [];
    const after: string[] = [];
    for (const change of changes) {
      const old = known.get(change.path) ?? (change.before === null ? null : store(change.before()));
      if (old !== null) before.push(`${old}\t${change.path}\0`);
      if (change.after === null) continue;
      const { mode, read } = change.after;
      after.push(`${store({ mode, bytes: await read() })}\t${change.path}\0`);
    }
    const indexed = async (name: string, lines: readonly string[]) => {
      const own = { ...git, GIT_OBJECT_DIRECTORY: objects, GIT_INDEX_FILE: join(folder, name) };
      await requireGit({
        cwd: folder,
        args: ["update-index", "-z", "--index-info"],
        stdin: encodeUtf8(lines.join("")),
        env: own,
      });
      return own;
    };
    // Without the repository's objects in sight: git would set the times of those it finds there.
    const write = ["write-tree", "--missing-ok"];
    const from = await requireGit({ cwd: folder, args: write, env: await indexed("before", before) });
    const args = [...DIFF, ...flags, from.toString("utf8").trim(), "--"];
    const call = { cwd: folder, args, env: { ...env, ...(await indexed("after", after)) } };
    const answer = await runGit(call);
    if (answer.code === 0) return answer.stdout;
    // A partial clone may not have them yet, and only the user's own repository knows from where to fetch them.
    const ids = before.map((line) => line.split(" ")[1]!.split("\t")[0]!);
    const check = { cwd: root, args: ["cat-file", "--batch-check"], stdin: encodeUtf8(`${ids.join("\n")}\n`) };
    await requireGit({ ...check, env });
    return await requireGit(call);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A bare repository without settings, hooks, attributes or objects of its own. */
function makeRepository(folder: string, idLength: number): string {
  const place = join(folder, "git");
  for (const name of ["objects", "refs"]) mkdirSync(join(place, name), { recursive: true });
  writeFileSync(join(place, "HEAD"), "ref: refs/heads/none\n");
  const format = idLength === 64 ? "\n[extensions]\n\tobjectFormat = sha256" : "";
  const version = idLength === 64 ? 1 : 0;
  writeFileSync(join(place, "config"), `[core]\n\tbare = true\n\trepositoryformatversion = ${version}${format}\n`);
  return place;
}

/** More names than this are not asked for one by one. */
const MOST_NAMES = 500;

/** Mode and object of those of some paths that are files or links of a tree. A large tree is not listed for a few. */
async function listFiles(
  root: string,
  tree: string,
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const known = new Map<string, string>();
  const few = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--", ...paths];
  const args = paths.length > MOST_NAMES ? ["ls-tree", "-r", "-z", "--full-tree", tree] : few;
  for (const row of splitNul(await requireGit({ cwd: root, args, env }))) {
    const tab = row.indexOf("\t");
    const [mode, type, id] = row.slice(0, tab).split(" ");
    if (type === "blob") known.set(row.slice(tab + 1), `${mode} ${id}`);
  }
  return known;
}

/** Writes a loose object. A process per file would take longer than everything else together. */
function writeObject(objects: string, bytes: Uint8Array, idLength: number): string {
  const head = encodeUtf8(`blob ${bytes.length}\0`);
  const id = createHash(idLength === 64 ? "sha256" : "sha1")
    .update(head)
    .update(bytes)
    .digest("hex");
  const folder = join(objects, id.slice(0, 2));
  const place = join(folder, id.slice(2));
  if (existsSync(place)) return id;
  mkdirSync(folder, { recursive: true });
  const temporary = `${place}.${process.pid}`;
  writeFileSync(temporary, deflateSync(Buffer.concat([head, bytes]), { level: 1 }), { mode: 0o444 });
  renameSync(temporary, place);
  return id;
}
