import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { POSTGRES_MIGRATIONS } from "../../src/adapters/sql/postgres/migrations/index.ts";
import { migratePostgres } from "../../src/adapters/sql/postgres/store.ts";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sql/sqlite/migrations/index.ts";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import { ContextWorkspace } from "../support/context-workspace.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";

// What is the same whatever the database: results to the last number, and stores of the version before this search.

const postgres = await usePostgres();
const BEFORE = 11;
const FILES: Readonly<Record<string, string>> = {
  "a.md": "# Lanterns\nThe caf\u00e9 by the quay lit three lanterns.\n## Oil\nOptions: optional oil, option two.\n",
  "notes/b.md":
    "# Quays\n\u6e2f\u306e\u30e9\u30f3\u30bf\u30f3\u3092\u706f\u3057\u305f\n## Lantern\n\u0939\u093f\u0928\u094d\u0926\u0940 lantern oil\n",
  "notes/tests/c.md": "# Lantern\nlantern lantern option\n",
  "notes/d.txt": `${"lantern ".repeat(400)}\n${"\u{1f600}".repeat(90)} quay\n`,
};
const QUERIES = [
  "lantern",
  "lanterns",
  "option",
  "options oil",
  "caf\u00e9 quay",
  "\u30e9\u30f3\u30bf\u30f3",
  "\u0939\u093f\u0928\u094d\u0926\u0940",
  "lan*",
  '"optional oil"',
  "notes",
  "d txt",
];

async function answer(workspace: ContextWorkspace): Promise<{ readonly total: number }[]> {
  for (const [path, text] of Object.entries(FILES)) workspace.write(path, text);
  await workspace.build();
  const answers: { readonly total: number }[] = [];
  for (const query of QUERIES) answers.push(await workspace.call("search", { query }));
  return answers;
}

describe("searching an upgraded store", () => {
  it("in SQLite answers as a new one does", async () => {
    const [old, fresh] = [new ContextWorkspace(), new ContextWorkspace()];
    try {
      const path = old.place(".verbatim/state/store.db");
      mkdirSync(dirname(path), { recursive: true });
      const migrations = SQLITE_MIGRATIONS.filter(({ version }) => version <= BEFORE);
      await (await openSqliteStore({ ...fixedPorts(), path, migrations })).close();
      const database = new DatabaseSync(path);
      database.exec(`insert into context_search_fact (id, revision) values (1, 1);
        insert into context_search_file (id, path, version, row_count) values (1, 'gone.md', 'x', 1);
        insert into context_search (rowid, body, path, headings) values (33554432, 'lantern', 'gone.md', '');`);
      database.close();
      const answers = await answer(old);
      expect(answers).toEqual(await answer(fresh));
      expect(answers.map(({ total }) => total)).toEqual([5, 5, 2, 1, 1, 1, 1, 5, 1, 4, 1]);
    } finally {
      for (const one of [old, fresh]) await one.close();
    }
  });
});

it("what another version of the program made searchable, of this very index, is made anew", async () => {
  const workspace = new ContextWorkspace();
  try {
    const answers = await answer(workspace);
    const database = new DatabaseSync(workspace.place(".verbatim/state/store.db"));
    database.exec(`update context_search_fact set revision = (select revision from context_fact);
      update context_search_file set version = version || '.earlier';
      update context_search_word set postings = x'000102';`);
    database.close();
    for (const [i, query] of QUERIES.entries()) expect(await workspace.call("search", { query })).toEqual(answers[i]);
  } finally {
    await workspace.close();
  }
});

describe("searching on PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await postgres.createDatabase({ empty: true });
  });
  afterAll(() => database.drop());

  it("answers exactly as SQLite does, also in an upgraded store", async () => {
    const migrations = POSTGRES_MIGRATIONS.filter(({ version }) => version <= BEFORE);
    await migratePostgres({ ...fixedPorts(), url: database.url, migrations });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`insert into verbatim.context_search_fact (id, revision) values (1, 1);
      insert into verbatim.context_search_file (path, version) values ('gone.md', 'x');
      insert into verbatim.context_search (path, ordinal, part, words) values ('gone.md', 0, 0, 'lantern');`);
    await client.end();
    await migratePostgres({ ...fixedPorts(), url: database.url });
    const [there, here] = [new ContextWorkspace({ VERBATIM_DATABASE_URL: database.url }), new ContextWorkspace()];
    try {
      expect(await answer(there)).toEqual(await answer(here));
    } finally {
      for (const one of [there, here]) await one.close();
    }
  });
});
