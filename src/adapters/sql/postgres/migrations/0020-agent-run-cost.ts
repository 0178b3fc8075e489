import type { PostgresMigration } from "../migration.ts";

/** What a run has cost, as in SQLite. */
export const agentRunCostMigration: PostgresMigration = {
  version: 20,
  name: "agent-run-cost",
  sql: (s) => `
alter table ${s}.agent_runs add column usd_micro bigint;
`,
};
