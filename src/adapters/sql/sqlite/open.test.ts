import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fixedPorts } from "../../../../test/support/fixed-ports.ts";
import type { StatementCache } from "./connection.ts";
import { SQLITE_MIGRATIONS } from "./migrations/index.ts";
import { closeWriter, openReader, openWriter } from "./open.ts";

describe("the connections of a store", () => {
  let folder: string;
  let writer: StatementCache;
  let reader: StatementCache;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "verbatim-open-"));
    writer = await openWriter(join(folder, "store.db"), SQLITE_MIGRATIONS, fixedPorts(), 1_000);
    reader = await openReader(join(folder, "store.db"), 1_000);
  });

  afterEach(() => {
    reader.database.close();
    closeWriter(writer);
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["journal_mode", "wal"],
    ["synchronous", 2],
    ["foreign_keys", 1],
    ["recursive_triggers", 1],
    ["trusted_schema", 0],
  ])("have %s = %s", (name, value) => {
    for (const { database } of [writer, reader]) {
      expect(database.prepare(`pragma ${name}`).get([])).toMatchObject({ [name]: value });
    }
  });

  it("keep every table of ours strict", () => {
    const loose = "select name from pragma_table_list where schema = 'main' and type = 'table' and strict = 0";
    const names = writer.database.prepare(loose).all([]) as { name: string }[];
    expect(names.filter(({ name }) => !name.startsWith("sqlite_")).map(({ name }) => name)).toEqual([]);
  });

  it("keep a hot statement prepared", () => {
    expect(writer.statement("select 1")).toBe(writer.statement("select 1"));
  });

  it("do not let the reader write", () => {
    expect(() => reader.database.exec("create table x (a)")).toThrowError("a reader of the store tried to write");
  });
});
