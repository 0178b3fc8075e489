import type { Operation } from "../core/operation.ts";
import type { CallOptions } from "./current-call.ts";
import type { Workspace } from "./workspace.ts";

/** One opened workspace, seen from a door. */
export interface App extends AsyncDisposable {
  readonly workspace: Workspace;
  /** Runs an operation: parses its input, runs it, parses its output. */
  call(name: string, input: unknown, options?: CallOptions): Promise<unknown>;
  /** The canonical JSON Lines of an operation that has them; the result at the end is an exit code. */
  lines(name: string, input: unknown): AsyncGenerator<string, unknown>;
  /** The description of an operation, for doors that are generated from it. */
  describe(name: string): Promise<Operation>;
  close(): Promise<void>;
}
