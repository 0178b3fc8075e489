import { randomBytes, randomUUID } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import { inject } from "vitest";
import { migratePostgres } from "../../src/adapters/sql/postgres/store.ts";
import type { PostgresAnswer } from "./global-setup.ts";

/** A database that one test file or test has for itself. */
export interface TestDatabase {
  /** Address for the server's superuser. */
  readonly url: string;
  drop(): Promise<void>;
}

interface DatabaseOptions {
  readonly durable?: boolean;
  /** Without a store in it. */
  readonly empty?: boolean;
}

export interface TestPostgres {
  /** Why there is no server here; null when there is one. */
  readonly reason: string | null;
  /** Commits of a durable database wait for the disk; others are quicker, and nothing but a crash of the server differs. */
  createDatabase(options?: DatabaseOptions): Promise<TestDatabase>;
}

/**
 * The PostgreSQL server of this test run. Ask for it at the top of a test file:
 * `const postgres = await usePostgres(); describe("...", needs(postgres.reason), ...)`.
 */
export async function usePostgres(): Promise<TestPostgres> {
  const answer = JSON.parse(await text(connect(inject("postgresDoor")))) as PostgresAnswer;
  if ("reason" in answer) {
    const { reason } = answer;
    return { reason, createDatabase: () => Promise.reject(new Error(reason)) };
  }
  const urlOf = (name: string) => answer.url.replace("DATABASE", name);
  return {
    reason: null,
    async createDatabase({ durable = false, empty = false } = {}) {
      // Not counted: a worker may load this module more than once.
      const name = `test_${process.pid}_${randomBytes(6).toString("hex")}`;
      await asAdmin(urlOf("postgres"), `create database ${name} template template0 ${FOREIGN_ORDER}`);
      if (!durable) await asAdmin(urlOf("postgres"), `alter database ${name} set synchronous_commit = off`);
      if (!empty) {
        await migratePostgres({
          url: urlOf(name),
          clock: { now: () => Date.now() },
          ids: { uuid: () => randomUUID() },
        });
      }
      return {
        url: urlOf(name),
        drop: () => asAdmin(urlOf("postgres"), `drop database ${name} with (force)`),
      };
    },
  };
}

// Sorts unlike code points, so that a key without COLLATE "C" is found out.
const FOREIGN_ORDER = "locale_provider icu icu_locale 'en-US'";

async function asAdmin(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Lets an owner's own connection write rows: those that name no workspace belong to the only one of its schema. */
export async function enterWorkspace(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>("select to_regclass('workspace') is not null as there");
  if (!rows[0]!.there) return;
  await client.query("select set_config('verbatim.workspace', (select min(id::text) from workspace), false)");
}

/** Keys begin with the workspace there, so that is what a conflict is about. */
export function withWorkspace(sql: string): string {
  return sql.replace(/\bon conflict \(/gi, "$&workspace_id, ");
}
