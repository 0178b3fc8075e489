import type {
  Clock,
  ContentStore,
  Ids,
  LocalFiles,
  Random,
  ReadTransaction,
  Store,
  SyncCrypto,
  WriteTransaction,
} from "../../../core/ports.ts";
import type {
  Folders,
  Graphemes,
  Inflater,
  Models,
  Timer,
  Tokenizer,
  Worker,
  WorldReader,
  WorldWriter,
  Zones,
} from "../ports.ts";

export interface WorldReadTransaction extends ReadTransaction {
  readonly world: WorldReader;
}

export interface WorldWriteTransaction extends WriteTransaction {
  readonly world: WorldWriter;
}

export type WorldStore = Store<WorldReadTransaction, WorldWriteTransaction>;

/** Times the room keeps; tests of faults make them short. */
export interface WorldTimes {
  /** How long a claim holds without a heartbeat. */
  readonly lease_ms: number;
  /** How long the beat lock of a world holds without a sign of life. */
  readonly lock_ms: number;
  /** How long a beat waits for its turn. */
  readonly queue_ms: number;
  /** How long a duplicate waits for the first to finish. */
  readonly wait_ms: number;
}

export const DEFAULT_TIMES: WorldTimes = { lease_ms: 60_000, lock_ms: 20_000, queue_ms: 30_000, wait_ms: 25_000 };

/** Everything the room needs from outside. */
export interface WorldPorts {
  readonly store: WorldStore;
  readonly content: ContentStore;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly pace: Timer;
  readonly worker: Worker;
  readonly zones: Zones;
  readonly graphemes: Graphemes;
  readonly inflater: Inflater;
  readonly tokenizer: Tokenizer;
  readonly models: Models;
  readonly files: LocalFiles;
  readonly folders: Folders;
  /** Who appends: the surface. */
  readonly actor: string;
  /** Zone of this machine, for new worlds. */
  readonly system_zone: string;
  readonly times: WorldTimes;
  /** Told when a control write was committed, or was answered from what is stored. */
  onControl?(worldId: string, isReplay: boolean): void;
}
