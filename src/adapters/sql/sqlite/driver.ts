import type { DatabaseSyncInstance, DatabaseSyncOptions, StatementSyncInstance } from "@photostructure/sqlite";
import { VerbatimError } from "../../../core/errors/index.ts";
import { requireStorableText } from "../text.ts";
import { findAddon } from "./addon.ts";
import { isReadOnly, sqliteCode, toStoreError } from "./errors.ts";

/** What can be bound to a parameter. A whole number is stored as an integer. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

interface SqliteModule {
  readonly DatabaseSync: new (path: string, options?: DatabaseSyncOptions) => DatabaseSyncInstance;
}

interface Implementation {
  readonly name: "node:sqlite" | "@photostructure/sqlite";
  readonly module: SqliteModule;
}

let loaded: Promise<Implementation> | undefined;

/** The built-in module where it loads without a warning, else the package with the same API. */
export function loadSqlite(): Promise<Implementation> {
  loaded ??= hasStableBuiltin(process.versions.node) ? loadBuiltin() : loadPackage();
  return loaded;
}

/** node:sqlite became a release candidate, without a warning at load, in 24.15 and 25.7. */
export function hasStableBuiltin(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 25 || (major === 25 && minor >= 7) || (major === 24 && minor >= 15);
}

async function loadBuiltin(): Promise<Implementation> {
  const name = "node:sqlite";
  return { name, module: process.getBuiltinModule(name) as SqliteModule };
}

async function loadPackage(): Promise<Implementation> {
  const name = "@photostructure/sqlite";
  const addon = findAddon(import.meta.dirname);
  if (addon === null) return { name, module: await import("@photostructure/sqlite") };
  const holder = { exports: {} };
  process.dlopen(holder, addon);
  return { name, module: holder.exports as SqliteModule };
}

/** One open database file. Every error is one of the table; what a database would change is refused on bind. */
export class SqliteDatabase {
  readonly path: string;
  readonly #raw: DatabaseSyncInstance;
  readonly #bindsFloats: boolean;
  #readOnly = false;

  constructor(implementation: Implementation, path: string, busyMs: number) {
    this.path = path;
    this.#bindsFloats = implementation.name === "node:sqlite";
    try {
      this.#raw = new implementation.module.DatabaseSync(path, { timeout: busyMs });
    } catch (thrown) {
      throw toStoreError(thrown, path);
    }
    // Only newer drivers have it: it keeps plain SQL from editing the schema table or the file format.
    this.#raw.enableDefensive?.(true);
  }

  get inTransaction(): boolean {
    return this.#raw.isTransaction;
  }

  /** From now on this connection only reads. */
  forbidWriting(): void {
    this.exec("pragma query_only = on");
    this.#readOnly = true;
  }

  exec(sql: string): void {
    try {
      this.#raw.exec(sql);
    } catch (thrown) {
      throw this.toError(thrown);
    }
  }

  prepare(sql: string): SqliteStatement {
    try {
      return new SqliteStatement(this, this.#raw.prepare(sql), this.#bindsFloats);
    } catch (thrown) {
      throw this.toError(thrown);
    }
  }

  close(): void {
    this.#raw.close();
  }

  /** Throws STORE_CORRUPT when the file's structure is damaged. Cost: a walk over the file. */
  check(): void {
    const row = this.prepare("pragma quick_check(1)").get([]) as { quick_check: string };
    if (row.quick_check !== "ok") {
      throw new VerbatimError("STORE_CORRUPT", { message: row.quick_check, where: this.path });
    }
  }

  /** What the driver threw on this connection, as an error of the table. */
  toError(thrown: unknown): Error {
    if (this.#readOnly && isReadOnly(thrown)) {
      return new VerbatimError("INTERNAL", { message: "a reader of the store tried to write", cause: thrown });
    }
    return toStoreError(thrown, this.path);
  }
}

/** A prepared statement. Integers beyond the safe range are refused when they are read. */
export class SqliteStatement {
  readonly returnsRows: boolean;
  readonly #database: SqliteDatabase;
  readonly #raw: StatementSyncInstance;
  readonly #bindsFloats: boolean;

  constructor(database: SqliteDatabase, raw: StatementSyncInstance, bindsFloats: boolean) {
    this.#database = database;
    this.#raw = raw;
    this.#bindsFloats = bindsFloats;
    this.returnsRows = raw.columns().length > 0;
  }

  /** Number of rows changed. */
  run(values: readonly SqliteValue[]): number {
    const bound = this.#bind(values);
    try {
      return Number(this.#raw.run(...bound).changes);
    } catch (thrown) {
      throw this.#database.toError(thrown);
    }
  }

  get(values: readonly SqliteValue[]): unknown {
    const bound = this.#bind(values);
    try {
      return this.#raw.get(...bound);
    } catch (thrown) {
      throw this.#database.toError(thrown);
    }
  }

  all(values: readonly SqliteValue[]): unknown[] {
    const bound = this.#bind(values);
    try {
      return this.#raw.all(...bound);
    } catch (thrown) {
      throw this.#database.toError(sqliteCode(thrown) === null ? this.#findCode(bound, thrown) : thrown);
    }
  }

  /**
   * The package's `all` throws without SQLite's code; the first step again, or a look at the file, brings it out.
   * A statement that failed spoils its transaction, so what runs a second time here is never committed.
   */
  #findCode(bound: readonly SqliteValue[], thrown: unknown): unknown {
    try {
      this.#raw.get(...bound);
      this.#database.check();
      return thrown;
    } catch (again) {
      return again;
    }
  }

  /** The built-in module binds every number as a float, the package whole ones as integers. */
  #bind(values: readonly SqliteValue[]): readonly SqliteValue[] {
    let hasInteger = false;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (typeof value === "string") requireStorableText(value);
      else if (typeof value === "number") {
        if (Number.isSafeInteger(value)) hasInteger = true;
        else if (!Number.isFinite(value) || Number.isInteger(value)) throw notStorableNumber(value);
      }
    }
    return hasInteger && this.#bindsFloats ? values.map(toInteger) : values;
  }
}

function toInteger(value: SqliteValue): SqliteValue {
  return Number.isInteger(value) ? BigInt(value as number) : value;
}

function notStorableNumber(value: number): VerbatimError {
  return new VerbatimError("INTERNAL", {
    message: `the number ${value} cannot be stored; use BigInt for large integers`,
  });
}
