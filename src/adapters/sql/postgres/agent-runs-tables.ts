import { agentRunsTables } from "../agent-runs.ts";
import { toReadSql, toWriteSql } from "./numbered.ts";

/** The table of agent runs in PostgreSQL. */
export const postgresAgentRuns = agentRunsTables(toReadSql, toWriteSql);
