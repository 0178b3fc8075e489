import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasStableBuiltin, loadSqlite, SqliteDatabase } from "./driver.ts";

describe("the choice of the SQLite driver", () => {
  it.each([
    ["20.19.0", false],
    ["22.21.0", false],
    ["24.14.9", false],
    ["24.15.0", true],
    ["25.6.0", false],
    ["25.7.0", true],
    ["26.0.0", true],
  ])("on Node %s uses the built-in module: %s", (version, builtin) => {
    expect(hasStableBuiltin(version)).toBe(builtin);
  });

  it("agrees with the Node that runs", async () => {
    const { name } = await loadSqlite();
    expect(name).toBe(hasStableBuiltin(process.versions.node) ? "node:sqlite" : "@photostructure/sqlite");
  });
});

describe("a SQLite connection", () => {
  let folder: string;
  let database: SqliteDatabase;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "verbatim-driver-"));
    database = new SqliteDatabase(await loadSqlite(), join(folder, "a.db"), 100);
    database.exec("create table t (a any unique) strict");
  });

  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  it("stores whole numbers as integers and others as floats", () => {
    const types = database.prepare("select typeof(?) as a, typeof(?) as b, typeof(?) as c").get([1, 2n, 1.5]);
    expect(types).toMatchObject({ a: "integer", b: "integer", c: "real" });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("refuses the number %s", (value) => {
    expect(() => database.prepare("select ?").get([value])).toThrowError(/cannot be stored/);
  });

  it("refuses to read an integer that a number cannot hold", () => {
    expect(() => database.prepare("select 9007199254740993").get([])).toThrowError();
  });

  it("gives bytes back as they were", () => {
    const bytes = new Uint8Array([0, 255, 10, 0]);
    expect(database.prepare("select ? as a").get([bytes])).toMatchObject({ a: bytes });
  });

  it.each(["run", "get", "all"] as const)("says STORE_REFUSED when a constraint fails in %s", (method) => {
    database.prepare("insert into t values (?)").run(["x"]);
    const statement = database.prepare("insert into t values (?) returning a");
    let thrown: unknown;
    try {
      statement[method](["x"]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "STORE_REFUSED", where: join(folder, "a.db") });
  });

  it("knows which statements give rows", () => {
    expect(database.prepare("select 1").returnsRows).toBe(true);
    expect(database.prepare("insert into t values (1)").returnsRows).toBe(false);
    expect(database.prepare("insert into t values (1) returning a").returnsRows).toBe(true);
  });
});
