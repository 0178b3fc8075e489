import type { PostgresMigration } from "../migration.ts";

/** Which program a run started and when it came to its end, as in SQLite. */
export const agentRunEndsMigration: PostgresMigration = {
  version: 11,
  name: "agent-run-ends",
  sql: (s) => `
alter table ${s}.agent_runs add column agent text collate "C" not null default '';
alter table ${s}.agent_runs add column ended_at text collate "C";
`,
};
