import type { HeldBy } from "../../core/contracts/caps.ts";
import type { GuardName } from "../../core/contracts/guards.ts";
import type { Clock, ContentStore, NewEntry, Progress, Random, SyncCrypto } from "../../core/ports.ts";
import type { SigningKey } from "../../core/trust/key.ts";
import type { NetworkMode } from "./contracts/constants.ts";
import type { Guards } from "./guard/guard-ports.ts";
import type { Fingerprint } from "./guard/tripwire.ts";
import type { RunEntry } from "./record/run-ledger.ts";
import type { HostNow } from "./run/lock-state.ts";
import type { Entry, OtherEntry, Tree } from "./tree/tree.ts";
import type { TreeTexts } from "./tree/tree-texts.ts";

export { RUN_MARKERS } from "./contracts/constants.ts";
// Adapters know the room by its ports alone.
export { guardOrder, type ProbeAnswer, type ProbeReason } from "./guard/guard-choice.ts";
export type {
  CommandInput,
  Ending,
  Guards,
  LaunchRequest,
  Layer,
  Reach,
  RunMark,
  RunningCommand,
  UserTerminal,
  WatchedCaps,
  WatchedReach,
} from "./guard/guard-ports.ts";

export type { Fingerprint } from "./guard/tripwire.ts";
export type { Entry, OtherEntry, Tree } from "./tree/tree.ts";

/** What is at a place, links not followed. */
export type PlaceKind = "file" | "dir" | "symlink" | "other";

/** Looking at paths of the repository before anything is declared good. */
export interface PathLook {
  /** What is at a repository path, or null. */
  kind(path: string): PlaceKind | null;
  /**
   * Where a path actually leads, links followed, relative to the root; null outside it. For what is not there yet the
   * nearest existing ancestor decides.
   */
  realPlace(path: string): { readonly inside: string | null; readonly exists: boolean };
  /** Names of the run directories below the runs root. */
  runNames(runsRoot: string): readonly string[];
}

export interface SnapshotOptions {
  readonly strict_mtime: boolean;
  readonly max_entries: number;
  /** List what a domain may not hold instead of refusing it. */
  readonly lenient?: boolean;
  /**
   * Where paths are listed that did not stand still: they are read again, at most three times, and their last reading
   * counts. Without it they are refused with DOMAIN_CHANGED_DURING_SNAPSHOT.
   */
  readonly busy?: string[];
  skip?(path: string): boolean;
  /** An entry that is known without reading the file. */
  knownHash?(path: string): Entry | undefined;
  onProgress?(files: number, bytes: number): void;
  /** Told before a mode is changed for the moment of reading. */
  onChmod?(place: string, mode: string): void;
}

export interface SnapshotTaken {
  /** By bytes of the path; `.` is the place itself. */
  readonly entries: ReadonlyMap<string, Entry | OtherEntry>;
  readonly not_utf8: ReadonlySet<string>;
  readonly bytes: number;
  /** A path of someone else, whom a guard without root cannot stand in for. */
  readonly foreign: string | null;
}

export interface ScanOptions {
  /** Where to begin; the empty path is the root. */
  readonly from: readonly string[];
  skip(path: string): boolean;
  readonly max_entries: number;
  /** Only what is directly in the places named by `from`. */
  readonly shallow?: boolean;
}

/** The stat of many paths, each packed into one text. */
export interface FingerprintScan {
  readonly packed: ReadonlyMap<string, string>;
  /** Paths whose names are not UTF-8, as they are shown. */
  readonly not_utf8: ReadonlySet<string>;
}

export interface PlaceFacts {
  readonly kind: PlaceKind;
  readonly dev: string;
  readonly ino: string;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
  readonly size: number;
}

/** A folder that was read, or the absence of one. */
export interface FolderNow {
  isSame(tree: Tree): boolean;
}

