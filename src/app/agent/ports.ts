import type { JsonValue } from "../../core/canonical/index.ts";
import type { Effect } from "../../core/operation.ts";
import type { CatalyticPorts, TreeScan, TreeWrite } from "../../rooms/catalytic/index.ts";
import type {
  BaseTree,
  ChangedPaths,
  CommandFacts,
  CommitHook,
  RepoIdentity,
  RepositoryFacts,
  VerifyPorts,
  WorkflowPorts,
} from "../../rooms/workflow/index.ts";
import type { CatalyticPlaces, Composition } from "../compose/compose.ts";
import type { PlaceRequest } from "../compose/verification/verification-places.ts";
import type { QueuePorts } from "./queue/queue-ports.ts";
import type { RaceTurns } from "./race/race-turns.ts";
import type { MaskRequest, Masks } from "./request/masks.ts";
import type { ControlPorts } from "./work/control-ports.ts";

type OfTheWorkspace =
  | "background"
  | "clock"
  | "config"
  | "configNow"
  | "content"
  | "hold"
  | "surface"
  | "interrupts"
  | "keys"
  | "notify"
  | "progress"
  | "serveMcp"
  | "start"
  | "starting"
  | "store"
  | "platform"
  | "terminal";

/** Another work tree of the same repository. */
export interface Sibling {
  readonly root: string;
  /** Calls an operation there. What it answers is parsed by whoever asked. */
  call(operation: string, input: object): Promise<unknown>;
}

/** The user on whose machine an agent works. */
export interface UserPorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null where it is not known. */
  readonly home: string | null;
  /** Their own configuration, whether it is there or not. */
  readonly configFile: string;
  /** The files of their own profiles. */
  profiles(): readonly { readonly place: string; readonly value: JsonValue }[];
  /** A file with JSON in it that the user named. FILE_NOT_FOUND, PROFILE_INVALID. */
  readJson(file: string): JsonValue;
  /** The real path of the program that a word names, links followed. */
  realProgram(word: string): string | null;
  /** A small file of the user, links followed; null where there is none or it is larger. */
  readFile(place: string, most: number): Uint8Array | null;
  /** The same below a folder in which a command is at work: no link is followed. */
  readInside(base: string, path: string, most: number): Uint8Array | null;
  /** Regular files below such a folder, at most so many names; no link is followed. */
  listInside(
    base: string,
    most: number,
    isMeant: (path: string, kind: "file" | "folder") => boolean,
  ): readonly { readonly path: string; readonly size: number; readonly changed_ms: number }[];
  /** The first bytes of a file of any size below such a folder; null where there is none. */
  readStart(base: string, path: string, most: number): Uint8Array | null;
  /** What the user says that models cost; null: nothing. CONFIG_INVALID. */
  prices(): { readonly place: string; readonly value: JsonValue } | null;
  /** The record by which this user allowed a command, by its key; null: there is none. */
  readAllowed(key: string): JsonValue | null;
  /** Writes it, for its owner only, where no agent sees it. */
  writeAllowed(key: string, bytes: Uint8Array): void;
  /** Puts new bytes in the place of a file, for its owner only; false where that is not allowed. */
  replaceFile(place: string, bytes: Uint8Array): boolean;
  /** Makes a new file with its folders, for its owner only; false where one is there or that is not allowed. */
  createFile(place: string, bytes: Uint8Array): boolean;
  /** Calls again and again until the returned function is called. */
  every(ms: number, act: () => void): () => void;
}

/** What an agent run needs from outside: the two rooms it goes through, and the files its agent left. */
export interface AgentPorts extends Pick<Composition, OfTheWorkspace> {
  /** The queue of a team; null where there is none. */
  readonly queue: QueuePorts | null;
  /** The id that the next run gets; null: a new one. */
  readonly runId: string | null;
  readonly user: UserPorts;
  readonly control: ControlPorts;
  /** What the members of a race share; null outside of one. */
  readonly race: RaceTurns | null;
  /** Writes the record of a race beside the folders of its members. */
  writeRace(runDir: string, raceId: string, bytes: Uint8Array): void;
  /** The records of races in a folder of runs, by name. What is not JSON is left out. */
  readRaces(runsFolder: string): readonly JsonValue[];
  workflow(effect: Effect): Promise<WorkflowPorts>;
  catalytic(): CatalyticPorts;
  /** Root, state and configuration of the workspace, as runs need them. */
  places(): CatalyticPlaces;
  /** What no agent may read, whoever asks. */
  hiddenPlaces(): string[];
  /** The secrets of the tree and of the user that are hidden besides. */
  masks(request: MaskRequest, look: TreeScan | null): Masks;
  /** The processes of this machine. */
  host(): CatalyticPorts["host"];
  /** The other work trees of this repository that have been used with Verbatim. */
  siblings(): readonly Sibling[];
  /**
   * For a run of one of them that is to be used in this work tree: its record, its ledger and its contents are there, and
   * everything else is here.
   */
  borrow<T>(root: string, work: (outside: AgentPorts) => Promise<T>): Promise<T>;
  /** This work tree, where it is not the one that the runs belong to. */
  readonly here: RepoIdentity | null;
  /** What a tree of git has where the work tree is otherwise, its bytes in the content store; what is hidden without any. */
  freeze(base: BaseTree, isHidden: (path: string) => boolean): Promise<readonly TreeWrite[]>;
  readonly changedPaths: ChangedPaths;
  /** What can be asked about verify commands before an agent starts. */
  commandFacts(): CommandFacts & RepositoryFacts;
  /** Where a candidate can be verified, and what that takes. */
  verification(request: PlaceRequest): Promise<VerifyPorts>;
  /** The command that runs hooks in a view of the tree of a commit. */
  hookCommand(asked: {
    readonly tree: string;
    readonly hooks: readonly CommitHook[];
    readonly message: string;
  }): readonly string[];
  /**
   * At most so many bytes of a file below a folder that the agent may have written, and its size; why it is not read
   * where a link or something else than a file is in its place; null where nothing is.
   */
  readLeft(
    folder: string,
    path: string,
    most: number,
  ): { readonly size: number; readonly bytes: Buffer } | { readonly refused: "not_a_folder" | "not_a_file" } | null;
  /** Bytes of a file below a folder from a position on, and its size; null where there is no such file. */
  readPart(
    folder: string,
    path: string,
    from: number,
    most: number,
  ): { readonly size: number; readonly bytes: Buffer } | null;
}
