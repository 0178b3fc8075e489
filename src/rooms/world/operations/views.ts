import { z } from "zod";
import { formatCanonical } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OWNER, VIEWER } from "../../../core/operation.ts";
import {
  capsuleSchema,
  pocketSchema,
  retrievalPackSchema,
  streamEntrySchema,
  writeEntrySchema,
} from "../contracts/schemas.ts";
import { deriveNote } from "../knowledge/derive.ts";
import { findLines } from "../projection/finding.ts";
import { followWorld } from "../projection/following.ts";
import { loadWorld } from "../projection/reading.ts";
import {
  type Reader,
  readCalendar,
  readCapsule,
  readEntry,
  readPage,
  readViewerPocket,
  search,
} from "../projection/views.ts";
import { parseInstant } from "../time/instant.ts";
import { call, calls, inspect } from "./inspector.ts";
import { findWorldId, viewerField, type WorldRoom, worldField } from "./room.ts";

const metaSchema = z.strictObject({
  entry_id: z.string(),
  cursor: z.string(),
  author_id: z.string(),
  author_class: z.string(),
  bundle_id: z.string(),
  scope: z.string(),
  visible_to: z.array(z.string()).describe("For the owner everybody who has the line; for others only themselves."),
  corrects: z.string().nullable().describe("Entry that this line corrects."),
  corrected_by: z.array(z.string()).describe("Entries that correct this line, oldest first."),
  swipes: z.int().describe("How many other texts an imported line had; 0 for all but the owner."),
  request_id: z.string().nullable().describe("Of which request it is, for those who may know."),
});

const pageSchema = z.strictObject({
  viewer: z.string(),
  entries: z.array(streamEntrySchema),
  meta: z.array(metaSchema).describe("What stands beside each entry, in the same order."),
  cursor_before: z.string().nullable(),
  cursor_after: z.string().nullable(),
  has_more_before: z.boolean(),
  has_more_after: z.boolean(),
  pocket: pocketSchema,
});

/** What a reader may know besides the lines; a token says it over HTTP. */
const readerField = z
  .enum(["owner", "operator", "player", "viewer"])
  .default("owner")
  .describe("Read with the rights of this role.");

const projection = defineOperation({
  name: "world.projection",
  summary: "Shows a page of what a viewer may see (default: the newest lines).",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    world: worldField,
    viewer: viewerField,
    after: z.string().optional().describe("Lines after this cursor."),
    before: z.string().optional().describe("Lines before this cursor."),
    around: z.string().optional().describe("Lines around this entry."),
    limit: z.int().min(1).max(200).default(50).describe("Maximum number of lines."),
    reader: readerField,
    follow: z.boolean().default(false).describe("Then keep printing new lines until interrupted."),
  }),
  output: pageSchema,
  async run(room: WorldRoom, { follow: endless, ...query }) {
    if (endless) throw new VerbatimError("USAGE", { message: "following never ends; read it line by line" });
    return page(room, query);
  },
  /** The page, and then one event a line when it is followed. */
  async *lines(room: WorldRoom, { follow: endless, ...query }) {
    const shown = await page(room, query);
    yield formatCanonical(shown);
    if (!endless) return;
    const { viewer, cursor_after: after } = shown;
    const asked = { viewer, after, whole: true, status: false, ticks: false };
    for await (const event of followWorld(room, room.beats.hub, await findWorldId(room, query.world), asked)) {
      yield formatCanonical(event);
    }
  },
});

async function page(
  room: WorldRoom,
  query: {
    readonly world?: string | undefined;
    readonly viewer?: string | undefined;
    readonly after?: string | undefined;
    readonly before?: string | undefined;
    readonly around?: string | undefined;
    readonly limit: number;
    readonly reader?: Reader;
  },
): Promise<z.input<typeof pageSchema>> {
  const { world, viewer = null, after = null, before = null, around = null, limit, reader } = query;
  const places = [after, before, around].filter((place) => place !== null);
  if (places.length > 1 && around !== null) {
    throw new VerbatimError("USAGE", { message: "around cannot be combined with after or before" });
  }
  const asked = { viewer, after, before, around, limit, ...(reader === undefined ? {} : { reader }) };
  const { entries, meta, ...rest } = await readPage(room, await findWorldId(room, world), asked);
  return { ...rest, entries: [...entries], meta: meta.map((one) => ({ ...one })) } as z.input<typeof pageSchema>;
}

