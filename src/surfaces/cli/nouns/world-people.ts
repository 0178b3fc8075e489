import type { App } from "../../../app/app-type.ts";
import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Verb } from "../verb.ts";
import { shown } from "./world-text.ts";

interface People {
  readonly operator: { readonly operator_id: string; readonly name: string; readonly present: boolean };
  readonly people: readonly { readonly person_id: string; readonly display_name: string; readonly present: boolean }[];
}

interface Person {
  readonly person_id: string;
  readonly display_name: string;
}

interface Pocket {
  readonly clock: { readonly world_time: string | null; readonly timezone: string | null };
  readonly messages: { readonly items: readonly { from: string; text: string; time: string }[] };
}

interface Pack {
  readonly results: readonly { entry_id: string; created_at_world: string; verbatim_excerpt: string }[];
  readonly notes: string | null;
}

interface Capsule {
  readonly capsule_id: string;
  readonly sections: readonly { text: string; provenance: { used_entry_ids: readonly string[] } }[];
}

interface Entry {
  readonly author: { readonly author_id: string };
}

interface Calendar {
  readonly items: readonly {
    readonly item_id: string;
    readonly state: string;
    readonly title: string;
    readonly time: string | null;
    readonly location: string | null;
  }[];
}

/** What a verb was asked, for what its output does not say because the contract object has no room for it. */
const asked = new WeakMap<Io, { readonly app: App; readonly input: Record<string, unknown> }>();

async function remember(input: Record<string, unknown>, io: Io, app: App): Promise<Record<string, unknown>> {
  asked.set(io, { app, input });
  return input;
}

function pick({ world, viewer }: Record<string, unknown>): Record<string, unknown> {
  return { ...(world === undefined ? {} : { world }), ...(viewer === undefined ? {} : { viewer }) };
}

const AS = { viewer: { name: "as", value: "VIEWER" } } as const;

function renderPerson({ person_id, display_name }: Person, io: Io): void {
  io.line(`${person_id} ${shown(display_name)}`);
}

