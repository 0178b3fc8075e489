import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../../../../test/support/needs.ts";
import { type TestDatabase, usePostgres } from "../../../../test/support/postgres.ts";
import { createPostgresBuildLock } from "./build-lock.ts";

const postgres = await usePostgres();

describe("the lock of index builds in PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(() => database.drop());

  it("is INDEX_BUSY with the holder's process after the time it waits, and free afterwards", async () => {
    await createPostgresBuildLock(database.url).hold(async () => {
      await expect(createPostgresBuildLock(database.url, 30).hold(async () => "second")).rejects.toMatchObject({
        code: "INDEX_BUSY",
        exit: 4,
        message: `another index build is running (process ${process.pid})`,
        details: { pid: process.pid },
      });
    });
    expect(await createPostgresBuildLock(database.url, 30).hold(async () => "second")).toBe("second");
  });

  it("is another one for another schema", async () => {
    const other = `${database.url}&options=${encodeURIComponent("-c search_path=other")}`;
    const both = await createPostgresBuildLock(database.url).hold(() =>
      createPostgresBuildLock(other, 30).hold(async () => "both"),
    );
    expect(both).toBe("both");
  });

  it("cannot be asked for at a server that is not there", async () => {
    const lock = createPostgresBuildLock("postgres://nobody@127.0.0.1:1/none");
    await expect(lock.hold(async () => 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
