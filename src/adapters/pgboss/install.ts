import pg from "pg";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { loadEngine } from "./load.ts";

/** Version of the tables that the engine named in package.json makes. */
export const ENGINE_SCHEMA = 43;

/** Where the queue's tables are, beside the schema of the records. */
export function engineSchema(schema: string): string {
  return `${schema}_queue`;
}

/**
 * Makes or upgrades the queue's tables by its own exported plans, and gives them to the role that works with the records.
 * Only `store migrate` calls this.
 */
export async function installEngine(connectionString: string, records: string, role: string | null): Promise<void> {
  const { getConstructionPlans, getMigrationPlans } = await loadEngine();
  const schema = engineSchema(records);
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      "select 1 as version from pg_catalog.pg_tables where schemaname = $1 and tablename = 'version'",
      [schema],
    );
    if (rows.length === 0) await client.query(getConstructionPlans(schema));
    else {
      const found = await client.query<{ version: number }>(`select version from ${schema}.version`);
      const { version } = found.rows[0]!;
      if (version > ENGINE_SCHEMA) throw newerEngine(version);
      // The engine has no plan from its newest version to itself.
      if (version < ENGINE_SCHEMA) await client.query(getMigrationPlans(schema, version));
    }
    if (role === null) return;
    await client.query(`grant usage on schema ${schema} to ${role}`);
    await client.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${role}`);
    await client.query(`grant usage, select on all sequences in schema ${schema} to ${role}`);
    await client.query(`grant execute on all functions in schema ${schema} to ${role}`);
  } catch (thrown) {
    if (isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("STORE_UNAVAILABLE", {
      message: `the queue's tables could not be created: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      cause: thrown,
    });
  } finally {
    await client.end();
  }
}

function newerEngine(version: number): VerbatimError {
  return new VerbatimError("STORE_VERSION", {
    message: `the queue's tables have version ${version}; this Verbatim works with ${ENGINE_SCHEMA}`,
    fix: "Use the Verbatim that upgraded them.",
  });
}
