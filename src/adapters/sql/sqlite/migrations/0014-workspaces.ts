import type { SqliteMigration } from "../migration.ts";

/** A file is one workspace, so nothing is divided here; the number is that of PostgreSQL. */
export const workspacesMigration: SqliteMigration = {
  version: 14,
  name: "workspaces",
  sql: "",
};
