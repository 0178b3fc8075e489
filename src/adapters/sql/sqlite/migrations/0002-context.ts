import type { SqliteMigration } from "../migration.ts";

/**
 * The context room: projections that can be rebuilt, so nothing here is append-only. Sections are kept per version of
 * a file, which lets a build write them before it becomes current; with a rowid, because rows of a kilobyte do not fit
 * the pages of a table without one. Search rows have the id `file * 2^25 + ordinal`.
 */
export const contextMigration: SqliteMigration = {
  version: 2,
  name: "context",
  sql: `
create table context_fact (
  id integer primary key check (id = 1),
  index_hash text not null,
  files integer not null,
  sections integer not null,
  sources_hash text not null,
  rules integer not null,
  built_at text not null,
  revision integer not null
) strict;
create table context_image (
  name text not null,
  part integer not null,
  bytes blob not null,
  primary key (name, part)
) strict;
create table context_file (
  path text not null,
  version text not null,
  sections blob not null,
  primary key (path, version)
) strict;
create table context_symbol (
  symbol_id text not null primary key,
  symbol text not null,
  last text
) strict, without rowid;
create table context_search_fact (
  id integer primary key check (id = 1),
  revision integer not null
) strict;
create table context_search_file (
  id integer primary key check (id < 274877906944),
  path text not null unique,
  version text not null,
  row_count integer not null check (row_count <= 33554432)
) strict;
create virtual table context_search using fts5(
  body, path, headings, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
`,
};