const follow = defineOperation({
  name: "world.follow",
  summary: "Shows what a viewer may see as it is written, one event per line.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    world: worldField,
    viewer: viewerField,
    after: z.string().optional().describe("Start after this cursor (default: with what comes next)."),
    whole: z.boolean().default(false).describe("Without a cursor, start with the first line."),
    status: z.boolean().default(false).describe("Also report the progress of beats."),
    reader: readerField,
    ticks: z.boolean().default(false).describe("Also send events when nothing happens, so that a reader can stop."),
  }),
  output: z.strictObject({ events: z.int() }),
  run: async () => {
    throw new VerbatimError("USAGE", { message: "world.follow never ends; read it line by line" });
  },
  async *lines(room: WorldRoom, { world, viewer, after, whole, status, ticks, reader }) {
    const query = { viewer: viewer ?? null, after: after ?? null, whole, status, ticks, reader };
    for await (const event of followWorld(room, room.beats.hub, await findWorldId(room, world), query)) {
      yield JSON.stringify(event);
    }
  },
});

const entry = defineOperation({
  name: "world.entry",
  summary: "Shows one committed entry that a viewer may see.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    world: worldField,
    entry_id: z.string().min(1).describe("Id of the entry."),
    viewer: viewerField,
    audience: z.boolean().default(false).describe("Also show who else may see it; for the owner only."),
  }),
  output: writeEntrySchema,
  async run(room: WorldRoom, { world, entry_id, viewer, audience }) {
    const found = await readEntry(room, await findWorldId(room, world), entry_id, viewer ?? null, audience);
    return { ...found, visibility: { ...found.visibility, visible_to: [...found.visibility.visible_to] } };
  },
});

const searchLines = defineOperation({
  name: "world.search",
  summary: "Searches for words in what a viewer may see.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    query: z.string().max(2000).describe("Words to look for."),
    world: worldField,
    viewer: viewerField,
    person: z.string().optional().describe("Only lines by this person."),
    from: z.string().optional().describe("Only lines from this time on, with a UTC offset."),
    to: z.string().optional().describe("Only lines up to this time, with a UTC offset."),
    limit: z.int().min(1).max(20).default(5).describe("Maximum number of results."),
  }),
  output: retrievalPackSchema,
  async run(room: WorldRoom, { query, world, viewer, person, from, to, limit }) {
    const worldId = await findWorldId(room, world);
    const window = readWindow(from, to);
    const before = room.pace.elapsed();
    const pack = await search(room, worldId, viewer ?? null, {
      query_text: query,
      limit,
      person_id: person ?? null,
      ...window,
    });
    room.beats.metrics.observe("search_seconds", room.pace.elapsed() - before);
    return { ...pack, results: [...pack.results] };
  },
});

const find = defineOperation({
  name: "world.find",
  summary: "Searches for words in what a viewer may see, page by page.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    query: z.string().max(2000).describe("Words to look for."),
    world: worldField,
    viewer: viewerField,
    person: z.string().optional().describe("Only lines by this person."),
    from: z.string().optional().describe("Only lines from this time on, with a UTC offset."),
    to: z.string().optional().describe("Only lines up to this time, with a UTC offset."),
    limit: z.int().min(1).max(50).default(20).describe("Maximum number of lines."),
    after: z.string().max(512).optional().describe("next of the page before."),
  }),
  output: z.strictObject({
    results: z.array(
      z.strictObject({
        entry_id: z.string(),
        bundle_id: z.string(),
        created_at_world: z.string(),
        visibility_scope: z.string(),
        verbatim_excerpt: z.string(),
        author_id: z.string(),
        author_label: z.string().nullable(),
        channel: z.string(),
        cursor: z.string(),
        matches: z.array(z.tuple([z.int(), z.int()])).describe("UTF-16 positions in the excerpt."),
      }),
    ),
    next: z.string().nullable(),
  }),
  async run(room: WorldRoom, { query, world, viewer, person, from, to, limit, after }) {
    const asked = {
      viewer: viewer ?? null,
      query,
      person: person ?? null,
      ...readWindow(from, to),
      limit,
      after: after ?? null,
    };
    const { results, next } = await findLines(room, await findWorldId(room, world), asked);
    return {
      results: results.map((one) => ({ ...one, matches: one.matches.map(([a, b]): [number, number] => [a, b]) })),
      next,
    };
  },
});

