import type { LocalFiles, Progress, Store, SyncCrypto } from "../ports.ts";
import type { SigningKey } from "../trust/key.ts";

/** What the operations of the ledger need. */
export interface LedgerPorts {
  readonly store: Store;
  readonly crypto: SyncCrypto;
  readonly files: LocalFiles;
  readonly progress: Progress;
  readonly actor: string;
  /** A key that can sign, by its name or the path of its file. */
  /** Told what a whole verification found, with the time it ended. */
  onVerified?(verdict: object): void;
  loadKey(key: string): Promise<SigningKey>;
  /** The keys of this machine, to call a signer by its name. */
  listKeys(): Promise<readonly { readonly name: string; readonly key_id: string }[]>;
}

/** Largest file of a checkpoint, a policy or a proof. */
export const MAX_FILE = 16 * 1024 * 1024;
