import type { PostgresMigration } from "../migration.ts";

/** The context room: the same projections as in SQLite; what is searched is a tsvector of plain words. */
export const contextMigration: PostgresMigration = {
  version: 2,
  name: "context",
  sql: (s) => `
create table ${s}.context_fact (
  id integer primary key check (id = 1),
  index_hash text collate "C" not null,
  files bigint not null,
  sections bigint not null,
  sources_hash text collate "C" not null,
  rules integer not null,
  built_at text collate "C" not null,
  revision bigint not null
);
create table ${s}.context_image (
  name text collate "C" not null,
  part bigint not null,
  bytes bytea not null,
  primary key (name, part)
);
create table ${s}.context_file (
  path text collate "C" not null,
  version text collate "C" not null,
  sections bytea not null,
  primary key (path, version)
);
create table ${s}.context_symbol (
  symbol_id text collate "C" primary key,
  symbol text collate "C" not null,
  last text collate "C"
);
create table ${s}.context_search_fact (
  id integer primary key check (id = 1),
  revision bigint not null
);
create table ${s}.context_search_file (
  path text collate "C" primary key,
  version text collate "C" not null
);
create table ${s}.context_search (
  path text collate "C" not null references ${s}.context_search_file (path) on delete cascade,
  ordinal bigint not null,
  part bigint not null,
  words tsvector not null,
  primary key (path, ordinal, part)
);
create index context_search_words on ${s}.context_search using gin (words);
`,
};
