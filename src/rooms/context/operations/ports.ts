import type { LocalFiles } from "../../../core/ports.ts";
import type { ExpansionPorts } from "../expansion/expansion.ts";
import type { BuildPorts } from "../index/index-build.ts";
import type { SearchReader } from "../ports.ts";

/** Everything the operations of this room need. */
export interface ContextPorts extends BuildPorts, ExpansionPorts {
  readonly files: LocalFiles;
  readonly searching: SearchReader;
}
