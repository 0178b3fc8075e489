import type { JsonValue } from "../../../core/canonical/index.ts";
import type { LocalFiles } from "../../../core/ports.ts";
import type { CatalyticPorts } from "../ports.ts";

/** What the operations of the room need: the ports of a run, and where the workspace lies. */
export interface RoomPorts extends CatalyticPorts {
  readonly files: LocalFiles;
  /** The public key in hex of a key that is given by its name or the path of its file; KEY_UNKNOWN without one. */
  publicKey(key: string): Promise<string>;
  /** Folder the caller is in; null for a caller elsewhere, who may name runs by id only. */
  readonly folder: string | null;
  /** Root, state and configuration; read when an operation needs them. */
  places(): {
    readonly root: string;
    readonly state: string;
    readonly user_state: string;
    readonly config: JsonValue;
  };
}
