import type { HostEntry } from "../../../core/network/host-names.ts";
import type { BaseTree } from "../patch/ports.ts";
import type { HiddenValue } from "../policy/masks.ts";
import type { GateDone, GateWork } from "../run/ports.ts";
import type { VerificationReport } from "./report.ts";

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
  /** What may be reached besides while the first work, the set-up, is done. */
  readonly setup_hosts?: readonly HostEntry[];
}

export interface VerificationEnd {
  readonly catalytic_run_id: string | null;
  /** Why nothing of it can be believed; null when the proof holds. */
  readonly problem: string | null;
  /** What git ignored when it began, with a text for each that changes with it; null where it is not known. */
  readonly ignored: ReadonlyMap<string, string> | null;
  /** Paths that someone else changed in the real tree while it ran. */
  readonly changed_meanwhile: readonly string[];
  /** What it might use, and what saw to that, where anything did. */
  readonly caps?: NonNullable<VerificationReport["caps"]>;
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
  /** What is hidden from the commands, and what hidden files assign; known once the place is frozen. */
  hidden(): { readonly names: readonly string[]; readonly values: readonly HiddenValue[] };
  /** What has to be written so that the place is the base of the run again. */
  freeze(base: BaseTree): Promise<readonly ViewWrite[]>;
  /** Whether something that git does not track is there, such as node_modules. */
  has(path: string): boolean;
  open(script: VerificationScript, signal: AbortSignal): Promise<VerificationSession>;
  close(): Promise<void>;
}

/** How a command ended on a base without any candidate. */
interface BaselineResult {
  readonly exit_code: number;
  readonly ms: number;
}

/** Results of baselines that are kept: the same command on the same base is not run twice. */
export interface Baselines {
  get(key: string): BaselineResult | null;
  put(key: string, result: BaselineResult): void;
}
