import type { Pocket } from "../contracts/projection-output.ts";
import type { ItemBody, MessageBody } from "../contracts/records.ts";
import { toThose } from "../contracts/visibility.ts";
import { isAllowed, type View } from "../knowledge/gate.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { CalendarRow, MessageRow, WorldReader } from "../ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { formatInstant } from "../time/instant.ts";
import { nameOf } from "./cast.ts";

/** Whether a view may see something of the pocket: an audience like that of a PRIVATE line. */
function isInPocket(world: OpenWorld, view: View, visible_to: readonly string[]): boolean {
  return isAllowed(world.cast, view, { visibility: toThose(visible_to) });
}

/** Calendar items a view may see, with their bodies. */
export function filterCalendar(
  world: OpenWorld,
  view: View,
  rows: readonly CalendarRow[],
): readonly { readonly row: CalendarRow; readonly item: ItemBody }[] {
  return rows
    .map((row) => ({ row, item: JSON.parse(row.body) as ItemBody }))
    .filter(({ item }) => isInPocket(world, view, item.visible_to));
}

/** Clock, calendar and messages of a viewer. */
export async function readPocket(
  ports: Pick<WorldPorts, "zones">,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
): Promise<Pocket> {
  const { settings, clock_ms, zone, next_item, next_message } = world.state;
  const { available, clock_hidden } = settings.pocket;
  // One flag, one meaning: what is not available shows nothing at all.
  if (!available) {
    const nothing = { calendar: { items: [] }, messages: { items: [] } };
    return { is_available: false, clock: { world_time: null, timezone: null }, ...nothing };
  }
  const clock = clock_hidden
    ? { world_time: null, timezone: null }
    : { world_time: formatInstant(ports.zones, clock_ms, zone), timezone: zone };
  const calendar = filterCalendar(world, view, next_item > 1 ? await tables.calendar(world.number) : [])
    .filter(({ row }) => row.state === "SCHEDULED" || row.state === "DUE")
    .sort((a, b) => byTime(a.row, b.row));
  const messages = (next_message > 1 ? await tables.messages(world.number) : [])
    .map((row) => ({ row, message: JSON.parse(row.body) as MessageBody }))
    .filter(({ message }) => isInPocket(world, view, message.visible_to))
    .sort((a, b) => a.row.time_ms - b.row.time_ms || a.row.number - b.row.number);
  return {
    is_available: available,
    clock,
    calendar: {
      items: calendar.map(({ item: { title, time, location, notes } }) => ({ title, time, location, notes })),
    },
    messages: {
      items: messages.map(({ message: { from, text, time } }) => ({ from: nameOf(world.cast, from), text, time })),
    },
  };
}

/** By time, undated last, then by creation. */
export function byTime(a: CalendarRow | MessageRow, b: CalendarRow | MessageRow): number {
  const never = Number.POSITIVE_INFINITY;
  const [x, y] = [a.time_ms ?? never, b.time_ms ?? never];
  return x === y ? a.number - b.number : x - y;
}
