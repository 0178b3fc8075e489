import type { SqliteMigration } from "../migration.ts";

/** A file has no workers elsewhere; the number is that of PostgreSQL. */
export const workersMigration: SqliteMigration = {
  version: 19,
  name: "workers",
  sql: "",
};
