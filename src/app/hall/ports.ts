import type { CatalyticPorts } from "../../rooms/catalytic/index.ts";
import type { AgentPorts } from "../agent/ports.ts";
import type { Composition } from "../compose/compose.ts";
import type { AreaPorts } from "../conformance/ports.ts";
import type { DefaultSources } from "./init.ts";

type OfTheWorkspace =
  | "config"
  | "crypto"
  | "env"
  | "files"
  | "open"
  | "platform"
  | "progress"
  | "store"
  | "surface"
  | "userState"
  | "workspace";

/** What the operations of the hall need: the workspace, and this machine to look at and to try things on. */
export interface HallPorts extends Pick<Composition, OfTheWorkspace> {
  /** What vectors are run on. */
  readonly areas: AreaPorts;
  /** Told what was found wrong with this machine, or not. */
  onDiagnosed(found: object): void;
  createStateFolder(): void;
  /** The user's own folder of configuration and keys. */
  readonly userConfig: string;
  /** Where workflow runs lie. */
  findRunsRoot(): string;
  /** Whether nothing was ever stored in this workspace. */
  isStoreAbsent(): boolean;
  /** REPO_NOT_GIT where no agent could work: git refuses the repository, or it has no commit. */
  requireCommit(root: string): Promise<unknown>;
  /** What an index would hold here without any configuration. */
  findDefaultSources(): Promise<DefaultSources>;
  /** Why sections of code cannot be made here; null when they can. */
  missingGrammars(): string | null;
  /** Whether others than the owner have rights to a place. */
  isWide(place: string): boolean;
  /** The guards, to be tried in this folder. */
  openGuards(folder: string): CatalyticPorts["guards"];
  git(root: string, args: readonly string[]): Promise<unknown>;
  /** A workspace with no caller, for an agent of ours. */
  openAlone(start: string, env: NodeJS.ProcessEnv): { readonly agent: AgentPorts; close(): Promise<void> };
  /** Changes an entry of a ledger behind its back; says what the database answered before its triggers were dropped. */
  forgeEntry(database: string): Promise<string>;
}
