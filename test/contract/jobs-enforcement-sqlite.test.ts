import { describe } from "vitest";
import { createSqliteJobs } from "../support/job-store.ts";
import { describeEnforcement } from "./jobs-enforcement-suite.ts";

const into = (words: string, more: string) => (table: string, rows: string) =>
  `${words} into ${table}${COLUMNS[table] ?? ""} select * from (${rows}) where true ${more}`;

const COLUMNS: Readonly<Record<string, string>> = {
  jobs_receipt: " (step_id, job_id, ordinal, status, receipt_hash, receipt)",
};

describe("jobs in SQLite", () => {
  describeEnforcement(createSqliteJobs, {
    inserts: [
      into("insert", ""),
      into("replace", ""),
      into("insert or replace", ""),
      into("insert or ignore", ""),
      into("insert or fail", ""),
      into("insert or rollback", ""),
      into("insert", "on conflict do nothing"),
      into("insert", "on conflict do update set job_id = job_id"),
    ],
    changes: [
      (table, column) => `update ${table} set ${column} = ${column}`,
      (table, column) => `update or replace ${table} set ${column} = ${column}`,
      (table, column) => `update or ignore ${table} set ${column} = ${column}`,
      (table) => `delete from ${table}`,
      (table) => `delete from ${table} where true`,
    ],
    settings: ["pragma recursive_triggers = off", "pragma recursive_triggers = on"],
  });
});
