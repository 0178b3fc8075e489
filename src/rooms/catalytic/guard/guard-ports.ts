import type { CapHit, Caps, HeldBy } from "../../../core/contracts/caps.ts";
import type { GuardName } from "../../../core/contracts/guards.ts";
import type { Connection } from "../../../core/network/connections.ts";
import type { HostEntry } from "../../../core/network/host-names.ts";
import type { NetworkMode } from "../contracts/constants.ts";
import type { ProbeAnswer } from "./guard-choice.ts";

/** One folder the command may write, without reaching the original. */
export interface Layer {
  readonly index: number;
  readonly kind: "overlay" | "copy" | "home";
  /** Absolute. */
  readonly path: string;
}

/** The terminal of whoever asked. */
export interface UserTerminal {
  /** Whether standard error is it too. */
  readonly errors: boolean;
  size(): { readonly rows: number; readonly columns: number };
  /**
   * Hands over every key as it is, and every change of the size, until the returned function is called; that is told
   * whether the command left the terminal on its other screen.
   */
  connect(onInput: (bytes: Uint8Array) => void, onResize: () => void): (onOtherScreen: boolean) => void;
}

/** What a command reads on its standard input, and the hash that stands for it in the record. */
export interface CommandInput {
  readonly sha256: string;
  open(): AsyncIterable<Uint8Array>;
}

/** What a command with a network of its own may reach. */
export interface Reach {
  /** Every host it may reach at some time. */
  readonly hosts: readonly HostEntry[];
  /** Those it may reach at this moment (default: all of them). */
  now?(): readonly HostEntry[];
  /** Resolves when that became less: connections to what is not among them any more are ended. */
  readonly narrowed?: Promise<void>;
  /** A server of ours on loopback that it may reach as well, and the variable that says where. */
  readonly server?: { readonly port: number; readonly path: string; readonly variable: string };
}

/** The same with whoever is told what became of each connection. */
export interface WatchedReach extends Reach {
  onConnection(connection: Connection): void;
  /** What passes connections on has ended, which only the command can have done: it has no network any more. */
  onLost(): void;
}

/** What a command may use, with whoever is told how that is seen to and when it was too much. */
export interface WatchedCaps extends Caps {
  /** Before the command starts. */
  onHeld(by: HeldBy): void;
  /** The command is being ended for it, or has ended. */
  onHit(hit: CapHit): void;
}

/** What the launchers do about caps before they start a command. */
interface LaunchLimits {
  /** Files of control groups that a process joins by writing to them. */
  readonly groups: readonly string[];
  /** What the launcher is started by, so that the command can join them; mostly nothing. */
  readonly starter?: readonly string[];
  /** Processes of this user in the user namespace of the command; null: something else counts. */
  readonly processes: number | null;
  /** The size of one file. */
  readonly file: number;
  /** The size of each temporary file system. */
  readonly temporary: number;
}

export interface LaunchRequest {
  readonly guard: GuardName;
  readonly run_id: string;
  readonly root: string;
  readonly work: string;
  readonly layers: readonly Layer[];
  /** Folders that are actually written: swap-back guards and what a view keeps. */
  readonly writable: readonly string[];
  /** Read-only places in a view: from a layer's lower side to the path. */
  readonly holes: readonly { readonly from: string; readonly to: string }[];
  readonly keeps: readonly { readonly from: string; readonly to: string }[];
  /** Places that stay readable although they are below a folder the guard replaces. */
  readonly visible?: readonly string[];
  /** Folders and files the command cannot read where the guard can hide them; empty in their place, `shown` aside. */
  readonly hidden?: readonly string[];
  /** Files inside overlays that the command finds empty and may write. */
  readonly masked?: readonly string[];
  /** A file in an overlay that the command finds as another one is. */
  readonly replaced?: { readonly from: string; readonly to: string };
  /**
   * What is written through the overlay of the tree before the command starts, in this order: paths relative to it, and
   * the files of the work folder that hold their bytes.
   */
  readonly written?: readonly {
    readonly how: "file" | "exec" | "link" | "gone";
    readonly from: string;
    readonly path: string;
  }[];
  /** Files and folders inside hidden ones that stay, read-only unless they are kept. */
  readonly shown?: readonly string[];
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly network: NetworkMode;
  /** For every mode but `inherit`. */
  readonly reach?: WatchedReach;
  /** What the relay inside is told, for the launchers. */
  readonly relay?: readonly string[];
  readonly caps?: WatchedCaps;
  /** What follows from them, for the launchers. */
  readonly limits?: LaunchLimits;
  readonly timeout_ms: number;
  readonly stdin: "null" | "inherit";
  /** What the command reads on its standard input, to the end. */
  readonly input?: CommandInput;
  /** The command gets a terminal of its own, connected with this one, where the guard can give it one. */
  readonly terminal?: UserTerminal;
  /** The command's own terminal, for the launchers. */
  readonly tty?: { readonly path: string; readonly errors: boolean };
  onOutput(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** What passes its connections on ended before the command did. */
  onRelayLost?(): void;
}

export interface Ending {
  readonly exit_code: number;
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly interrupted: boolean;
  readonly orphans_killed: number;
}

/** A command that runs. Its process tree is empty when `ended` resolves; what it wrote can be read until `release`. */
export interface RunningCommand {
  readonly launcher: string;
  /** The process above everything that belongs to the command. */
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** Forwards a signal; the second one kills. */
  interrupt(signal: "SIGINT" | "SIGTERM"): void;
  /** Forwards a signal and nothing else. */
  ask(signal: "SIGINT" | "SIGTERM"): void;
  /** Ends everything at once. */
  end(): void;
  /** Where a path inside a layer can be read from outside, after the end. */
  merged(layer: Layer): string;
  /** The upper folder of an overlay or a home, which holds whatever the command touched; null or absent for a copy. */
  upper?(layer: Layer): string | null;
  release(): Promise<void>;
}

/** What the processes of a run carry in their environment. */
export interface RunMark {
  readonly run_id: string;
  readonly work: string;
}

export interface Guards {
  /** Really tries every guard of the platform; `fresh` ignores what was found before. */
  probe(fresh: boolean): Promise<Readonly<Partial<Record<GuardName, ProbeAnswer>>>>;
  /** The version of landlock the kernel has: 0 when it is off, null where nobody can be asked. */
  landlockAbi(): number | null;
  /** Resolves when the command was started; GUARD_START_FAILED when it was not. */
  launch(request: LaunchRequest): Promise<RunningCommand>;
  /** Ends every process that carries the marker of a run; says how many there were. */
  endMarked(run: RunMark): Promise<number>;
}
