/** What was read of a file: ill-formed UTF-8 becomes U+FFFD, nothing else changes; `bytes` is what the text costs. */
export interface FileText {
  readonly text: string;
  readonly bytes: number;
  /** Whether the text is the whole file. */
  readonly complete: boolean;
}

/** What is at a path of the repository. Links are followed; what they lead to is named by its real path. */
export type FoundFile =
  | { readonly state: "missing" | "unreadable" | "outside" }
  | {
      readonly state: "found";
      /** Real path relative to the repository's real root. */
      readonly real: string;
      readonly regular: boolean;
      readonly size: number;
      /** At most `most` bytes (null: all), opened without following links and without blocking. */
      read(most: number | null): FileText | "missing" | "unreadable";
    };

/** Looks at single files of a repository's working tree, never at a folder. Synchronous: the librarian reads thousands. */
export interface RepoReader {
  look(path: string): FoundFile;
  /**
   * The text of a small regular file that no link leads to, in as few calls as reading it takes; null where `look` has
   * to say what is there. At most `most` bytes are read.
   */
  readPlain(path: string, most: number): FileText | null;
}

/** A tree of a repository; `objects` is a folder with objects the repository itself does not have. */
export interface BaseTree {
  readonly tree: string;
  readonly objects: string | null;
}

/** What stands at a path; an executable file is told apart because patches name modes. */
export type TargetType = "missing" | "file" | "executable" | "link" | "folder" | "other";

