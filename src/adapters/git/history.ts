import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { encodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";
import type { ChangedPath, CommitFacts, History } from "../../rooms/workflow/ports.ts";
import { gitEnvironment, requireGit, runGit, splitNul } from "./git-process.ts";
import { findGitPlace } from "./top-level.ts";

const NOTES = "refs/notes/verbatim";
const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const MOST_COMMITS = 10_000;
const MOST_TRIES = 10;
const MOST_NOTE = 16 * 1024 * 1024;
const PEOPLE = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

/** The plain objects: what replaces them in one repository is not what others have, and nothing is fetched to answer. */
const PLAIN = {
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
};

/** Objects and notes of the repository around a folder. */
export function createHistory(root: string, env: Readonly<Record<string, string | undefined>>): History {
  const people = Object.fromEntries(PEOPLE.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  const own = { ...PLAIN, ...people };
  const ask = async (...args: string[]): Promise<string | null> => {
    const { code, stdout } = await runGit({ cwd: root, args, env: own });
    return code === 0 ? stdout.toString("utf8").trim() : null;
  };
  const object = async (type: "commit" | "blob", id: string): Promise<Buffer | null> => {
    const { code, stdout } = await runGit({ cwd: root, args: ["cat-file", type, id], env: own });
    return code === 0 ? stdout : null;
  };
  const sizeOf = async (id: string) => Number((await ask("cat-file", "-s", id)) ?? Number.POSITIVE_INFINITY);
  const readNote = async (ref: string, commit: string): Promise<string[]> => {
    const id = await ask("notes", `--ref=${ref}`, "list", commit);
    if (id === null || !ID.test(id) || (await sizeOf(id)) > MOST_NOTE) return [];
    const text = (await object("blob", id))?.toString("utf8") ?? "";
    return text.split("\n").filter((line) => line.trim() !== "");
  };
  return {
    async find(name) {
      if (name === "" || name.startsWith("-")) return null;
      const id = await ask("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
      const bytes = id === null || !ID.test(id) ? null : await object("commit", id);
      return bytes === null ? null : readCommit(id!, bytes);
    },
    async list(range) {
      if (range.startsWith("-") || !/^[^\s]+$/.test(range)) return null;
      const args = ["rev-list", "--reverse", `--max-count=${MOST_COMMITS + 1}`, "--end-of-options", range, "--"];
      const { code, stdout } = await runGit({ cwd: root, args, env: own });
      if (code !== 0) return null;
      const ids = stdout
        .toString("utf8")
        .split("\n")
        .filter((line) => ID.test(line));
      if (ids.length <= MOST_COMMITS) return ids;
      throw new VerbatimError("USAGE", { message: `${range} has more than ${MOST_COMMITS} commits`, where: "/range" });
    },
    async changes({ commit, tree, parents }) {
      const [parent] = parents;
      const before = parent === undefined ? null : await object("commit", parent);
      if (parent !== undefined && before === null) throw cutOff(commit, parent);
      const empty = before === null ? await ask("hash-object", "-t", "tree", "/dev/null") : null;
      const from = before === null ? empty! : readCommit(parent!, before).tree;
      const { code, stdout } = await runGit({ cwd: root, args: [...DIFF, from, tree], env: own });
      if (code !== 0) throw cutOff(commit, parent ?? commit);
      return readChanges(stdout);
    },
    hash: (id) => hashBlob(root, id),
    async file(commit, path, most) {
      const args = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path];
      const { stdout } = await runGit({ cwd: root, args, env: own });
      const row = splitNul(stdout).find((one) => one.slice(one.indexOf("\t") + 1) === path);
      const [mode, , id] = row?.slice(0, row.indexOf("\t")).split(" ") ?? [];
      if (id === undefined || (mode !== "100644" && mode !== "100755") || (await sizeOf(id)) > most) return null;
      return await object("blob", id);
    },
    mergeBase: (one, other) => ask("merge-base", one, other),
    note: (commit) => readNote(NOTES, commit),
    async editNote(commit, edit) {
      // git replaces a ref of notes without looking whether it moved; one of our own, moved over, loses nobody's notes.
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const old = await ask("rev-parse", "--verify", "--quiet", NOTES);
        const lines = await readNote(NOTES, commit);
        const next = edit(lines);
        if (next.length === lines.length && next.every((line, i) => line === lines[i])) return;
        const mine = `refs/notes/verbatim-${randomBytes(8).toString("hex")}`;
        if (old !== null) await requireGit({ cwd: root, args: ["update-ref", mine, old], env: own });
        try {
          const stdin = encodeUtf8(`${next.join("\n")}\n`);
          await requireGit({
            cwd: root,
            args: ["notes", `--ref=${mine}`, "add", "-f", "-F", "-", commit],
            stdin,
            env: own,
          });
          const made = await ask("rev-parse", "--verify", "--quiet", mine);
          const args = ["update-ref", "-m", "verbatim: attested", NOTES, made!, old ?? "0".repeat(made!.length)];
          if ((await runGit({ cwd: root, args, env: own })).code === 0) return;
        } finally {
          await runGit({ cwd: root, args: ["update-ref", "-d", mine], env: own });
        }
      }
      throw new VerbatimError("DOMAIN_BUSY", {
        message: `others keep writing ${NOTES}, so the note was not added`,
        where: root,
        fix: "Try again when they are done; what was signed is kept with the run.",
      });
    },
    inside: (place) => findInside(root, place),
  };
}

const DIFF = [
  "diff-tree",
  "-r",
  "-z",
  "--raw",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=none",
  "--full-index",
];

function cutOff(commit: string, parent: string): VerbatimError {
  return new VerbatimError("CHECK_HISTORY_MISSING", {
    message: `what ${commit.slice(0, 12)} changes cannot be told: ${parent.slice(0, 12)}, which it follows, is not here`,
    details: { commit, parent },
  });
}

/** The headers of a commit object and what follows them. */
function readCommit(commit: string, bytes: Buffer): CommitFacts {
  const text = bytes.toString("utf8");
  const end = text.indexOf("\n\n");
  const headers = (end === -1 ? text : text.slice(0, end)).split("\n");
  const all = (name: string) =>
    headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  return { commit, tree: all("tree")[0] ?? "", parents: all("parent"), message: end === -1 ? "" : text.slice(end + 2) };
}

/** `:100644 100644 OLD NEW M` NUL path NUL, again and again. */
function readChanges(output: Buffer): ChangedPath[] {
  const parts = splitNul(output);
  const changes: ChangedPath[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [, mode, , id] = parts[i]!.slice(1).split(" ");
    const isGone = mode === "000000";
    changes.push({ path: parts[i + 1]!, mode: isGone ? null : mode!, id: isGone ? null : id! });
  }
  return changes;
}

/** A blob may be of any size: it is hashed as it comes. */
function hashBlob(cwd: string, id: string): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn("git", ["cat-file", "blob", id], {
      cwd,
      env: gitEnvironment(PLAIN),
      stdio: ["ignore", "pipe", "ignore"],
      windowsHide: true,
    });
    const hash = createHash("sha256");
    child.stdout.on("data", (bytes: Buffer) => hash.update(bytes));
    child.on("error", fail);
    child.on("close", (code) => {
      if (code === 0) done(hash.digest("hex"));
      else fail(new VerbatimError("CHECK_HISTORY_MISSING", { message: `the object ${id} is not here`, where: cwd }));
    });
  });
}

/** Where a file is in the work tree around a root, as its name says or as links lead. */
function findInside(root: string, place: string): string | null {
  const top = findGitPlace(root)?.top ?? root;
  for (const one of [resolve(place), realPath(resolve(place))]) {
    for (const base of [top, realPath(top)]) {
      const path = relative(base, one);
      if (path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && resolve(base, path) === one) {
        return path.split(sep).join("/");
      }
    }
  }
  return null;
}

/** The real path, as far as it is there. */
function realPath(place: string): string {
  try {
    return realpathSync(place);
  } catch (thrown) {
    if (errnoCode(thrown) !== "ENOENT" && errnoCode(thrown) !== "ENOTDIR") throw thrown;
    return dirname(place) === place ? place : join(realPath(dirname(place)), basename(place));
  }
}
