import { mkdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { VerbatimError } from "../../core/errors/index.ts";
import { NO_SETTINGS, requireGit, runGit } from "./git-process.ts";
import { parseRemote, type RemoteAddress } from "./remote-address.ts";

const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const REFSPECS = ["+refs/heads/*:refs/heads/*", "+refs/verbatim/*:refs/verbatim/*"];
const MOST_TRIES = 3;
const FETCH_PAUSE_MS = 200;
const MOST_SHOWN = 1000;

/** What a push did. After anything but `moved` the remote has to be asked where the ref stands. */
export type Push =
  | { readonly moved: true }
  /** `answered`: the remote said no. Otherwise the connection broke, and the ref may have moved or not. */
  | { readonly moved: false; readonly answered: boolean; readonly says: string };

/**
 * A bare copy of a remote in a folder of our own, without templates, hooks or housekeeping. git reads the user's settings
 * only to talk to the remote, because credentials are there; objects are read and made without any settings.
 */
export class Mirror {
  readonly folder: string;
  readonly #remote: RemoteAddress;

  private constructor(folder: string, remote: RemoteAddress) {
    this.folder = folder;
    this.#remote = remote;
  }

  /** Opens or makes the mirror of a remote; nothing is fetched. REMOTE_INVALID before anything is made. */
  static async open(folder: string, remote: string, options: { readonly allowPath: boolean }): Promise<Mirror> {
    const parsed = parseRemote(remote, options.allowPath);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const mirror = new Mirror(folder, parsed);
    // Made again, it stays as it is: git init changes nothing that is there.
    await mirror.git(["init", "-q", "--bare", "--template="]);
    return mirror;
  }

  /** Runs git on the objects of the mirror with nobody's settings, and insists on success. */
  git(args: readonly string[], more: { stdin?: Uint8Array; env?: Record<string, string> } = {}): Promise<Buffer> {
    const { stdin, env = {} } = more;
    return requireGit({
      cwd: this.folder,
      args,
      env: { ...NO_SETTINGS, ...this.#own(), ...env },
      ...(stdin === undefined ? {} : { stdin }),
    });
  }

  /** Brings branches and our own refs up to date; REMOTE_UNAVAILABLE. */
  async fetch(): Promise<void> {
    const flags = ["--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--no-auto-maintenance"];
    const args = ["fetch", ...flags, "--no-recurse-submodules", "--", this.#remote.address, ...REFSPECS];
    for (let tries = 1; ; tries++) {
      const { code, stderr } = await this.#ask(args);
      if (code === 0) return;
      // Another process of this machine may be moving the same refs; what really is wrong is wrong again.
      if (tries === MOST_TRIES) throw this.#unavailable("fetch", stderr);
      await wait(tries * FETCH_PAUSE_MS);
    }
  }

  /** Where a ref stands at the remote now; null when there is none. REMOTE_UNAVAILABLE. */
  async readRef(ref: string): Promise<string | null> {
    requireRef(ref);
    const { code, stdout, stderr } = await this.#ask(["ls-remote", "--refs", "--", this.#remote.address, ref]);
    if (code !== 0) throw this.#unavailable("ls-remote", stderr);
    // A name is matched from its end, so others may be listed too.
    const rows = stdout
      .toString("utf8")
      .split("\n")
      .map((row) => row.split("\t"));
    const id = rows.find(([, name]) => name === ref)?.[0];
    return id === undefined ? null : requireId(id);
  }

  /** The refs of the remote below a name, by code point. REMOTE_UNAVAILABLE. */
  async listRefs(below: "refs/verbatim/"): Promise<string[]> {
    const { code, stdout, stderr } = await this.#ask(["ls-remote", "--refs", "--", this.#remote.address, `${below}*`]);
    if (code !== 0) throw this.#unavailable("ls-remote", stderr);
    const names = stdout
      .toString("utf8")
      .split("\n")
      .flatMap((row) => row.split("\t")[1] ?? []);
    return names.filter((name) => name.startsWith(below)).sort((a, b) => (a < b ? -1 : 1));
  }

  /**
   * Moves a ref at the remote from what it is expected to be, null for absent; to null removes it. At most one of several
   * pushes wins.
   */
  async push(ref: string, expected: string | null, commit: string | null): Promise<Push> {
    requireRef(ref);
    const lease = `--force-with-lease=${ref}:${expected === null ? "" : requireId(expected)}`;
    const flags = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed"];
    const from = commit === null ? "" : requireId(commit);
    const args = ["push", ...flags, lease, "--", this.#remote.address, `${from}:${ref}`];
    const { code, stdout, stderr } = await this.#ask(args);
    const lines = stdout.toString("utf8").split("\n");
    const row = lines.map((line) => line.split("\t")).find(([, names]) => names?.endsWith(`:${ref}`) === true);
    if (code === 0 && row !== undefined && row[0] !== "!" && row[0] !== "=") return { moved: true };
    const says = `${row?.[2] ?? ""} ${stderr}`.trim().slice(0, MOST_SHOWN);
    return { moved: false, answered: row?.[0] === "!" || row?.[0] === "=", says };
  }

  /** Whether a commit is part of the history of another one. */
  async isAncestor(commit: string, of: string): Promise<boolean> {
    const args = ["merge-base", "--is-ancestor", requireId(commit), requireId(of)];
    const { code, stderr } = await runGit({ cwd: this.folder, args, env: { ...NO_SETTINGS, ...this.#own() } });
    if (code === 0 || code === 1) return code === 0;
    throw new VerbatimError("EFFECT_BASE_GONE", { message: stderr.trim().slice(0, MOST_SHOWN), details: { commit } });
  }

  /** Merges two commits into a tree, without a work tree; the paths on which that does not work. */
  async mergeTree(
    ours: string,
    theirs: string,
  ): Promise<{ readonly tree: string } | { readonly conflicts: readonly string[] }> {
    const args = [
      "merge-tree",
      "--write-tree",
      "--name-only",
      "--no-messages",
      "-z",
      requireId(ours),
      requireId(theirs),
    ];
    const { code, stdout, stderr } = await runGit({ cwd: this.folder, args, env: { ...NO_SETTINGS, ...this.#own() } });
    const [tree = "", ...paths] = stdout
      .toString("utf8")
      .split("\0")
      .filter((one) => one !== "");
    if (code === 0) return { tree: requireId(tree) };
    if (code === 1) return { conflicts: [...new Set(paths)] };
    throw new VerbatimError("INTERNAL", { message: `git merge-tree failed: ${stderr.trim().slice(0, MOST_SHOWN)}` });
  }

  /** Whether the mirror has this commit. */
  async hasCommit(id: string): Promise<boolean> {
    const env = { ...NO_SETTINGS, ...this.#own() };
    const { code } = await runGit({ cwd: this.folder, args: ["cat-file", "-e", `${requireId(id)}^{commit}`], env });
    return code === 0;
  }

  /** A commit that jobs begin from and its tree: one that is named, or the tip of a branch. EFFECT_BASE_GONE. */
  async readBase(named: string | null, branch: string): Promise<{ readonly commit: string; readonly tree: string }> {
    const commit = named ?? toText(await this.git(["rev-parse", "--verify", requireRef(`refs/heads/${branch}`)]));
    if (!(await this.hasCommit(commit))) throw new VerbatimError("EFFECT_BASE_GONE", { details: { commit } });
    return { commit, tree: toText(await this.git(["rev-parse", "--verify", `${commit}^{tree}`])) };
  }

  /** The first commits of a branch, sorted; they tell whether two clones have a history in common. */
  async readRoots(branch: string): Promise<string[]> {
    const ref = requireRef(`refs/heads/${branch}`);
    const answer = await this.git(["rev-list", "--max-parents=0", ref, "--"]);
    return answer
      .toString("utf8")
      .split("\n")
      .filter((id) => id !== "")
      .sort((a, b) => (a < b ? -1 : 1));
  }

  /** REPOSITORY_MISMATCH unless every one of these commits is here: this is a clone of something else then. */
  async requireRoots(roots: readonly string[]): Promise<void> {
    const missing: string[] = [];
    for (const id of roots) if (!(await this.hasCommit(id))) missing.push(id);
    if (missing.length === 0 && roots.length > 0) return;
    throw new VerbatimError("REPOSITORY_MISMATCH", { details: { roots: [...roots], missing } });
  }

  /** git with the user's settings for talking to the remote, and none of what they could run on content. */
  #ask(args: readonly string[]) {
    const env = { ...this.#own(), GIT_ALLOW_PROTOCOL: this.#remote.protocols };
    return runGit({ cwd: this.folder, args: ["-c", "gc.auto=0", "-c", "push.gpgSign=false", ...args], env });
  }

  #own(): Record<string, string> {
    return { GIT_DIR: this.folder, GIT_NO_REPLACE_OBJECTS: "1" };
  }

  #unavailable(verb: string, stderr: string): VerbatimError {
    return new VerbatimError("REMOTE_UNAVAILABLE", {
      message: `git ${verb} did not work: ${stderr.trim().slice(0, MOST_SHOWN)}`,
      details: { verb },
    });
  }
}

function toText(answer: Buffer): string {
  return answer.toString("utf8").trim();
}

/** A commit id; anything else could be an option or another name. */
function requireId(id: string): string {
  if (ID.test(id)) return id;
  throw new VerbatimError("INTERNAL", { message: `${JSON.stringify(id.slice(0, 100))} is not a commit id` });
}

const REF =
  /^refs\/(?:[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\/)*[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;

/** A full ref name of plain letters, of which git and every host think the same. */
function requireRef(ref: string): string {
  if (REF.test(ref) && !/\.lock(?:\/|$)/.test(ref)) return ref;
  throw new VerbatimError("REF_INVALID", { details: { ref: ref.slice(0, 300) } });
}
