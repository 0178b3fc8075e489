import { formatCanonical, sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type {
  MessageBody,
  NewPerson,
  NewWorldRecord,
  RecordedPack,
  WorldRecord,
  WorldRecordBody,
} from "../contracts/records.ts";
import type { WriteBundle } from "../contracts/write-bundle.ts";
import {
  type CalendarRow,
  type EntryRow,
  FIRST_PERSON,
  type MarkChange,
  type MessageRow,
  type PersonRow,
} from "../ports.ts";
import { parseInstant } from "../time/instant.ts";
import { avatarMark, correctionMark, importMarks, loreMark, personaMark, pinMark, withMarks } from "./marks.ts";
import type { StoredPack, WorldState } from "./state.ts";

/** What one record does to the tables. */
export interface Effects {
  readonly state: WorldState;
  readonly people: readonly PersonRow[];
  readonly renamed: readonly { readonly person_id: string; readonly display_name: string }[];
  readonly entries: readonly EntryRow[];
  readonly calendar: readonly CalendarRow[];
  readonly calendar_states: readonly { readonly item_id: string; readonly state: CalendarRow["state"] }[];
  readonly messages: readonly MessageRow[];
  readonly marks: readonly MarkChange[];
}

/** A beat is reduced before its record is sealed: the hash of its answer follows from what the beat does. */
interface UnsealedBeat {
  readonly kind: "WORLD_BEAT";
  readonly body: Omit<NewWorldRecord<"WORLD_BEAT">, "request_id" | "outcome_sha256">;
}

export type ReducibleRecord = Exclude<WorldRecord, { readonly kind: "WORLD_BEAT" }> | UnsealedBeat;

/** What a record does to the tables, so far as it follows without reading its lines; `makeRows` adds what follows from them. */
export function reduceRecord(before: WorldState | null, record: ReducibleRecord, position: number): Effects {
  if (record.kind === "WORLD_CREATED") return create(record.body);
  if (before === null) {
    throw new VerbatimError("INTERNAL", { message: `the stream of a world begins with ${record.kind}` });
  }
  if (record.kind === "WORLD_BEAT") return reduceBeat(before, record.body, position);
  const nothing: Effects = { ...NOTHING, state: before };
  switch (record.kind) {
    case "WORLD_FORKED":
      return { ...nothing, state: fork(before, record.body) };
    case "WORLD_SETTINGS_SET": {
      const { settings } = record.body;
      // A beat may have declared another zone since; only a change of the setting sets it again.
      const zone = settings.timezone === before.settings.timezone ? before.zone : settings.timezone;
      return { ...nothing, state: { ...before, settings, zone } };
    }
    case "WORLD_PERSON_ADDED":
      return addPeople(nothing, [record.body]);
    case "WORLD_PERSON_NAMED":
      return { ...nothing, renamed: [record.body] };
    case "WORLD_PRESENCE_SET":
      return { ...nothing, state: { ...before, present: record.body.present } };
    case "WORLD_VERSION_KEPT": {
      const kept = before.kept ?? [before.world_id];
      return { ...nothing, state: { ...before, kept: [...kept, record.body.world_id] } };
    }
    case "WORLD_TURN_SET":
      return { ...nothing, state: { ...before, next_turn: record.body.next } };
    case "WORLD_SCENE_SET": {
      const { present, write_bundle } = record.body;
      const state = {
        ...before,
        present,
        scene_no: before.scene_no + 1,
        scene_from: before.next_wseq,
        packs: {},
      };
      return addEntries({ ...nothing, state }, write_bundle, position);
    }
    case "WORLD_IMPORTED": {
      const { people, present, write_bundle } = record.body;
      const joined = addPeople(nothing, people);
      const added = addEntries({ ...joined, state: { ...joined.state, present } }, write_bundle, position);
      return withMarks(
        { ...added, state: withStyles(added.state, record.body.styles) },
        importMarks(record.body, added.entries),
      );
    }
    case "WORLD_AVATAR_SET":
      return withMarks(nothing, [avatarMark(record.body)]);
    case "WORLD_LORE_SET":
      return withMarks(addEntries(nothing, record.body.write_bundle, position), [loreMark(record.body)]);
    case "WORLD_PINNED":
    case "WORLD_UNPINNED":
      return withMarks(nothing, [pinMark(record)]);
    case "WORLD_PERSONA_SET": {
      const settings = { ...before.settings, operator_name: record.body.name };
      const added = addEntries({ ...nothing, state: { ...before, settings } }, record.body.write_bundle, position);
      return withMarks(added, [personaMark(record.body, added.entries)]);
    }
    case "WORLD_CALENDAR_ADDED":
      return addItem(nothing, record.body);
    case "WORLD_CALENDAR_CLOSED":
      return { ...nothing, calendar_states: [{ item_id: record.body.item_id, state: "CLOSED" }] };
    case "WORLD_MESSAGE_ADDED":
      return addMessage(nothing, record.body);
    case "WORLD_TOKEN_MADE":
    case "WORLD_TOKEN_REVOKED":
    case "WORLD_REFUSED":
    case "WORLD_DELETED":
      return nothing;
  }
}

const NOTHING = {
  people: [],
  renamed: [],
  entries: [],
  calendar: [],
  calendar_states: [],
  messages: [],
  marks: [],
} as const;

/** How people write is a setting, and a card brings it along. */
function withStyles(state: WorldState, styles: Readonly<Record<string, string>> = {}): WorldState {
  if (Object.keys(styles).length === 0) return state;
  const people = Object.fromEntries(Object.entries(styles).map(([id, style]) => [id, { style }]));
  return { ...state, settings: { ...state.settings, people: { ...state.settings.people, ...people } } };
}

function create({ world_id, world_key, settings, clock_ms, people }: WorldRecordBody<"WORLD_CREATED">): Effects {
  const state: WorldState = {
    world_id,
    world_key,
    parent: null,
    settings,
    clock_ms,
    zone: settings.timezone,
    paused: false,
    present: [settings.operator_id],
    scene_no: 1,
    scene_from: 1,
    next_wseq: 1,
    next_bundle: 1,
    next_beat: 1,
    next_person: FIRST_PERSON,
    next_item: 1,
    next_message: 1,
    packs: {},
    script_used: [],
  };
  return addPeople({ ...NOTHING, state }, people);
}

function fork(before: WorldState, body: WorldRecordBody<"WORLD_FORKED">): WorldState {
  const { story: _, kept: __, ...shared } = before;
  const { purpose, story_id, of_request_id, version_no, request_id } = body;
  const isVersion = purpose !== undefined && story_id !== undefined && of_request_id !== undefined;
  return {
    ...shared,
    ...(isVersion && version_no !== undefined && request_id !== undefined
      ? { story: { story_id, of: of_request_id, version_no, request_id } }
      : {}),
    world_id: body.world_id,
    world_key: body.world_key,
    parent: { world_id: body.parent_world_id, position: body.parent_position },
    settings: { ...before.settings, title: body.title },
  };
}

function addPeople(effects: Effects, people: readonly NewPerson[]): Effects {
  const first = effects.state.next_person;
  const rows = people.map(({ person_id, display_name }, i) => ({ number: first + i, person_id, display_name }));
  const state = { ...effects.state, next_person: first + rows.length };
  return { ...effects, state, people: [...effects.people, ...rows] };
}

// All lines of a beat have one time, and a clock that nobody moved gives the next beat the same; it is read once.
let lastTime = { text: "", ms: 0 };

function addEntries(effects: Effects, bundle: WriteBundle | null | undefined, position: number): Effects {
  if (bundle === null || bundle === undefined) return effects;
  const { state } = effects;
  const entries = toRows(state, bundle, position);
  const next = { next_wseq: state.next_wseq + entries.length, next_bundle: state.next_bundle + 1 };
  return { ...effects, state: { ...state, ...next }, entries };
}

function toRows(state: WorldState, bundle: WriteBundle, position: number): EntryRow[] {
  const toMs = (text: string, i: number): number => {
    if (text !== lastTime.text) {
      lastTime = { text, ms: parseInstant(text, `/write_bundle/entries/${i}/created_at_world`) };
    }
    return lastTime.ms;
  };
  return bundle.entries.map(
    (entry, i): EntryRow => ({
      wseq: state.next_wseq + i,
      entry_id: entry.entry_id!,
      bundle_id: entry.bundle_id!,
      position,
      request_id: entry.request_id,
      created_ms: toMs(entry.created_at_world, i),
      created_at: entry.created_at_world,
      author_id: entry.author.author_id,
      author_class: entry.author.author_class,
      channel: entry.channel,
      scope: entry.visibility.scope,
      audience: formatAudience(entry.visibility.visible_to),
      text: entry.text,
    }),
  );
}

let lastAudience: { readonly ids: readonly string[]; readonly text: string } = { ids: [], text: "[]" };

/** Lines of a beat mostly have one audience; its text is made once. */
function formatAudience(ids: readonly string[]): string {
  const { ids: known } = lastAudience;
  // What comes from a file is judged later and may be anything here.
  const isKnown = Array.isArray(ids) && ids.length === known.length && ids.every((id, i) => id === known[i]);
  if (!isKnown) lastAudience = { ids, text: formatCanonical(ids) };
  return lastAudience.text;
}

function addItem(effects: Effects, { item_id, item }: WorldRecordBody<"WORLD_CALENDAR_ADDED">): Effects {
  const timeMs = item.time === null ? null : parseInstant(item.time, "/item/time");
  const row: CalendarRow = {
    number: effects.state.next_item,
    item_id,
    state: timeMs !== null && timeMs <= effects.state.clock_ms ? "PAST" : "SCHEDULED",
    time_ms: timeMs,
    body: formatCanonical(item),
  };
  return { ...effects, state: { ...effects.state, next_item: row.number + 1 }, calendar: [row] };
}

function addMessage(effects: Effects, message: MessageBody): Effects {
  const { from, text, time, visible_to } = message;
  const row: MessageRow = {
    number: effects.state.next_message,
    time_ms: parseInstant(time, "/time"),
    body: formatCanonical({ from, text, time, visible_to }),
  };
  return { ...effects, state: { ...effects.state, next_message: row.number + 1 }, messages: [row] };
}

function reduceBeat(before: WorldState, body: UnsealedBeat["body"], position: number): Effects {
  const { packs: made, script_used: used, due, write_bundle: bundle } = body;
  const packs = made.length === 0 ? before.packs : withPacks(before.packs, made);
  const entries = bundle === null || bundle === undefined ? NOTHING.entries : toRows(before, bundle, position);
  // Every beat makes one of each, and to copy an object and then set members of the copy takes several times as long.
  const lived: WorldState = {
    world_id: before.world_id,
    world_key: before.world_key,
    parent: before.parent,
    settings: before.settings,
    clock_ms: body.clock_after_ms,
    zone: body.zone,
    paused: body.paused === true,
    present: before.present,
    scene_no: before.scene_no,
    scene_from: before.scene_from,
    next_wseq: before.next_wseq + entries.length,
    next_bundle: before.next_bundle + (entries === NOTHING.entries ? 0 : 1),
    next_beat: before.next_beat + 1,
    next_person: before.next_person,
    next_item: before.next_item,
    next_message: before.next_message,
    packs,
    script_used: used.length === 0 ? before.script_used : [...before.script_used, ...used],
  };
  const state = withRare(lived, before, body);
  const effects: Effects = {
    state,
    people: NOTHING.people,
    renamed: NOTHING.renamed,
    entries,
    calendar: NOTHING.calendar,
    calendar_states: due.length === 0 ? NOTHING.calendar_states : due.map(toDue),
    messages: NOTHING.messages,
    marks: NOTHING.marks,
  };
  const [corrected, by] = [body.corrects ?? null, entries[0]];
  return corrected === null || by === undefined
    ? effects
    : withMarks(effects, [correctionMark(corrected, by.entry_id)]);
}

/** What few worlds have, and what a beat of turns leaves of it: a turn that somebody gave is spent. */
function withRare(lived: WorldState, before: WorldState, body: UnsealedBeat["body"]): WorldState {
  const { marks, next_turn, last_turn, story, kept } = before;
  const { turns } = body;
  const round = roundAfter(before, body);
  const isPlain = marks === undefined && next_turn === undefined && last_turn === undefined && turns === undefined;
  if (isPlain && story === undefined && kept === undefined && round === undefined) return lived;
  const last = turns?.chosen.at(-1) ?? last_turn;
  return {
    ...lived,
    ...(marks === undefined ? {} : { marks }),
    ...(story === undefined ? {} : { story }),
    ...(kept === undefined ? {} : { kept }),
    ...(round === undefined ? {} : { round }),
    ...(next_turn === undefined || turns !== undefined ? {} : { next_turn }),
    ...(last === undefined ? {} : { last_turn: last }),
  };
}

/** Who has sent something since a writer last ran; a writer that runs ends the round. */
function roundAfter(before: WorldState, { ran_writer, speaker }: UnsealedBeat["body"]): WorldState["round"] {
  if (ran_writer !== false) return undefined;
  const isPerson = speaker !== undefined && speaker !== before.settings.operator_id && speaker !== "WORLD";
  return isPerson ? sortedUnique([...(before.round ?? []), speaker]) : before.round;
}

function toDue(item_id: string): { readonly item_id: string; readonly state: "DUE" } {
  return { item_id, state: "DUE" };
}

function withPacks(before: WorldState["packs"], made: readonly RecordedPack[]): WorldState["packs"] {
  const packs: Record<string, StoredPack> = { ...before };
  for (const { view, kind, text, replay, cap } of made) {
    packs[view] = { kind, text, replay, ...(cap === undefined ? {} : { cap }) };
  }
  return packs;
}

/** What records do one after the other as one, for writing or comparing it at once. */
export function mergeEffects(effects: readonly Effects[]): Effects {
  const renamed = new Map(effects.flatMap((one) => one.renamed).map((one) => [one.person_id, one.display_name]));
  const states = new Map(effects.flatMap((one) => one.calendar_states).map((one) => [one.item_id, one.state]));
  return {
    state: effects.at(-1)!.state,
    people: effects
      .flatMap((one) => one.people)
      .map((person) => ({ ...person, display_name: renamed.get(person.person_id) ?? person.display_name })),
    renamed: [],
    entries: effects.flatMap((one) => one.entries),
    calendar: effects
      .flatMap((one) => one.calendar)
      .map((item) => ({ ...item, state: states.get(item.item_id) ?? item.state })),
    calendar_states: [],
    messages: effects.flatMap((one) => one.messages),
    marks: [
      ...new Map(effects.flatMap((one) => one.marks).map((one) => [`${one.kind} ${one.id}`, one])).values(),
    ].filter(({ body }) => body !== null),
  };
}
