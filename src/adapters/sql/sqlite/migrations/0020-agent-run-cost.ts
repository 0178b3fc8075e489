import type { SqliteMigration } from "../migration.ts";

/** What a run has cost. The rules of the projection were raised, so rows are made again. */
export const agentRunCostMigration: SqliteMigration = {
  version: 20,
  name: "agent-run-cost",
  sql: `
alter table agent_runs add column usd_micro integer;
`,
};
