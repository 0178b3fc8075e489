import { type NewWorldRecord, WORLD_RECORDS, type WorldRecordKind } from "../contracts/records.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { toLines, toNumbers } from "../people/audience.ts";
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
  await writeEffects(ports, tx, world, effects);
  return effects;
}

/** Writes the rows of a record. */
export async function writeEffects(
  ports: Pick<WorldPorts, "crypto">,
  tx: WorldWriteTransaction,
  world: Pick<OpenWorld, "number" | "cast" | "numbers"> & { readonly state?: WorldState },
  effects: Effects,
): Promise<void> {
  const { number } = world;
  const tables = tx.world;
  if (effects.people.length > 0) await tables.addPeople(number, effects.people);
  for (const { person_id, display_name } of effects.renamed) await tables.renamePerson(number, person_id, display_name);
  if (effects.entries.length > 0) {
    const { people } = effects;
    const numbers = people.length === 0 ? world.numbers : new Map([...world.numbers, ...toNumbers(world.cast, people)]);
    const { visible, indexed } = toLines(ports.crypto, numbers, effects.entries);
    const indexing = indexEntries(tables, number, indexed);
    const recent = indexing instanceof Promise ? await indexing : indexing;
    const adding = tables.addEntries(number, effects.entries, visible, recent);
    // SQLite has answered already, and to wait for it all the same costs as much as a row.
    if (adding !== undefined) await adding;
  }
  if (effects.calendar.length > 0) await tables.addCalendar(number, effects.calendar);
  for (const { item_id, state } of effects.calendar_states) await tables.setCalendarState(number, item_id, state);
  if (effects.messages.length > 0) await tables.addMessages(number, effects.messages);
  const text = formatState(effects.state);
  // Settings that are new are read back once, so that they have the order of what is stored.
  if (world.state?.settings === effects.state.settings) rememberState(text, effects.state);
  const saving = tables.saveState(number, text);
  if (saving !== undefined) await saving;
}
