import { sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { entryText } from "../contracts/entry.ts";
import { refuse, text } from "../contracts/fields.ts";
import type { ItemBody, MessageBody } from "../contracts/records.ts";
import { appendRecord } from "../history/commit.ts";
import { keyOf } from "../history/state.ts";
import { toItemId, toMessageId } from "../ids.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { viewerView } from "../projection/reading.ts";
import { formatInstant, parseWritten, toInstant } from "../time/instant.ts";
import { isSomebody } from "./cast.ts";
import { controlWorld } from "./control.ts";
import { requirePresent, unknownPerson } from "./people.ts";
import { filterCalendar } from "./pocket.ts";

interface NewItem {
  readonly title: string;
  readonly time: string | null;
  readonly location: string | null;
  readonly notes: string | null;
  readonly visible_to: readonly string[] | null;
}

/** Adds a calendar item. Its time is local to the world's zone unless it has an offset. */
export async function addCalendarItem(
  ports: WorldPorts,
  worldId: string,
  wanted: NewItem,
  key: string | null = null,
): Promise<{ readonly item_id: string }> {
  text({ visible: true })(wanted.title, "/title");
  for (const [name, value, most] of [
    ["title", wanted.title, 200],
    ["location", wanted.location, 200],
    ["notes", wanted.notes, 2000],
  ] as const) {
    if (value === null) continue;
    text({ mayBeEmpty: true })(value, `/${name}`);
    if ([...value].length > most) refuse("FIELD_TOO_LONG", `/${name}`, `is longer than ${most} characters`);
  }
  const body = { item: { ...wanted, visible_to: wanted.visible_to === null ? null : [...wanted.visible_to] } };
  return controlWorld(ports, worldId, { key, body }, async (tx, world) => {
    const { zone } = world.state;
    const ms =
      wanted.time === null
        ? null
        : toInstant(ports.zones, parseWritten(wanted.time, "/time", "optional"), zone, "/time");
    const item: ItemBody = {
      title: wanted.title,
      time: ms === null ? null : formatInstant(ports.zones, ms, zone),
      location: wanted.location,
      notes: wanted.notes,
      visible_to: requirePresent(world, wanted.visible_to ?? [world.cast.operator_id], "/visible_to"),
    };
    if (item.visible_to.length === 0) refuse("VISIBILITY_EMPTY", "/visible_to", "must list at least one id");
    const item_id = toItemId(ports.crypto, keyOf(world.state), world.state.next_item);
    await appendRecord(ports, tx, world, "WORLD_CALENDAR_ADDED", { item_id, item });
    return { item_id };
  });
}

/** Closes a calendar item; closing it again changes nothing. What a viewer may not see is unknown to it here too. */
export async function closeCalendarItem(
  ports: WorldPorts,
  worldId: string,
  { item_id: itemId, viewer }: { readonly item_id: string; readonly viewer: string | null },
  key: string | null = null,
): Promise<{ readonly item_id: string; readonly state: string }> {
  return controlWorld(ports, worldId, { key, body: { close: itemId } }, async (tx, world) => {
    const all = await tx.world.calendar(world.number);
    const rows = viewer === null ? all : filterCalendar(world, viewerView(world, viewer), all).map(({ row }) => row);
    const row = rows.find(({ item_id }) => item_id === itemId);
    if (row === undefined) throw new VerbatimError("CALENDAR_ITEM_UNKNOWN", { where: itemId });
    if (row.state !== "CLOSED") await appendRecord(ports, tx, world, "WORLD_CALENDAR_CLOSED", { item_id: itemId });
    return { item_id: itemId, state: "CLOSED" };
  });
}

/** Adds a message to the pockets of those who may read it. */
export async function addMessage(
  ports: WorldPorts,
  worldId: string,
  wanted: { readonly from: string; readonly text: string; readonly visible_to: readonly string[] },
  key: string | null = null,
): Promise<{ readonly message_id: string }> {
  entryText.read(wanted.text, "/text");
  const body = { message: { from: wanted.from, text: wanted.text, visible_to: [...wanted.visible_to] } };
  return controlWorld(ports, worldId, { key, body }, async (tx, world) => {
    if (!isSomebody(world.cast, wanted.from)) throw unknownPerson(wanted.from, "/from");
    const listed = requirePresent(world, wanted.visible_to, "/visible_to");
    if (!listed.some((id) => id !== wanted.from)) refuse("VISIBILITY_EMPTY", "/visible_to", "must list someone else");
    const message: MessageBody = {
      from: wanted.from,
      text: wanted.text,
      time: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
      visible_to: sortedUnique([...listed, wanted.from]),
    };
    await appendRecord(ports, tx, world, "WORLD_MESSAGE_ADDED", message);
    return { message_id: toMessageId(ports.crypto, keyOf(world.state), world.state.next_message) };
  });
}
