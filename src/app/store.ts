import { openPostgresStore } from "../adapters/postgres/store.ts";
import { openSqliteStore } from "../adapters/sqlite/store.ts";
import type { Clock, ContentStore, Ids, Store, SyncCrypto } from "../core/ports.ts";

/** What doctor says about a store. */
export interface StoreFacts {
  readonly [name: string]: unknown;
}

/** The store of a workspace with the tables of every room, whichever database holds it. */
export interface AppStore extends Store {
  facts(): Promise<StoreFacts>;
  /** Where the database keeps payloads itself. */
  readonly content: ContentStore | null;
}

export interface StoreOptions {
  readonly path: string;
  /** A PostgreSQL address; SQLite in `path` without one. */
  readonly url: string | undefined;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Opens the database of a workspace. */
export async function openStore(options: StoreOptions): Promise<AppStore> {
  const { path, url, crypto, clock, ids } = options;
  if (url === undefined || url === "") {
    const store = await openSqliteStore({ path, crypto, clock, ids });
    return bind(store, async () => ({ ...(await store.facts()) }), null);
  }
  const store = await openPostgresStore({ url, crypto, clock, ids });
  return bind(store, async () => ({ ...(await store.facts()) }), store.content);
}

function bind(store: Store, facts: () => Promise<StoreFacts>, content: ContentStore | null): AppStore {
  return {
    read: (fn) => store.read(fn),
    transact: (fn) => store.transact(fn),
    close: () => store.close(),
    facts,
    content,
  };
}
