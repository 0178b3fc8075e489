import { ERASED_BODY } from "../../../core/ledger/index.ts";
import type {
  EntryRow,
  PostingRow,
  RecentTermsRow,
  VisibleRow,
  WorldReader,
  WorldRow,
  WorldWriter,
} from "../../../rooms/world/ports.ts";
import { ENTRY } from "../world-entries.ts";
import { SqlWorldReader, toFind, type WorldDialect } from "../world-reader.ts";
import { SqlWorldWriter, WORLD_TABLES } from "../world-writer.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";
import { WORLD_GUARDS } from "./migrations/0006-world.ts";
import { ONCE_GUARDS } from "./migrations/0013-world-once.ts";
import { LINEAGE_GUARDS } from "./migrations/0016-world-lineage.ts";
import { VERSION_GUARDS } from "./migrations/0022-world-play.ts";
import { toReadSql, toWriteSql } from "./numbered.ts";

/** The world room's tables in PostgreSQL. */
export const postgresWorld = {
  read: (connection: PostgresReadConnection): WorldReader =>
    new SqlWorldReader(toReadSql(connection), DIALECT, () => findMissing(connection)),
  write: (connection: PostgresWriteConnection): WorldWriter => new PostgresWorldWriter(connection),
} as const;

const FIND = toFind(
  `(select coalesce(json_agg(json_build_array(p.number, p.person_id, p.display_name) order by p.number), '[]')::text
from world_person p where p.world = world.number)`,
  `(select coalesce(json_agg(json_build_array(l.ancestor, l.upto_wseq, l.upto_message)
order by l.upto_wseq, l.upto_message), '[]')::text from world_lineage l where l.world = world.number)`,
);

const DIALECT: WorldDialect = {
  find: FIND,
  hold: `${FIND} for update`,
  lockKey: "select pg_advisory_xact_lock(hashtextextended(?, 0))",
};

/** Sends the many rows of a commit in one statement per table: a round trip costs more than a row. */
class PostgresWorldWriter extends SqlWorldWriter {
  readonly #connection: PostgresWriteConnection;

  constructor(connection: PostgresWriteConnection) {
    super(toWriteSql(connection), DIALECT, () => findMissing(connection));
    this.#connection = connection;
  }

  async addEntries(
    world: number,
    rows: readonly EntryRow[],
    visible: readonly VisibleRow[],
    recent: RecentTermsRow | null,
  ): Promise<void> {
    if (rows.length > 0) {
      await this.#connection.run(
        `insert into world_entry (world, ${ENTRY})
select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[],
$9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[]) as row (${ENTRY}) order by row.wseq`,
        world,
        rows.map((r) => r.wseq),
        rows.map((r) => r.entry_id),
        rows.map((r) => r.bundle_id),
        rows.map((r) => r.position),
        rows.map((r) => r.request_id),
        rows.map((r) => r.created_ms),
        rows.map((r) => r.created_at),
        rows.map((r) => r.author_id),
        rows.map((r) => r.author_class),
        rows.map((r) => r.channel),
        rows.map((r) => r.scope),
        rows.map((r) => r.audience),
        rows.map((r) => r.text),
      );
    }
    if (visible.length > 0) {
      await this.#connection.run(
        `insert into world_entry_visible (world, person, wseq)
select $1, row.person, row.wseq from unnest($2::integer[], $3::bigint[]) as row (person, wseq)`,
        world,
        visible.map(({ person }) => person),
        visible.map(({ wseq }) => wseq),
      );
    }
    if (recent !== null) await this.addRecentTerms(world, recent);
  }

  async erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Promise<void> {
    await eraseWorld(this.#connection, world, stream, below);
  }

  async addPostings(world: number, rows: readonly PostingRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#connection.run(
      `insert into world_terms (world, key, block, lows)
select $1, row.key, row.block, row.lows from unnest($2::text[], $3::bigint[], $4::bytea[]) as row (key, block, lows)
on conflict (world, key, block) do update set lows = world_terms.lows || excluded.lows`,
      world,
      rows.map(({ key }) => key),
      rows.map(({ block }) => block),
      rows.map(({ lows }) => lows),
    );
  }
}

async function findMissing(connection: PostgresReadConnection): Promise<string[]> {
  const rows = await connection.all<{ name: string }>(
    `select t.tgname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
where c.relnamespace = current_schema()::regnamespace and t.tgenabled = 'A'`,
  );
  const there = new Set(rows.map(({ name }) => name));
  return [...WORLD_GUARDS, ...ONCE_GUARDS, ...LINEAGE_GUARDS, ...VERSION_GUARDS].filter((name) => !there.has(name));
}

// The owner of the schema may be somebody whom row-level security does not hold back.
const OWN = "workspace_id = current_workspace()";
const TABLES = ["ledger_entry", ...WORLD_TABLES];

// Enabled for this session, always, in a replica only.
const ENABLE: Readonly<Record<string, string>> = { O: "enable", A: "enable always", R: "enable replica" };

/**
 * Takes a world out of a store: its rows, and the bodies of its records. Only the owner of the schema can: the role
 * the store works with may not change history. The guards are back before the transaction ends.
 */
async function eraseWorld(
  connection: PostgresWriteConnection,
  world: { readonly number: number; readonly world_id: string },
  stream: string,
  below: number,
): Promise<void> {
  await connection.run("set local role none");
  // A deferred trigger that has not fired yet would keep its table from being changed.
  await connection.run("set constraints all immediate");
  const triggers = await connection.all<{ name: string; table: string; enabled: string }>(
    `select t.tgname as name, c.relname as table, t.tgenabled::text as enabled
     from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = current_schema() and c.relname = any($1::text[]) and not t.tgisinternal and t.tgenabled <> 'D'`,
    TABLES,
  );
  for (const table of TABLES) await connection.run(`alter table ${table} disable trigger user`);
  await connection.run(
    `update ledger_entry set body = $1 where ${OWN} and stream = $2 and position < $3`,
    ERASED_BODY,
    stream,
    below,
  );
  for (const table of WORLD_TABLES)
    await connection.run(`delete from ${table} where ${OWN} and world = $1`, world.number);
  await connection.run(`delete from world_token where ${OWN} and world_id = $1`, world.world_id);
  await connection.run(`delete from world where ${OWN} and number = $1`, world.number);
  for (const { name, table, enabled } of triggers) {
    await connection.run(`alter table ${table} ${ENABLE[enabled] ?? "enable"} trigger ${name}`);
  }
}
