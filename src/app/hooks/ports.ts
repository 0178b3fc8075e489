import type { Clock, Store } from "../../core/ports.ts";
import type { Workspace } from "../config/workspace.ts";

/** Where the directory of a run is looked for. */
interface RunPlace {
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** As the configuration says it; null where it does not. */
  readonly runsRoot: string | null;
  readonly slug: string;
  /** Inside the view of an agent the state folder, and with it the identity of the repository, is hidden. */
  readonly isInView: boolean;
}

/** What judging and recording a hook call needs from outside. Whatever implements it must load in a few milliseconds. */
export interface HookPorts {
  readonly clock: Clock;
  sha256(bytes: string | Uint8Array): string;
  findWorkspace(start: string): Workspace;
  /** Makes the state folder when it is missing; says whether it did. */
  createStateFolder(workspace: Workspace): boolean;
  /** The directory of a run of this repository, or null. */
  findRunDir(place: RunPlace, id: string): string | null;
  /** Appends with one write and makes it durable. */
  append(place: string, bytes: Uint8Array): void;
  /** Only the ledger: the tables of the rooms would have to be loaded first. */
  openLedger(workspace: Workspace, env: NodeJS.ProcessEnv): Promise<Store>;
}

/** Writes the whole file durably: there with the new bytes, or as it was. */
export type WriteFile = (place: string, bytes: Uint8Array, mode: number) => void;