/** What a finished git process left. */
export interface GitReply {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** git as the last judge of a patch. `base` null means the working tree. */
export interface PatchChecker {
  /** PATCH_ENV_INVALID unless the root is the top of a work tree and git is new enough. */
  requireUsable(): Promise<void>;
  /** `git apply --check --numstat --summary -z`. */
  check(patch: Uint8Array, base: BaseTree | null): Promise<GitReply>;
  targets(paths: readonly string[], base: BaseTree | null): Promise<ReadonlyMap<string, TargetType>>;
  /** The names in each of some folders that exists; the root is the empty text. */
  entries(folders: readonly string[], base: BaseTree | null): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Paths of everything below a folder that is not a folder itself. */
  below(folder: string, base: BaseTree | null): Promise<readonly string[]>;
}

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
  /** Runs of this repository, also those made before it was moved. */
  ids(): string[];
  open(id: string): RunFolder | null;
  /** The run of a directory anywhere on disk, or null. */
  openPath(path: string): RunFolder | null;
  /** Whether a run belongs to this repository. */
  isOwn(run: RunOwner): boolean;
  /** RUN_EXISTS, RUN_DIR_INSIDE_REPO. */
  create(id: string): RunFolder;
  /** Waits a moment, then RUN_LOCKED. A dead owner on this host is taken over. */
  lock(
    run: RunFolder,
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

/** git for runs, alongside judging patches. Nothing is ever written into the real .git. */
export interface GitWork extends PatchChecker {
  readonly root: string;
  /** HEAD and its tree; REPO_NOT_GIT. */
  head(): Promise<{ readonly commit: string; readonly tree: string }>;
  /** Tracked paths that differ from HEAD in the index or the working tree. */
  changedTracked(): Promise<string[]>;
  /** Writes the working state as a tree into an object folder. */
  writeWorkingTree(objects: string, untracked: boolean): Promise<string>;
  /** Paths whose working state differs from a tree. */
  differences(base: BaseTree, untracked: boolean): Promise<string[]>;
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

/** What is written at one path of a verification: a file by the hash of its bytes, a link, or nothing (deleted). */
export type ViewWrite =
  | { readonly path: string; readonly mode: "100644" | "100755"; readonly sha256: string }
  | { readonly path: string; readonly mode: "120000"; readonly target: string }
  | { readonly path: string; readonly mode: null };

/** What was found at a path after everything was written; `other` is what no candidate can hold. */
export type WrittenPath = ViewWrite | { readonly path: string; readonly mode: "other" };

/** What runs in one place of verification: the list of writes first, then every work in order. */
export interface VerificationScript {
  readonly writes: readonly ViewWrite[];
  readonly works: readonly GateWork[];
  /** VERBATIM_GATE is added to it for each gate. */
  readonly env: Readonly<Record<string, string>>;
  readonly intent: string;
  /** The caller holds the lock of the whole tree. */
  readonly locked?: boolean;
}

export interface VerificationEnd {
  readonly catalytic_run_id: string | null;
  /** Why nothing of it can be believed; null when the proof holds. */
  readonly problem: string | null;
  /** What git ignored when it began, with a text for each that changes with it; null where it is not known. */
  readonly ignored: ReadonlyMap<string, string> | null;
  /** Paths that someone else changed in the real tree while it ran. */
  readonly changed_meanwhile: readonly string[];
}

/** One place of verification at work. Nothing of it reaches the real tree, and nothing of it stays. */
export interface VerificationSession {
  /** What is at the written paths; VERIFY_VIEW_MISMATCH when they could not be written. */
  written(): Promise<readonly WrittenPath[]>;
  next(): Promise<GateDone>;
  close(): Promise<VerificationEnd>;
}

/** Where a candidate is verified. Every `open` is a fresh one. */
export interface VerificationPlace {
  readonly kind: "view" | "copy" | "checkout";
  /** Whether a guard keeps the commands from writing anywhere else. */
  readonly guarded: boolean;
  /** What has to be written so that the place is the base of the run again. */
  freeze(base: BaseTree): Promise<readonly ViewWrite[]>;
  /** Whether something that git does not track is there, such as node_modules. */
  has(path: string): boolean;
  open(script: VerificationScript, signal: AbortSignal): Promise<VerificationSession>;
  close(): Promise<void>;
}

/** How a command ended on a base without any candidate. */
export interface BaselineResult {
  readonly exit_code: number;
  readonly ms: number;
}

/** Results of baselines that are kept: the same command on the same base is not run twice. */
export interface Baselines {
  get(key: string): BaselineResult | null;
  put(key: string, result: BaselineResult): void;
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
}

/** An agent that is a command. */
export interface AgentCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly stdin: Uint8Array;
  readonly timeout_s: number;
  readonly env: Readonly<Record<string, string>>;
  readonly most_bytes: number;
}

export interface AgentCommandResult {
  readonly exit_code: number;
  readonly ending: "exited" | "timeout" | "not_found" | "too_much_output";
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Starts agents that are commands. */
export interface AgentRunner {
  run(command: AgentCommand, signal: AbortSignal): Promise<AgentCommandResult>;
}

/** SIGINT and SIGTERM. While someone listens they do not end the process. */
export interface Interrupts {
  listen(onSignal: (name: "SIGINT" | "SIGTERM") => void): () => void;
}

/** One side of a changed path, with its mode as git writes it. */
export interface ChangeSide {
  readonly mode: "100644" | "100755" | "120000";
  readonly bytes: Uint8Array;
}

/** What an agent left at a path. Its bytes are read when they are needed, so that never two files are held at once. */
export interface LeftSide {
  readonly mode: ChangeSide["mode"];
  readonly hasNul: boolean;
  read(): Promise<Uint8Array>;
}

/** A path that differs from a tree. */
export interface PathChange {
  readonly path: string;
  /** Bytes before, for paths the tree does not hold as files; null: nothing was there. */
  readonly before: (() => ChangeSide) | null;
  readonly after: LeftSide | null;
}

/** What a patch of changed paths is made from. */
export interface ChangePatchRequest {
  readonly root: string;
  /** The tree the patch begins with. */
  readonly tree: string;
  /** Folder for new objects, next to those of the repository. */
  readonly objects: string;
  readonly changes: readonly PathChange[];
}

/** The patch in two parts: what can travel, and links and files with NUL, which a gate must see to refuse. */
export interface ChangePatch {
  readonly text: Uint8Array;
  readonly rest: Uint8Array;
}

/** What git says about paths that an agent changed. */
export interface ChangedPaths {
  formatPatch(request: ChangePatchRequest): Promise<ChangePatch>;
  /** Of these paths, those that git keeps with other bytes than the tree shows. */
  listFiltered(root: string, paths: readonly string[]): Promise<ReadonlySet<string>>;
  /** Of these paths, those that the rules of the tree ignore; a folder ends in a slash. */
  listIgnored(root: string, paths: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What is at a path of the working tree. Links are never followed, neither at the end nor on the way. */
export type TreeEntry =
  /** `blocked`: a link or a file stands where a folder of the path should be. */
  | { readonly kind: "missing" | "folder" | "special" | "blocked" }
  | {
      readonly kind: "file";
      readonly mode: "100644" | "100755";
      /** Permission bits, which git does not keep and a restored file must have again. */
      readonly permissions: number;
      readonly bytes: Uint8Array;
      /** Changes whenever the file is written, replaced or moved. */
      readonly stamp: string;
    }
  | { readonly kind: "link"; readonly mode: "120000"; readonly bytes: Uint8Array; readonly stamp: string };

/** A file or a link that is to be put somewhere; the bytes of a link are its target. */
export interface FileToPut {
  readonly mode: "100644" | "100755" | "120000";
  readonly bytes: Uint8Array;
  /** Those of the file it takes the place of; null: what the system gives a new file. */
  readonly permissions: number | null;
}

/** The working tree as landing writes it: each file whole or not at all, and only where no link leads. */
export interface LandingFiles {
  look(path: string): TreeEntry;
  /** Names in a folder; the root is the empty text. None where it is not a folder. */
  names(folder: string): readonly string[];
  /** Everything below a folder. */
  below(folder: string): { readonly files: readonly string[]; readonly folders: readonly string[] };
  /** Permission bits of a real folder, or null. */
  folderPermissions(path: string): number | null;
  makeFolder(path: string, permissions: number | null): void;
  /** Removes a folder if nothing is in it. */
  removeFolder(path: string): void;
  /** Writes a file durably under another name in the folder where it belongs. */
  stage(path: string, temporary: string, file: FileToPut): void;
  /**
   * Gives a staged file its name, if what is there still has the stamp; null: if nothing is there. False, and nothing
   * done, when someone else was there meanwhile.
   */
  place(path: string, temporary: string, stamp: string | null): boolean;
  /** Takes away what is at a path, if it still has the stamp. */
  drop(path: string, stamp: string): boolean;
  /** Removes a staged file that never got its name. */
  discard(path: string, temporary: string): void;
  /** Makes the names in folders durable. */
  sync(folders: readonly string[]): void;
}

/** Lines from the first to the last, from 1. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** Merges texts that two sides changed. Line numbers of a merge are those of the result, of a conflict those of `now`. */
export interface TextMerge {
  merge(
    now: Uint8Array,
    base: Uint8Array,
    candidate: Uint8Array,
  ): Promise<
    | {
        readonly state: "merged";
        readonly bytes: Uint8Array;
        readonly yours: readonly LineRange[];
        readonly agent: readonly LineRange[];
      }
    | { readonly state: "conflict"; readonly ranges: readonly LineRange[] }
  >;
}

/** Files and links of a tree. */
export interface TreeFiles {
  /** Those of some paths that are there; bytes are read one file at a time. */
  find(
    base: BaseTree,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly mode: "100644" | "100755" | "120000"; read(): Promise<Uint8Array> }>>;
}