/** The file system, by absolute places. What can fail throws; nothing is half written. */
export interface RunDisk {
  look(root: string): PathLook;
  stat(place: string): PlaceFacts | null;
  /** Names in a folder, or null when there is none. */
  list(place: string): string[] | null;
  read(place: string): Uint8Array | null;
  /**
   * The first so many bytes of a regular file, reached without a link and without waiting, in parts; nothing where there
   * is none. What follows them is one part more, so that a file that has grown is another.
   */
  readChunks(place: string, size: number): Iterable<Uint8Array>;
  /** Makes one folder; false when something of that name exists. */
  createFolder(place: string, mode: number): boolean;
  makeFolders(place: string): void;
  /** Replaces a file as a whole: written next to it, renamed. How much of that is made durable is for the caller. */
  replaceFile(place: string, bytes: Uint8Array, durable: "folder" | "file" | "no"): void;
  /** Creates a file; false when one of that name exists. */
  createFile(place: string, bytes: Uint8Array): boolean;
  /** Appends the parts one after another and makes them durable before it returns. */
  append(place: string, parts: readonly Uint8Array[]): void;
  /** The same for much, alongside other work. */
  appendMuch(place: string, parts: readonly Uint8Array[]): Promise<void>;
  rename(from: string, to: string): void;
  removeFile(place: string): void;
  /** Removes a folder if it is empty; false when it is not. */
  removeEmptyFolder(place: string): boolean;
  setMode(place: string, mode: number): void;
  syncFolder(place: string): void;
  isMountPoint(place: string): boolean;
  /** The kind of file system a place is on, such as `ext4`; null where the system does not say. */
  fileSystem(place: string): string | null;
  /** Whether the stat of every file below a root shows each change of its content; shown by trying, else false. */
  isStatTrusted(root: string): boolean;
  freeBytes(place: string): number;
  /** SHA-256 of a file that may be large, or null when it cannot be read. */
  hashFile(place: string): string | null;
  /** SHA-256 of the program a place leads to, links followed: most of them have several names. */
  hashProgram(place: string): string | null;
  /** The executable file a command's first word means, or null. */
  findExecutable(name: string, cwd: string, path: string): string | null;
  snapshot(place: string, options: SnapshotOptions): Promise<SnapshotTaken>;
  /** Begins to read a tree alongside what the caller does; the answer is asked for later. */
  beginSnapshot(place: string, options: SnapshotOptions): () => Promise<FolderNow>;
  scan(root: string, options: ScanOptions): Promise<FingerprintScan>;
  unpack(packed: string): Fingerprint;
  /** Copies with modes, times, links, holes and hard links. */
  copy(from: string, to: string): Promise<void>;
  /** Removes whatever is there, names that are not UTF-8 and closed folders included. */
  discard(place: string): Promise<void>;
  /** Removes what a scan showed at a path, also when its name is not UTF-8. */
  discardShown(base: string, shown: string): Promise<void>;
  /** Makes a symbolic link. */
  link(target: string, place: string): void;
  /** What an overlay of root noted in its upper folder. */
  layerMarks(upper: string): LayerMarks;
}

/** Words of an overlay about paths of its upper folder. */
export interface LayerMarks {
  /** What the lower side has and the merged one has not. */
  readonly gone: ReadonlySet<string>;
  /** Folders that show nothing of the lower side. */
  readonly opaque: ReadonlySet<string>;
  /** Folders that show another one of the lower side: from its root with a slash, else beside. */
  readonly redirects: ReadonlyMap<string, string>;
}

/** This process and this machine. */
export interface Host extends HostNow {
  readonly pid: number;
  readonly pid_start: string;
  readonly platform: string;
  readonly arch: string;
  readonly uid: number;
  readonly gid: number;
  /** `node v20.19.0` */
  readonly runtime: string;
  readonly home: string | null;
  pause(ms: number): Promise<void>;
}

/** Signals to the tool while a run goes on. */
export interface Interrupts {
  /** Calls back for each signal until the returned function is called. */
  listen(onSignal: (signal: "SIGINT" | "SIGTERM") => void): () => void;
}

/** The ledger of the product, as far as runs need it. */
export interface RunRecords {
  /** Appends the entries of a run as they are, in one transaction; doing it again changes nothing. */
  appendRun(entries: readonly RunEntry[]): Promise<void>;
  /** Appends one entry to another stream of the room. */
  append(stream: string, record: Pick<NewEntry, "kind" | "body">): Promise<void>;
}

/** What git knows about a tree; null answers where there is no git. */
export interface TreeIgnores {
  /** Ignored paths of a root: files, and folders with a slash at the end. */
  ignored(root: string): Promise<readonly string[] | null>;
  /** Which of some paths the rules of a root ignore, whether they are there or not. */
  ignoredAmong(root: string, paths: readonly string[]): Promise<ReadonlySet<string>>;
  /** Folders outside a root that hold its repository: those of a linked work tree or a submodule. */
  outsideRoot(root: string): readonly string[];
  /** Folders of objects that its repository borrows from others (alternates). */
  borrowed(root: string): readonly string[];
  /**
   * Writes a copy of the index of a root in which git looks away from some files; where the index belongs, or null where
   * git tracks none of them.
   */
  writeHiddenIndex(root: string, paths: readonly string[], to: string): Promise<string | null>;
  /**
   * How many commits someone made in a copy of a repository; null when there are too many to count. No program runs on
   * what is in the copy.
   */
  countCommits(view: string, real: string): number | null;
}

/** A text that lies ready as a file, whole and durable, with a line feed at its end. */
export interface ReadyFile {
  readonly sha256: string;
  readonly size: number;
  /** Puts it at a place where nothing is. The folder of the place still has to be made durable. */
  putAt(place: string): void;
  /** Whether what is at a place is what was put there, and nobody has touched it since. */
  isAt(place: string): boolean;
  read(): Uint8Array;
}

