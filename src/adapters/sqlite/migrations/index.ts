import type { SqliteMigration } from "../migration.ts";
import { ledgerMigration } from "./0001-ledger.ts";
import { contextMigration } from "./0002-context.ts";

/** All migrations in order; the version of a migration is its place in the list, from 1. */
export const SQLITE_MIGRATIONS: readonly SqliteMigration[] = [ledgerMigration, contextMigration];
