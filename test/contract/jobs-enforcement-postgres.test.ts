import { afterAll, beforeAll, describe } from "vitest";
import { createPostgresJobs } from "../support/job-store.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { describeEnforcement } from "./jobs-enforcement-suite.ts";

const postgres = await usePostgres();

const KEYS: Readonly<Record<string, string>> = {
  jobs_step: "(job_id, ordinal) do update set resolved = '{}'",
  jobs_receipt: "(step_id) do update set receipt = '{}'",
  jobs_open: "(number) do update set job_id = 'other'",
};

describe("jobs in PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  describeEnforcement(() => createPostgresJobs(database), {
    inserts: [
      (table, rows) => `insert into ${table} ${typed(rows)}`,
      (table, rows) => `insert into ${table} ${typed(rows)} on conflict do nothing`,
      (table, rows) => `insert into ${table} ${typed(rows)} on conflict ${KEYS[table]}`,
    ],
    changes: [
      (table, column) => `update ${table} set ${column} = ${column}`,
      (table) => `delete from ${table}`,
      (table) => `truncate ${table} cascade`,
    ],
    settings: ["set session_replication_role = origin", "set session_replication_role = replica"],
  });
});

/** PostgreSQL wants to know what kind of nothing a null is. */
function typed(rows: string): string {
  return rows.replace("null, null, 0, null", "null::text, null::bigint, 0, null::bigint");
}
