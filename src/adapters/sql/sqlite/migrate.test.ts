import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { fixedPorts } from "../../../../test/support/fixed-ports.ts";
import { loadSqlite, SqliteDatabase } from "./driver.ts";
import { applyMigrations, findMissing } from "./migrate.ts";
import { SQLITE_MIGRATIONS } from "./migrations/index.ts";

it("a store that another process makes at this moment is not taken for somebody else's database", async () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-migrate-"));
  const sqlite = await loadSqlite();
  const open = () => new SqliteDatabase(sqlite, join(folder, "store.db"), 1_000);
  const [other, mine] = [open(), open()];
  try {
    other.prepare("pragma journal_mode = wal").get([]);
    const prepare = mine.prepare.bind(mine);
    let isMade = false;
    vi.spyOn(mine, "prepare").mockImplementation((sql) => {
      // The mark of the file has been read; everything else is read after the other has made the store.
      if (sql === "pragma user_version" && !isMade) {
        isMade = true;
        other.exec("begin immediate");
        applyMigrations(other, SQLITE_MIGRATIONS, fixedPorts());
        other.exec("commit");
      }
      return prepare(sql);
    });
    expect(findMissing(mine, SQLITE_MIGRATIONS)).toEqual(SQLITE_MIGRATIONS);
    expect(isMade).toBe(true);
    expect(findMissing(mine, SQLITE_MIGRATIONS)).toEqual([]);
  } finally {
    other.close();
    mine.close();
    rmSync(folder, { recursive: true });
  }
});
