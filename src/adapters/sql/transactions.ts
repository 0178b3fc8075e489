import type { LedgerReader, LedgerWriter, ReadTransaction, WriteTransaction } from "../../core/ports.ts";

/** How a room's tables are made for one transaction: what a reader gets and what a writer gets. */
interface RoomTables<ReadConnection, WriteConnection> {
  read(connection: ReadConnection): unknown;
  write(connection: WriteConnection): unknown;
}

/** Rooms by the name their tables have on a transaction. */
export type Rooms<ReadConnection, WriteConnection> = Readonly<
  Record<string, RoomTables<ReadConnection, WriteConnection>>
>;

interface AnyRoom {
  read(connection: never): unknown;
  write(connection: never): unknown;
}

/** The read transaction of a store with these rooms. */
export type ReadTransactionOf<D extends Readonly<Record<string, AnyRoom>>> = ReadTransaction & {
  readonly [K in keyof D]: ReturnType<D[K]["read"]>;
};

/** The write transaction of a store with these rooms. */
export type WriteTransactionOf<D extends Readonly<Record<string, AnyRoom>>> = WriteTransaction & {
  readonly [K in keyof D]: ReturnType<D[K]["write"]>;
};

/**
 * Prepares transactions once per store, so that opening one costs nothing per room: a room's tables are made when
 * they are first asked for and then kept as long as the transaction.
 */
export function prepareTransactions<Connection, Ledger extends LedgerReader | LedgerWriter>(
  tables: Readonly<Record<string, (connection: Connection) => unknown>>,
): (connection: Connection, ledger: Ledger) => { readonly ledger: Ledger } {
  class Transaction {
    readonly ledger: Ledger;
    readonly #connection: Connection;
    readonly #made = new Map<string, unknown>();

    constructor(connection: Connection, ledger: Ledger) {
      this.#connection = connection;
      this.ledger = ledger;
    }

    /** Made on the first use and kept from then on. */
    static make(tx: Transaction, name: string): unknown {
      let made = tx.#made.get(name);
      if (made === undefined) {
        made = tables[name]!(tx.#connection);
        tx.#made.set(name, made);
      }
      return made;
    }
  }
  for (const name of Object.keys(tables)) {
    Object.defineProperty(Transaction.prototype, name, {
      get(this: Transaction) {
        return Transaction.make(this, name);
      },
    });
  }
  return (connection, ledger) => new Transaction(connection, ledger);
}
