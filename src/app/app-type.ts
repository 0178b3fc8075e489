import type { Operation } from "../core/operation.ts";
import type { CallOptions } from "./compose/current-call.ts";
import type { Workspace } from "./config/workspace.ts";
import type { Input, OperationName, Output } from "./operation-types.ts";

/** One opened workspace, seen from a door. */
export interface App extends AsyncDisposable {
  readonly workspace: Workspace;
  /** Runs an operation: parses its input, runs it, parses its output. */
  call<N extends OperationName>(name: N, input: Input<N>, options?: CallOptions): Promise<Output<N>>;
  /** The canonical JSON Lines of an operation that has them; the result at the end is an exit code. */
  lines<N extends OperationName>(name: N, input: Input<N>): AsyncGenerator<string, unknown>;
  /** The description of an operation, for doors that are generated from it. */
  describe<N extends OperationName>(name: N): Promise<Operation & { readonly name: N }>;
  /** `call` for an input, or a name, that somebody outside wrote: what is wrong with it is refused when it is parsed. */
  callUnknown(name: string, input: unknown, options?: CallOptions): Promise<unknown>;
  /** `lines` for an input, or a name, that somebody outside wrote. */
  linesUnknown(name: string, input: unknown): AsyncGenerator<string, unknown>;
  close(): Promise<void>;
}
