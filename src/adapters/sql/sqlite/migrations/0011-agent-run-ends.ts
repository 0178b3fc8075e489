import type { SqliteMigration } from "../migration.ts";

/** Which program a run started and when it came to its end. The rules of the projection were raised, so rows are made again. */
export const agentRunEndsMigration: SqliteMigration = {
  version: 11,
  name: "agent-run-ends",
  sql: `
alter table agent_runs add column agent text not null default '';
alter table agent_runs add column ended_at text;
`,
};
