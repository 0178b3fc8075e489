import { type NewWorldRecord, WORLD_RECORDS, type WorldRecordKind } from "../contracts/records.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { toLines, toNumbers } from "../people/audience.ts";
import type { WorldWriter } from "../ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { indexEntries } from "../retrieval/terms-index.ts";
import { type Effects, reduceRecord } from "./reduce.ts";
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
  const effects = reduceRecord(world.state, WORLD_RECORDS.of(kind, body), record!.position);
  const writing = writeEffects(ports, tx, world, effects);
  if (writing !== undefined) await writing;
  return effects;
}

type WrittenWorld = Pick<OpenWorld, "number" | "cast" | "numbers"> & { readonly state?: WorldState };

/**
 * Writes the rows of a record. A beat mostly has lines and nothing else, and SQLite has answered already: to wait for it
 * all the same costs as much as a row.
 */
export function writeEffects(
  ports: Pick<WorldPorts, "crypto">,
  tx: WorldWriteTransaction,
  world: WrittenWorld,
  effects: Effects,
): Promise<void> | undefined {
  const { people, renamed, calendar, calendar_states, messages } = effects;
  const others = people.length + renamed.length + calendar.length + calendar_states.length + messages.length;
  if (others > 0) return writeAll(ports, tx.world, world, effects);
  const adding = writeLines(ports, tx.world, world, effects);
  return adding === undefined
    ? saveState(tx.world, world, effects)
    : adding.then(() => saveState(tx.world, world, effects));
}

async function writeAll(
  ports: Pick<WorldPorts, "crypto">,
  tables: WorldWriter,
  world: WrittenWorld,
  effects: Effects,
): Promise<void> {
  const { number } = world;
  if (effects.people.length > 0) await tables.addPeople(number, effects.people);
  for (const { person_id, display_name } of effects.renamed) await tables.renamePerson(number, person_id, display_name);
  await writeLines(ports, tables, world, effects);
  if (effects.calendar.length > 0) await tables.addCalendar(number, effects.calendar);
  for (const { item_id, state } of effects.calendar_states) await tables.setCalendarState(number, item_id, state);
  if (effects.messages.length > 0) await tables.addMessages(number, effects.messages);
  await saveState(tables, world, effects);
}

function writeLines(
  { crypto }: Pick<WorldPorts, "crypto">,
  tables: WorldWriter,
  world: WrittenWorld,
  { people, entries }: Effects,
): Promise<void> | undefined {
  if (entries.length === 0) return undefined;
  const numbers = people.length === 0 ? world.numbers : new Map([...world.numbers, ...toNumbers(world.cast, people)]);
  const { visible, indexed } = toLines(crypto, numbers, entries);
  const recent = indexEntries(tables, world.number, indexed);
  if (!(recent instanceof Promise)) return tables.addEntries(world.number, entries, visible, recent);
  return recent.then((made) => tables.addEntries(world.number, entries, visible, made));
}

function saveState(tables: WorldWriter, world: WrittenWorld, { state }: Effects): Promise<void> | undefined {
  const text = formatState(state);
  // Settings that are new are read back once, so that they have the order of what is stored.
  if (world.state?.settings === state.settings) rememberState(text, state);
  return tables.saveState(world.number, text);
}
