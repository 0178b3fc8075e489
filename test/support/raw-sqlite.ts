import { loadSqlite } from "../../src/adapters/sql/sqlite/driver.ts";

/**
 * The driver of the store itself, for tests that look at its file from beside. Two SQLite libraries in one process would
 * not see each other's locks, because those belong to the process.
 */
export const { DatabaseSync } = (await loadSqlite()).module;
