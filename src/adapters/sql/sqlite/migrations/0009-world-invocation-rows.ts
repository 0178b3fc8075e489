import { refusing } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

/**
 * Answers of invocations in the order in which they came. Request ids are random, and rows of answers in the order of
 * their ids made every commit write pages all over the table. Nobody looked for entries by their write bundle.
 */
export const worldInvocationRowsMigration: SqliteMigration = {
  version: 9,
  name: "world-invocation-rows",
  sql: `
drop index world_entry_bundle;

drop trigger world_invocation_no_delete;
drop trigger world_invocation_done;
create table world_invocation_row (
  world integer not null,
  request_id text not null,
  body_sha256 text not null,
  status text not null,
  fence integer not null,
  lease_until integer not null,
  outcome text,
  headers text,
  unique (world, request_id)
) strict;
insert into world_invocation_row select world, request_id, body_sha256, status, fence, lease_until, outcome, headers
from world_invocation;
drop table world_invocation;
alter table world_invocation_row rename to world_invocation;
${refusing("world_invocation_no_delete", "before delete on world_invocation", "world_invocation: rows are never deleted")}
${refusing(
  "world_invocation_done",
  "before update on world_invocation when old.status = 'DONE'",
  "world_invocation: what is done stays as it is",
)}
`,
};
