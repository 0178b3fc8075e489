import type { SqliteMigration } from "../migration.ts";

/** A file has one owner, whose token is that of the server; the number is that of PostgreSQL. */
export const accessTokensMigration: SqliteMigration = {
  version: 21,
  name: "access-tokens",
  sql: "",
};