/** What was made of a tree, kept with its stats, and what it depends on. */
export interface KeptTree extends TreeTexts {
  /** Paths git ignores. */
  readonly ignored: readonly string[];
}

/** What was made of a tree that has changed since. */
export interface TreeBefore {
  readonly kept: KeptTree;
  /** Every path that may be another now: what was there, and what is. */
  readonly changed: ReadonlyMap<string, ChangedPath>;
}

export interface ChangedPath {
  readonly was: EntryType | null;
  readonly is: EntryType | null;
}

type EntryType = Entry["type"] | OtherEntry["type"];

export interface LookOptions {
  /** Paths that are not looked at. */
  readonly hidden: readonly string[];
  readonly max_entries: number;
  /** Told how many files were seen, and of how many where that is known. */
  readonly onProgress?: (files: number, total: number | null) => void;
}

/** Packed fingerprints of what differs: before and now. */
export interface TreeDifferences {
  readonly was: ReadonlyMap<string, string>;
  readonly is: ReadonlyMap<string, string>;
}

/** The stat of everything below a root at one moment, compactly. */
export interface TreeScan {
  readonly entries: number;
  /** Everything that is not a folder. */
  readonly files: number;
  /** How many files, git's own left out, are not as the last look saw them; null where nobody has looked before. */
  readonly changed: number | null;
  /** Paths that did not stand still while they were read: their last reading counts. */
  readonly busy: readonly string[];
  /** What was made of this tree before, by these rules, if nothing of it has changed since. */
  recall(key: string): KeptTree | null;
  /** What was made of this tree before, by these rules, and what has changed since; null where that is too much to tell. */
  recallBefore(key: string): TreeBefore | null;
  /** What is at some paths of the tree, as `read` has it; null for nothing. */
  readSome(paths: readonly string[]): Promise<ReadonlyMap<string, Entry | null>>;
  /** Texts of others that hold as long as nothing of the tree changes. */
  note(name: string): string | null;
  setNote(name: string, text: string): void;
  /** For each of some paths a text that changes when the stat of anything at or below it does; none where nothing is. */
  fingerprint(paths: readonly string[]): ReadonlyMap<string, string>;
  /** The tree by bytes, without special files. A file whose stat is that of a kept one is not read again. */
  read(
    isInView: (path: string) => boolean,
    onProgress: (files: number, bytes: number) => void,
  ): Promise<ReadonlyMap<string, Entry>>;
  /** Keeps the stats, the hashes and what was made of them for the next look; gives it back as it is kept. */
  keep(key: string, kept: KeptTree): KeptTree;
  /** Looks again: one `lstat` per path. */
  again(): Promise<TreeDifferences>;
  close(): void;
}

/** Looks at whole trees and remembers them. */
export interface TreeMemory {
  /** Null when there is something that only the careful reading can hold. */
  look(root: string, options: LookOptions): Promise<TreeScan | null>;
}

export interface Validator {
  readonly validator_semver: string;
  readonly validator_build_id: string;
}

/** What a recorded stream passes before it is written. */
export interface OutputFilter {
  add(bytes: Uint8Array): Uint8Array;
  /** What was held back, once nothing more will come. */
  end(): Uint8Array;
}

/** Everything a run needs from outside the room. */
/** Makes bytes smaller and gives them back; null: they are damaged, or more than `most`. */
export interface Packer {
  pack(bytes: Uint8Array): Uint8Array;
  unpack(bytes: Uint8Array, most: number): Uint8Array | null;
}

/** Everything the catalytic room needs from outside; `app/compose` hands it in. */
export interface CatalyticPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly crypto: SyncCrypto;
  readonly disk: RunDisk;
  readonly guards: Guards;
  readonly host: Host;
  readonly interrupts: Interrupts;
  readonly records: RunRecords;
  /** Packs pieces of records. */
  readonly packer: Packer;
  content(): Promise<ContentStore>;
  readonly git: TreeIgnores;
  readonly trees: TreeMemory;
  readonly progress: Progress;
  readonly validator: Validator;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly actor: string;
  /** Where views keep their work directories: `work` in the user's state folder. */
  readonly user_work: string;
  /** The key a run is signed with, by file or name. */
  signingKey(name: string): Promise<SigningKey>;
  /** Told what a person wants to know at once. */
  notify(text: string): void;
  /** Says which guard was chosen, for callers with words of their own. */
  announceGuard?(guard: GuardName, network: NetworkMode): void;
  /** Says what sees to the caps of a command, before it starts. */
  announceCaps?(held: HeldBy): void;
  /** Takes out of a stream what must not be written down. The terminal of whoever watches is not a record. */
  redact?(stream: "stdout" | "stderr"): OutputFilter;
  /** Output of the command, as it comes. */
  onOutput(stream: "stdout" | "stderr", bytes: Uint8Array): void;
}
