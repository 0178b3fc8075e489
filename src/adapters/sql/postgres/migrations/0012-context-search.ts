import type { PostgresMigration } from "../migration.ts";

/** The search of the context room by words of its own: the same tables as in SQLite. */
export const contextSearchMigration: PostgresMigration = {
  version: 12,
  name: "context-search",
  sql: (s) => `
drop table ${s}.context_search;
drop table ${s}.context_search_file;
delete from ${s}.context_search_fact;
create table ${s}.context_search_segment (
  id bigint primary key,
  paths text collate "C" not null,
  files bigint not null,
  small bigint not null check (small in (0, 1)),
  sections bytea not null,
  gone bytea not null
);
create table ${s}.context_search_file (
  path text collate "C" primary key,
  version text collate "C" not null,
  segment bigint not null,
  number bigint not null
);
create table ${s}.context_search_word (
  segment bigint not null,
  word text collate "C" not null,
  postings bytea not null,
  primary key (segment, word)
);
`,
};