/** A window of time, whose ends are part of it. */
function readWindow(from: string | undefined, to: string | undefined) {
  const first = from === undefined ? null : parseInstant(from, "/from");
  const last = to === undefined ? null : parseInstant(to, "/to");
  if (first !== null && last !== null && first > last)
    throw new VerbatimError("TIME_WINDOW_INVERTED", { where: "/from" });
  return { from: first, to: last };
}

const capsule = defineOperation({
  name: "world.capsule",
  summary: "Quotes what a person has said, as a viewer may know it.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    person: z.string().min(1).describe("Id of the person."),
    world: worldField,
    viewer: viewerField,
    derived: z.boolean().default(false).describe("Also let the writer's model add a note, which is not authoritative."),
  }),
  output: capsuleSchema,
  async run(room: WorldRoom, { person, world, viewer, derived }) {
    const worldId = await findWorldId(room, world);
    const read = derived ? deriveNote : readCapsule;
    const pack = await read(room, worldId, person, viewer ?? null);
    return JSON.parse(JSON.stringify(pack)) as z.input<typeof capsuleSchema>;
  },
});

const pocket = defineOperation({
  name: "world.pocket",
  summary: "Shows the clock, calendar and messages of a viewer.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({ world: worldField, viewer: viewerField }),
  output: pocketSchema,
  async run(room: WorldRoom, { world, viewer }) {
    const found = await readViewerPocket(room, await findWorldId(room, world), viewer ?? null);
    return JSON.parse(JSON.stringify(found)) as z.input<typeof pocketSchema>;
  },
});

const calendar = defineOperation({
  name: "world.calendar",
  summary: "Lists the calendar items a viewer may see, with their ids.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    world: worldField,
    viewer: viewerField,
    all: z.boolean().default(true).describe("Also what is closed or was over when it was added."),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        item_id: z.string(),
        state: z.string().describe("SCHEDULED, DUE, CLOSED, or PAST for one that was already over when it was added."),
        title: z.string(),
        time: z.string().nullable(),
        location: z.string().nullable(),
        notes: z.string().nullable(),
      }),
    ),
  }),
  async run(room: WorldRoom, { world, viewer, all }) {
    const items = await readCalendar(room, await findWorldId(room, world), viewer ?? null);
    return { items: items.filter(({ state }) => all || state === "SCHEDULED" || state === "DUE") };
  },
});

const people = defineOperation({
  name: "world.people",
  summary: "Lists the people of a world and who is present.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({ world: worldField }),
  output: z.strictObject({
    operator: z.strictObject({ operator_id: z.string(), name: z.string(), present: z.boolean() }),
    people: z.array(z.strictObject({ person_id: z.string(), display_name: z.string(), present: z.boolean() })),
  }),
  async run(room: WorldRoom, input) {
    const worldId = await findWorldId(room, input.world);
    const { cast } = await room.store.read((tx) => loadWorld(tx.world, worldId));
    const isHere = (id: string) => cast.present.includes(id);
    return {
      operator: { operator_id: cast.operator_id, name: cast.operator_name, present: isHere(cast.operator_id) },
      people: [...cast.people].map(([person_id, display_name]) => ({
        person_id,
        display_name,
        present: isHere(person_id),
      })),
    };
  },
});

/** Every operation that reads something of a world; a test drives a secret at each of them. */
export const VIEW_OPERATIONS = [
  projection,
  follow,
  entry,
  searchLines,
  find,
  capsule,
  pocket,
  calendar,
  people,
  calls,
  call,
  inspect,
] as const;
