import type { SqliteMigration } from "../migration.ts";

/** A file has no workers elsewhere and no repositories; the number is that of PostgreSQL. */
export const teamMigration: SqliteMigration = {
  version: 15,
  name: "team",
  sql: "",
};
