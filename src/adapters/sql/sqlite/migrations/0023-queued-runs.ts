import type { SqliteMigration } from "../migration.ts";

/** A file has no workers that runs could be sent to; the number is that of PostgreSQL. */
export const queuedRunsMigration: SqliteMigration = {
  version: 23,
  name: "queued-runs",
  sql: "",
};
