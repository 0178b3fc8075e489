import { agentRunsTables } from "../agent-runs.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";

/** The table of agent runs in SQLite. */
export const sqliteAgentRuns = agentRunsTables(
  (connection: SqliteReadConnection) => connection,
  (connection: SqliteWriteConnection) => connection,
);
