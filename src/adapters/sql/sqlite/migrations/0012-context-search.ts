import type { SqliteMigration } from "../migration.ts";

/**
 * The search of the context room by words of its own, the same in both databases. Segments are written once; a file is
 * searched where `context_search_file` says. What earlier versions made searchable is made so again by the next build or search,
 * so it does not matter whether a store that was written out as text and read again still had all of it.
 */
export const contextSearchMigration: SqliteMigration = {
  version: 12,
  name: "context-search",
  sql: `
drop table if exists context_search;
drop table if exists context_search_file;
drop table if exists context_search_fact;
create table context_search_fact (
  id integer primary key check (id = 1),
  revision integer not null
) strict;
create table context_search_segment (
  id integer primary key,
  paths text not null,
  files integer not null,
  small integer not null check (small in (0, 1)),
  sections blob not null,
  gone blob not null
) strict;
create table context_search_file (
  path text not null primary key,
  version text not null,
  segment integer not null,
  number integer not null
) strict, without rowid;
create table context_search_word (
  segment integer not null,
  word text not null,
  postings blob not null,
  primary key (segment, word)
) strict, without rowid;
`,
};
