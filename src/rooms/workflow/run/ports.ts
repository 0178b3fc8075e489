import type { BaseTree, GitReply, PatchChecker } from "../patch/ports.ts";

/** One run directory. Paths are run-relative with forward slashes. */
export interface RunFolder {
  readonly id: string;
  readonly dir: string;
  read(path: string): Uint8Array | null;
  /** Size in bytes, or null. */
  size(path: string): number | null;
  /** Writes the whole file durably: there with the new bytes, or as it was. */
  write(path: string, bytes: Uint8Array | string): void;
  /** Writes several files durably; each is there with the new bytes, or as it was. */
  writeAll(files: readonly (readonly [path: string, bytes: Uint8Array])[]): Promise<void>;
  /** Appends with one write and makes it durable. */
  append(path: string, text: string): void;
  /** Moves a file aside. */
  move(from: string, to: string): void;
  remove(path: string): void;
  /** All files below the directory or one of its folders, in no order; links are not followed. */
  list(folder?: string): string[];
  makeFolder(path: string): string;
}

/** Who holds a run. */
export interface LockFacts {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  readonly started_at: string;
}

export interface RunLock {
  /** The dead owner it was taken from, or null. */
  readonly stolen: LockFacts | null;
  release(): void;
}

/** Who a repository is, apart from where it is and what it is called. */
export interface RepoIdentity {
  /** 32 hex digits. */
  readonly repo_id: string;
  /** Real path of the workspace. */
  readonly root: string;
  /** The git folder that all its work trees share; null where there is none. */
  readonly common_dir: string | null;
}

export interface RepoIdentityPort {
  /** The identity, or null while the repository has none of its own. Writes nothing. REPO_ID_INVALID. */
  current(): RepoIdentity | null;
  /** The identity, made or brought up to date. REPO_ID_INVALID. */
  settle(): RepoIdentity;
  /** Whether a repository with this id is at a root that is not `here`. */
  livesAt(repoId: string, root: string, here: string): boolean;
}

/** What RUN.json says about the repository of a run. A run of the first generation has no id. */
export interface RunOwner {
  readonly repo_root: string;
  readonly repo_id?: string | undefined;
}

/** The run directories of one repository. */
export interface RunFolders {
  /** Runs of this repository, also those made before it was moved; those in `known` are left out and not looked at. */
  ids(known?: ReadonlySet<string>): string[];
  open(id: string): RunFolder | null;
  /** The run of a directory anywhere on disk, or null. */
  openPath(path: string): RunFolder | null;
  /** Whether a run belongs to this repository. */
  isOwn(run: RunOwner): boolean;
  /** RUN_EXISTS, RUN_DIR_INSIDE_REPO. */
  create(id: string): RunFolder;
  /** Waits a moment, then RUN_LOCKED. A dead owner on this host is taken over. */
  lock(
    run: Pick<RunFolder, "dir">,
    facts: { readonly command: string; readonly started_at: string; readonly steal: boolean },
  ): Promise<RunLock>;
}

/** The state of one path before a patch. */
export interface PreImage {
  readonly path: string;
  readonly exists: boolean;
  /** 100644 or 100755; null when nothing was there. */
  readonly mode: string | null;
  readonly sha256: string | null;
}

/** Plain files of the repository's working tree, for snapshot, proof and restore. Links are never followed. */
export interface RepoFiles {
  /** Bytes and mode of a regular file; null when nothing is there; "other" for what no patch can make. */
  look(path: string): { readonly bytes: Uint8Array; readonly mode: string } | null | "folder" | "other";
  /** Everything below a folder that is not a folder itself; links are not followed. */
  below(folder: string): string[];
  /** Puts a file there durably, with its folders. */
  put(path: string, bytes: Uint8Array, mode: string): void;
  /** Removes a file and the folders that are empty then. */
  drop(path: string): void;
}

/** Where a work tree stands: its commit, and a tree with everything that is not committed. */
export interface TreeState {
  readonly commit: string;
  readonly tree: string;
}

/** How a work tree came from one state to another. */
export interface MovedOn {
  /** Null: the commit of the second state does not follow that of the first. */
  readonly commits: number | null;
  /** Paths that differ and that no commit explains. */
  readonly edits: number;
}

