import type { SqliteMigration } from "../migration.ts";

/** A file is locked by the file system; the number is that of PostgreSQL. */
export const indexLeaseMigration: SqliteMigration = {
  version: 18,
  name: "index-lease",
  sql: "",
};
