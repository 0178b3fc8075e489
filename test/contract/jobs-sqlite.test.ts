import { describe } from "vitest";
import { createSqliteJobs } from "../support/job-store.ts";
import { describeJobs } from "./jobs-suite.ts";

describe("jobs in SQLite", () => {
  describeJobs(createSqliteJobs);
});
