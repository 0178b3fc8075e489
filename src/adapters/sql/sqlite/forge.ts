import { isVerbatimError } from "../../../core/errors/index.ts";
import { loadSqlite, SqliteDatabase } from "./driver.ts";

const FORGERY = "update ledger_entry set body = '{}' where idx = 1";
const TRIGGERS = "select name from sqlite_schema where type = 'trigger' and tbl_name = 'ledger_entry'";

/**
 * Does to a store what someone with the file in their hands can do, for the demo: tries to change an entry, drops the
 * triggers that refuse it, and changes it. Gives back the code of the refusal, or `allowed`.
 */
export async function forgeEntry(path: string): Promise<string> {
  const database = new SqliteDatabase(await loadSqlite(), path, 1000);
  try {
    const refused = codeOf(() => database.exec(FORGERY));
    for (const { name } of database.prepare(TRIGGERS).all([]) as { name: string }[]) {
      database.exec(`drop trigger ${name}`);
    }
    database.exec(FORGERY);
    return refused;
  } finally {
    database.close();
  }
}

function codeOf(run: () => unknown): string {
  try {
    run();
    return "allowed";
  } catch (thrown) {
    if (isVerbatimError(thrown)) return thrown.code;
    throw thrown;
  }
}
