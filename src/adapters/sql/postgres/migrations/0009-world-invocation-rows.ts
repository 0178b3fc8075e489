import type { PostgresMigration } from "../migration.ts";

/** Nobody looked for entries by their write bundle. Answers are in the order in which they came here already. */
export const worldInvocationRowsMigration: PostgresMigration = {
  version: 9,
  name: "world-invocation-rows",
  sql: (s) => `
drop index ${s}.world_entry_bundle;
`,
};