export const PEOPLE_VERBS: readonly Verb<never>[] = [
  defineVerb<Pack>({
    path: ["search"],
    operation: "world.search",
    args: [{ field: "query", label: "QUERY" }],
    flags: AS,
    examples: ['verbatim world search "blue boat"', "verbatim world search letter --person ANA --as ANA"],
    prepare: remember,
    async render({ results, notes }, io) {
      const { app, input } = asked.get(io)!;
      for (const { entry_id, created_at_world, verbatim_excerpt } of results) {
        const { author } = (await app.call("world.entry", { ...pick(input), entry_id })) as Entry;
        io.line(io.paint.dim(`${created_at_world} ${author.author_id} ${entry_id}`));
        io.line(shown(verbatim_excerpt));
      }
      if (results.length === 0) io.note("nothing found");
      if (notes !== null) io.note(notes);
    },
  }),
  defineVerb<Capsule>({
    path: ["capsule"],
    operation: "world.capsule",
    args: [{ field: "person", label: "PERSON" }],
    flags: AS,
    examples: ["verbatim world capsule ANA", "verbatim world capsule ANA --as BEN"],
    render({ capsule_id, sections }, io) {
      for (const { text, provenance } of sections) {
        if (text !== "") io.line(shown(text));
        const ids = provenance.used_entry_ids;
        if (ids.length === 0) io.note(`${capsule_id}: no line of theirs is known here`);
        else io.note(`${capsule_id} from ${ids.length === 1 ? "1 entry" : `${ids.length} entries`}: ${ids.join(" ")}`);
      }
    },
  }),
  defineVerb<People>({
    path: ["people", "list"],
    isDefault: true,
    operation: "world.people",
    examples: ["verbatim world people", "verbatim world people list --json"],
    render({ operator, people }, io) {
      const rows = [
        [operator.operator_id, shown(operator.name), operator.present ? "here" : "", "operator"],
        ...people.map((one) => [one.person_id, shown(one.display_name), one.present ? "here" : "", ""]),
      ];
      const columns = [{ title: "id" }, { title: "name", shrink: true }, { title: "" }, { title: "" }];
      for (const line of formatTable(columns, rows, io.width)) io.line(line);
    },
  }),
  defineVerb<Person>({
    path: ["people", "add"],
    operation: "world.people-add",
    args: [
      { field: "person_id", label: "ID" },
      { field: "display_name", label: "NAME" },
    ],
    flags: { key: { hidden: true } },
    examples: ["verbatim world people add CLEO Cleo"],
    render: renderPerson,
  }),
  defineVerb<Person>({
    path: ["people", "name"],
    operation: "world.people-name",
    args: [
      { field: "person_id", label: "ID" },
      { field: "display_name", label: "NAME" },
    ],
    flags: { key: { hidden: true } },
    examples: ['verbatim world people name CLEO "Cleo the baker"'],
    render: renderPerson,
  }),
  defineVerb<{ readonly present: readonly string[]; readonly scene_no: number }>({
    path: ["people", "presence"],
    operation: "world.presence",
    args: [{ field: "present", label: "ID", variadic: true }],
    flags: { key: { hidden: true } },
    examples: [
      "verbatim world people presence GEORGE ANA",
      'verbatim world people presence GEORGE BEN --scene "The pier, at dusk."',
    ],
    render({ present, scene_no }, io) {
      io.line(`here: ${present.join(", ")} (scene ${scene_no})`);
    },
  }),
  defineVerb<{ readonly token: string; readonly role: string; readonly viewer: string }>({
    path: ["people", "token"],
    operation: "world.people-token",
    args: [{ field: "person_id", label: "ID" }],
    examples: ["verbatim world people token ANA"],
    render({ token, viewer, role }, io) {
      io.line(token);
      io.note(`reads as ${viewer} (${role}); it is shown once and only its hash is kept`);
    },
  }),
  defineVerb<Pocket>({
    path: ["pocket", "show"],
    isDefault: true,
    operation: "world.pocket",
    flags: AS,
    examples: ["verbatim world pocket", "verbatim world pocket show --as ANA"],
    prepare: remember,
    async render({ clock, messages }, io) {
      const { app, input } = asked.get(io)!;
      if (clock.world_time !== null) io.line(`clock ${clock.world_time} (${clock.timezone})`);
      const { items } = (await app.call("world.calendar", pick(input))) as Calendar;
      for (const { item_id, state, title, time, location } of items) {
        if (state === "CLOSED") continue;
        const place = location === null ? [] : [shown(location)];
        io.line(
          [
            "item",
            item_id,
            time ?? "undated",
            shown(title),
            ...place,
            ...(state === "SCHEDULED" ? [] : [state.toLowerCase()]),
          ].join("  "),
        );
      }
      for (const { from, text, time } of messages.items) io.line(`from  ${shown(from)}, ${time}: ${shown(text)}`);
    },
  }),
  defineVerb<{ readonly item_id: string }>({
    path: ["pocket", "event"],
    operation: "world.calendar-add",
    args: [{ field: "title", label: "TITLE" }],
    flags: { key: { hidden: true } },
    examples: ['verbatim world pocket event Ferry --at 2026-01-01T09:00 --location "Pier 2"'],
    render({ item_id }, io) {
      io.line(item_id);
    },
  }),
  defineVerb<{ readonly item_id: string; readonly state: string }>({
    path: ["pocket", "close"],
    operation: "world.calendar-close",
    args: [{ field: "item_id", label: "ITEM" }],
    flags: { key: { hidden: true }, viewer: { hidden: true } },
    examples: ["verbatim world pocket close k_bd2nrjvq3yhtw5fa"],
    render({ item_id, state }, io) {
      io.line(`${item_id} ${state}`);
    },
  }),
  defineVerb<{ readonly message_id: string }>({
    path: ["pocket", "message"],
    operation: "world.message-add",
    args: [
      { field: "from", label: "FROM" },
      { field: "text", label: "TEXT" },
    ],
    flags: { key: { hidden: true } },
    examples: ['verbatim world pocket message ANA "Are you up?" --to GEORGE'],
    render({ message_id }, io) {
      io.line(`message ${message_id}`);
    },
  }),
];
