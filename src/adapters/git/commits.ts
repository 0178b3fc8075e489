import { accessSync, constants, existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { encodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { CommitHook, CommitRow, Commits } from "../../rooms/workflow/ports.ts";
import { listFilteredPaths } from "./filtered-paths.ts";
import { requireGit, runGit, splitNul } from "./git-process.ts";
import { findNoFilters } from "./no-filters.ts";
import { findGitDirs } from "./top-level.ts";

const LINK = "120000";
const PEOPLE = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
const UNFINISHED = [
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
] as const;
const MOST_TRIES = 10;
const PAUSE_MS = 100;

/** Commits of one repository, by its user. */
export function createCommits(root: string, env: Readonly<Record<string, string | undefined>>): Commits {
  const people = Object.fromEntries(PEOPLE.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  const toText = (answer: Buffer) => answer.toString("utf8").trim();
  const ask = async (...args: string[]) => toText(await requireGit({ cwd: root, args }));
  const find = async (...args: string[]) => {
    const { code, stdout } = await runGit({ cwd: root, args });
    return code === 0 ? toText(stdout) : null;
  };
  return {
    async requireIdentity() {
      for (const name of ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"]) {
        const { code, stderr } = await runGit({ cwd: root, args: ["var", name], env: people });
        if (code === 0) continue;
        const says = /^(?:fatal|error): (.*)$/m.exec(stderr)?.[1] ?? "it does not say why";
        throw new VerbatimError("GIT_IDENTITY_MISSING", {
          message: `git does not know who commits: ${says}`,
          where: root,
        });
      }
    },
    async head() {
      const lines = (await ask("rev-parse", "HEAD^{commit}", "HEAD^{tree}")).split("\n");
      return { commit: lines[0]!, tree: lines[1]!, branch: await find("symbolic-ref", "-q", "HEAD") };
    },
    async unfinished() {
      const own = findGitDirs(root)?.own ?? null;
      if (own === null) return null;
      return UNFINISHED.find(([name]) => existsSync(join(own, name)))?.[1] ?? null;
    },
    async newBranch(name) {
      const ref = `refs/heads/${name}`;
      const isName = !name.startsWith("-") && (await find("check-ref-format", ref)) !== null;
      if (!isName) {
        throw new VerbatimError("USAGE", {
          message: `git does not accept ${JSON.stringify(name)} as the name of a branch`,
          where: "/branch",
        });
      }
      if ((await find("rev-parse", "--verify", "-q", ref)) === null) return ref;
      throw new VerbatimError("COMMIT_REFUSED", {
        message: `a branch called ${name} already exists`,
        fix: {
          cli: "Give the name of a new branch: --branch NAME",
          others: "Give the name of a new branch.",
        },
      });
    },
    async paths(tree) {
      const rows = splitNul(await requireGit({ cwd: root, args: ["ls-tree", "-r", "-z", "--full-tree", tree] }));
      return rows.map((row) => {
        const tab = row.indexOf("\t");
        const [mode, , id] = row.slice(0, tab).split(" ");
        return { path: row.slice(tab + 1), mode: mode!, id: id! };
      });
    },
    filtered: async (paths) => [...(await listFilteredPaths(root, paths))],
    async store(path, mode, bytes) {
      const how = mode === LINK ? ["--no-filters"] : [`--path=${path}`];
      const args = [...(await findNoFilters(root)), "hash-object", "-w", "-t", "blob", "--stdin", ...how];
      return toText(await requireGit({ cwd: root, args, stdin: bytes }));
    },
    async makeTree(base, rows) {
      const folder = await mkdtemp(join(tmpdir(), "verbatim-commit-"));
      try {
        const own: Record<string, string> = { GIT_INDEX_FILE: join(folder, "index") };
        if (base.objects !== null) own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = base.objects;
        await requireGit({ cwd: root, args: ["read-tree", base.tree], env: own });
        await requireGit({ cwd: root, args: UPDATE, stdin: formatRows(rows, base.tree.length), env: own });
        return toText(await requireGit({ cwd: root, args: ["write-tree"], env: own }));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    hooks: () => findHooks(root),
    async make({ tree, parent, message }) {
      const signed = (await find("config", "--type=bool", "--get", "commit.gpgsign")) === "true";
      const args = ["commit-tree", ...(signed ? ["-S"] : []), "-p", parent, tree];
      const { code, stdout, stderr } = await runGit({ cwd: root, args, stdin: encodeUtf8(message), env: people });
      if (code === 0) return { commit: toText(stdout), signed };
      throw new VerbatimError("COMMIT_REFUSED", {
        message: `git did not make the commit${signed ? " (your settings ask for a signature)" : ""}: ${stderr.trim().slice(0, 1000)}`,
        where: root,
      });
    },
    async move(ref, from, to, why) {
      const old = from ?? "0".repeat(to.length);
      const args = ["update-ref", "-m", why, ...(ref === "HEAD" ? ["--no-deref"] : []), ref, to, old];
      return (await runGit({ cwd: root, args, env: people })).code === 0;
    },
    async holds(ref, commit) {
      return (await runGit({ cwd: root, args: ["merge-base", "--is-ancestor", commit, ref] })).code === 0;
    },
    async refreshIndex(rows) {
      const width = rows.find(({ id }) => id !== null)?.id?.length ?? 40;
      // git compares other entries on the way, and what has landed may be attributes and settings of the candidate's.
      const args = [...(await findNoFilters(root)), ...UPDATE];
      for (let tries = 1; ; tries++) {
        const { code, stderr } = await runGit({ cwd: root, args, stdin: formatRows(rows, width) });
        if (code === 0) return true;
        if (!/index\.lock/.test(stderr)) {
          throw new VerbatimError("INTERNAL", {
            message: `git update-index failed: ${stderr.trim().slice(0, 1000)}`,
            where: root,
          });
        }
        if (tries === MOST_TRIES) return false;
        await wait(PAUSE_MS);
      }
    },
  };
}

const UPDATE = ["update-index", "--add", "--remove", "--replace", "-z", "--index-info"];

/** What goes, goes first: a file may take the place of a folder. */
function formatRows(rows: readonly CommitRow[], width: number): Uint8Array {
  const gone = rows.filter(({ mode }) => mode === null).map(({ path }) => `0 ${"0".repeat(width)}\t${path}\0`);
  const there = rows.filter(({ mode }) => mode !== null).map(({ path, mode, id }) => `${mode} ${id}\t${path}\0`);
  return encodeUtf8([...gone, ...there].join(""));
}

/** The hooks that `git commit` would run. One in a folder of the tree is looked for where the tree is the candidate's. */
async function findHooks(root: string): Promise<CommitHook[]> {
  // Ours is the last value, which keeps git from running any.
  const { stdout } = await runGit({
    cwd: root,
    args: ["config", "-z", "--type=path", "--get-all", "core.hooksPath"],
  });
  const set = splitNul(stdout).slice(0, -1).at(-1);
  const common = (await requireGit({ cwd: root, args: ["rev-parse", "--git-common-dir"] })).toString("utf8").trim();
  const folder = set ?? join(isAbsolute(common) ? common : join(root, common), "hooks");
  const names = ["pre-commit", "commit-msg"] as const;
  return names
    .map((name) => ({ name, place: join(folder, name) }))
    .filter(({ place }) => !isAbsolute(place) || isRunnable(place));
}

function isRunnable(place: string): boolean {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
