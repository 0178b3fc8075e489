import { type NewWorldRecord, WORLD_RECORDS, type WorldRecordKind } from "../contracts/records.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import type { WorldWriter } from "../ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { indexEntries } from "../retrieval/terms-index.ts";
import { type MadeRows, makeRows } from "./make-rows.ts";
import type { Effects } from "./reduce.ts";
import { formatState, rememberState, streamOf, type WorldState } from "./state.ts";

type Ports = Pick<WorldPorts, "crypto" | "actor">;

/** Appends a record to the stream of a world and writes what it means, in the same transaction. */
export async function appendRecord<K extends WorldRecordKind>(
  ports: Ports,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  kind: K,
  body: NewWorldRecord<K>,
): Promise<Effects> {
  const stream = streamOf(world.state.world_id);
  const [record] = await tx.ledger.append(stream, "next", [WORLD_RECORDS.make(kind, ports.actor, body)]);
  const placed = { record: WORLD_RECORDS.of(kind, body), position: record!.position };
  const rows = makeRows(ports.crypto, world, [placed]);
  const writing = writeRows(tx.world, world, rows);
  if (writing !== undefined) await writing;
  return rows.effects;
}

interface WrittenWorld {
  readonly number: number;
  /** Before the record; absent for a world that is new. */
  readonly state?: WorldState;
}

/**
 * Writes what was made of a record. A beat mostly has lines and nothing else, and SQLite has answered already: to wait for
 * it all the same costs as much as a row.
 */
export function writeRows(tables: WorldWriter, world: WrittenWorld, rows: MadeRows): Promise<void> | undefined {
  const { people, renamed, calendar, calendar_states, messages, marks } = rows.effects;
  const others =
    people.length + renamed.length + calendar.length + calendar_states.length + messages.length + marks.length;
  if (others > 0) return writeAll(tables, world, rows);
  const adding = writeLines(tables, world, rows);
  return adding === undefined
    ? saveState(tables, world, rows.effects)
    : adding.then(() => saveState(tables, world, rows.effects));
}

async function writeAll(tables: WorldWriter, world: WrittenWorld, rows: MadeRows): Promise<void> {
  const { number } = world;
  const { effects } = rows;
  if (effects.people.length > 0) await tables.addPeople(number, effects.people);
  for (const { person_id, display_name } of effects.renamed) await tables.renamePerson(number, person_id, display_name);
  await writeLines(tables, world, rows);
  if (effects.calendar.length > 0) await tables.addCalendar(number, effects.calendar);
  for (const { item_id, state } of effects.calendar_states) await tables.setCalendarState(number, item_id, state);
  if (effects.messages.length > 0) await tables.addMessages(number, effects.messages);
  if (effects.marks.length > 0) await tables.setMarks(number, effects.marks);
  await saveState(tables, world, effects);
}

function writeLines(tables: WorldWriter, { number }: WrittenWorld, rows: MadeRows): Promise<void> | undefined {
  const { entries } = rows.effects;
  if (entries.length === 0) return undefined;
  const { visible, indexed } = rows.lines;
  const recent = indexEntries(tables, number, indexed);
  if (!(recent instanceof Promise)) return tables.addEntries(number, entries, visible, recent);
  return recent.then((made) => tables.addEntries(number, entries, visible, made));
}

function saveState(tables: WorldWriter, world: WrittenWorld, { state }: Effects): Promise<void> | undefined {
  const text = formatState(state);
  // Settings that are new are read back once, so that they have the order of what is stored.
  if (world.state?.settings === state.settings) rememberState(text, state);
  return tables.saveState(world.number, text);
}
