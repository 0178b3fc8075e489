import type { JsonObject, JsonValue } from "../../core/canonical/index.ts";
import type { Awaitable, SyncCrypto } from "../../core/ports.ts";
import type { CatalyticPorts, PathLook } from "../../rooms/catalytic/index.ts";
import type { ContextPorts } from "../../rooms/context/index.ts";
import type { JobPorts } from "../../rooms/jobs/index.ts";
import type { PatchChecker, RepoReader } from "../../rooms/workflow/index.ts";
import type { WorldPorts } from "../../rooms/world/index.ts";
import type { CatalyticPlaces } from "../compose/compose.ts";
import type { Vector } from "./vector.ts";

/** A workspace that a vector describes, on a real disk. */
interface VectorWorkspace {
  context(): Promise<ContextPorts>;
  jobs(): Promise<JobPorts>;
  catalytic(): CatalyticPorts;
  places(): CatalyticPlaces;
  close(): Promise<void>;
}

/** What an area's function is handed: the same things that the product runs on. */
export interface AreaPorts extends Pick<WorldPorts, "zones" | "graphemes"> {
  readonly crypto: SyncCrypto;
  readonly disk: CatalyticPorts["disk"];
  lookAt(root: string): PathLook;
  readerOf(root: string): RepoReader;
  checkerOf(root: string): PatchChecker;
  git(root: string, args: readonly string[]): Promise<unknown>;
  /** Runs a tool of the system that must succeed. */
  tool(name: string, args: readonly string[]): Promise<void>;
  openWorkspace(root: string, env: NodeJS.ProcessEnv): VectorWorkspace;
  /** The whole file: a vector may build on another one. */
  readonly vectors?: readonly Vector[];
}

/** Answers a vector's input with what must equal its expectation; a coded error is an answer too. */
export type AreaFunction = (input: JsonObject, ports: AreaPorts) => Awaitable<JsonValue>;