/** git for runs, alongside judging patches. Nothing is ever written into the real .git. */
export interface GitWork extends PatchChecker {
  readonly root: string;
  /** HEAD and its tree; REPO_NOT_GIT. */
  head(): Promise<{ readonly commit: string; readonly tree: string }>;
  /** Tracked paths that differ from HEAD in the index or the working tree. */
  changedTracked(): Promise<string[]>;
  /** The commit of HEAD where index and working state are exactly its tree, without a file nobody tracks; else null. */
  cleanCommit(): Promise<string | null>;
  /** Writes the working state as a tree into an object folder. */
  writeWorkingTree(objects: string, untracked: boolean): Promise<string>;
  /** Paths whose working state differs from a tree. */
  differences(base: BaseTree, untracked: boolean): Promise<string[]>;
  /** What happened between two states of the work tree; `objects` has what the repository itself does not have. */
  movedSince(from: TreeState, to: TreeState, objects: string): Promise<MovedOn>;
  /**
   * HEAD, a line feed, and the status of every path outside .verbatim, rows separated by NUL; with the stat of what is
   * in it, a second change of a changed file shows as well.
   */
  fingerprint(withStat: boolean): Promise<string>;
  /**
   * The two letters of `git status` for every path outside .verbatim that is not as in HEAD. `??` is a file nobody tracks,
   * `!!` one that is ignored, or a folder with a slash at its end for everything in it.
   */
  states(): Promise<ReadonlyMap<string, string>>;
  /** `git apply` in the working tree; the index stays as it is. */
  apply(patch: Uint8Array): Promise<GitReply>;
  /** An unregistered checkout of a tree with its own .git. */
  checkOut(folder: string, base: BaseTree, commit: string): Promise<IsolatedCopy>;
}

/** A path a patch changed in an isolated copy. */
export interface CopyChange {
  readonly path: string;
  /** Null when the path is gone. */
  readonly mode: string | null;
  readonly sha256: string | null;
}

/** A checkout that nobody else sees. */
export interface IsolatedCopy {
  readonly root: string;
  apply(patch: Uint8Array): Promise<GitReply>;
  /** What the index holds now against the base. */
  changes(): Promise<CopyChange[]>;
  /** Tracked files, as they were when the patch was applied. */
  files(): readonly string[];
  /** A file of the copy that is reached without leaving it; null when there is none. */
  read(path: string, most: number): Uint8Array | null;
  exists(path: string): boolean;
  /** Brings a path of the repository in that git does not track. */
  share(from: string, path: string, how: "copy" | "link"): void;
}

/** One command to run in an isolated copy. */
export interface GateCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly timeout_s: number;
}

/** What is to be done for one gate: commands until one fails, then a look at paths as the commands left them. */
export interface GateWork {
  readonly gate: string;
  readonly commands: readonly GateCommand[];
  readonly looks: readonly string[];
  /** Where it fails, nothing after it is done. */
  readonly required?: boolean;
}

export interface GateCommandResult {
  /** 124 timeout, 127 not found, 128+n signal. */
  readonly exit_code: number;
  readonly ending: "exited" | "timeout" | "not_found";
  readonly duration_ms: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

export interface GateDone {
  /** Of the commands that were started, in order: none follows one that failed. */
  readonly results: readonly GateCommandResult[];
  /** For each path whether it is there, reached without leaving the copy. */
  readonly present: readonly boolean[];
}

/** Gates that see what the earlier ones made, and nothing of which reaches the real tree. */
export interface GateSession {
  /** What came of the next gate, in the order in which they were given. */
  next(): Promise<GateDone>;
  /** Ends the session; a catalytic one has an id, and a problem when its proof failed. */
  close(): Promise<{ readonly catalytic_run_id?: string; readonly problem?: string }>;
}

export interface GateScript {
  /** Real path of the isolated copy. */
  readonly copy: string;
  /** The repository: what links and objects of the copy lead to, to be read only. */
  readonly reads: readonly string[];
  readonly works: readonly GateWork[];
  /** Paths of the copy that were brought in from the repository and belong to no candidate. */
  readonly shared: readonly string[];
  /** VERBATIM_GATE is added to it for each gate. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs gate commands in isolation over a copy: the plain process adapter, or the catalytic room. */
export interface Isolation {
  readonly kind: "worktree" | "catalytic";
  open(script: GateScript, signal: AbortSignal): Promise<GateSession>;
}

/** Chooses the isolation the configuration asks for; GUARD_UNAVAILABLE when it asks for one that does not work here. */
export interface Isolations {
  choose(wanted: "auto" | "catalytic" | "worktree"): Promise<Isolation>;
}

/** The failure bundle's archive. */
export interface Zipper {
  /** The same entries give the same bytes; a null body is a directory. */
  pack(entries: readonly { readonly name: string; readonly bytes: Uint8Array | null }[]): Uint8Array;
  /** Names of the entries, or null when the bytes are no archive. */
  names(bytes: Uint8Array): string[] | null;
  /** The files of an archive; null when it is none, or when they have more bytes than that. */
  unpack(bytes: Uint8Array, most: number): ReadonlyMap<string, Uint8Array> | null;
}

/** SIGINT and SIGTERM. While someone listens they do not end the process. */
export interface Interrupts {
  listen(onSignal: (name: "SIGINT" | "SIGTERM") => void): () => void;
}
