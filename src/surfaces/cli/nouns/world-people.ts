import type { Output } from "../../../app/operations.ts";
import { showWritten } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Verb } from "../verb.ts";

const AS = { viewer: { name: "as", value: "VIEWER" } } as const;

function renderPerson({ person_id, display_name }: Output<"world.people-add">, io: Io): void {
  io.line(`${person_id} ${showWritten(display_name)}`);
}

export const PEOPLE_VERBS: readonly Verb[] = [
  defineVerb("world.search", {
    path: ["search"],
    args: [{ field: "query", label: "QUERY" }],
    flags: AS,
    examples: ['verbatim world search "blue boat"', "verbatim world search letter --person ANA --as ANA"],
    async render({ results, notes }, io, { world, viewer }, app) {
      for (const { entry_id, created_at_world, verbatim_excerpt } of results) {
        const { author } = await app.call("world.entry", { world, viewer, entry_id });
        io.line(io.paint.dim(`${created_at_world} ${author.author_id} ${entry_id}`));
        io.line(showWritten(verbatim_excerpt));
      }
      if (results.length === 0) io.note("nothing found");
      if (notes !== null) io.note(notes);
    },
  }),
  defineVerb("world.capsule", {
    path: ["capsule"],
    args: [{ field: "person", label: "PERSON" }],
    flags: AS,
    examples: ["verbatim world capsule ANA", "verbatim world capsule ANA --as BEN"],
    render({ capsule_id, sections }, io) {
      for (const { text, provenance } of sections) {
        if (text !== "") io.line(showWritten(text));
        const ids = provenance.used_entry_ids;
        if (ids.length === 0) io.note(`${capsule_id}: this view knows none of their lines`);
        else io.note(`${capsule_id} from ${ids.length === 1 ? "1 entry" : `${ids.length} entries`}: ${ids.join(" ")}`);
      }
    },
  }),
  defineVerb("world.people", {
    path: ["people", "list"],
    isDefault: true,
    examples: ["verbatim world people", "verbatim world people list --json"],
    render({ operator, people }, io) {
      const rows = [
        [operator.operator_id, showWritten(operator.name), operator.present ? "here" : "", "operator"],
        ...people.map((one) => [one.person_id, showWritten(one.display_name), one.present ? "here" : "", ""]),
      ];
      const columns = [{ title: "id" }, { title: "name", shrink: true }, { title: "" }, { title: "" }];
      for (const line of formatTable(columns, rows, io.width)) io.line(line);
    },
  }),
  defineVerb("world.people-add", {
    path: ["people", "add"],
    args: [
      { field: "person_id", label: "ID" },
      { field: "display_name", label: "NAME" },
    ],
    flags: { key: { hidden: true } },
    examples: ["verbatim world people add CLEO Cleo"],
    render: renderPerson,
  }),
  defineVerb("world.people-name", {
    path: ["people", "name"],
    args: [
      { field: "person_id", label: "ID" },
      { field: "display_name", label: "NAME" },
    ],
    flags: { key: { hidden: true } },
    examples: ['verbatim world people name CLEO "Cleo the baker"'],
    render: renderPerson,
  }),
  defineVerb("world.presence", {
    path: ["people", "presence"],
    args: [{ field: "present", label: "ID", variadic: true }],
    flags: { key: { hidden: true } },
    examples: [
      "verbatim world people presence GEORGE ANA",
      'verbatim world people presence GEORGE BEN --scene "The pier, at dusk."',
    ],
    render({ present, scene_no }, io) {
      io.line(`present: ${present.join(", ")} (scene ${scene_no})`);
    },
  }),
  defineVerb("world.tokens", {
    path: ["tokens", "list"],
    isDefault: true,
    examples: ["verbatim world tokens"],
    render({ tokens }, io) {
      for (const { token_id, role, viewer, label, last_used_on, revoked_at } of tokens) {
        const state = revoked_at === null ? `last used ${last_used_on ?? "never"}` : "revoked";
        io.line(`${token_id}  ${role}  ${viewer}  ${state}${label === null ? "" : `  ${showWritten(label)}`}`);
      }
      if (tokens.length === 0) io.note("no tokens");
    },
  }),
  defineVerb("world.token-make", {
    path: ["tokens", "make"],
    args: [{ field: "person_id", label: "ID" }],
    examples: ["verbatim world tokens make ANA --role player", "verbatim world tokens make BEN --label phone"],
    render({ token, token_id, role, viewer }, io) {
      io.line(token);
      io.note(`${token_id}: ${viewer} (${role}); it is shown only once; only its hash is stored`);
    },
  }),
  defineVerb("world.token-revoke", {
    path: ["tokens", "revoke"],
    args: [{ field: "token_id", label: "TOKEN" }],
    examples: ["verbatim world tokens revoke t_0123456789abcdef"],
    render({ token_id }, io) {
      io.line(`${token_id} revoked`);
    },
  }),
  defineVerb("world.turn-set", {
    path: ["turn"],
    args: [{ field: "next", label: "ID", variadic: true }],
    flags: { key: { hidden: true } },
    examples: ["verbatim world turn ANA", "verbatim world turn ANA BEN"],
    render({ next }, io) {
      io.line(next.length === 0 ? "next: nobody" : `next: ${next.join(", ")}`);
    },
  }),
  defineVerb("world.people-token", {
    path: ["people", "token"],
    args: [{ field: "person_id", label: "ID" }],
    examples: ["verbatim world people token ANA"],
    render({ token, viewer, role }, io) {
      io.line(token);
      io.note(`reads as ${viewer} (${role}); it is shown only once; only its hash is stored`);
    },
  }),
  defineVerb("world.pocket", {
    path: ["pocket", "show"],
    isDefault: true,
    flags: AS,
    examples: ["verbatim world pocket", "verbatim world pocket show --as ANA"],
    async render({ clock, messages }, io, { world, viewer }, app) {
      if (clock.world_time !== null) io.line(`clock ${clock.world_time} (${clock.timezone})`);
      const { items } = await app.call("world.calendar", { world, viewer });
      for (const { item_id, state, title, time, location } of items) {
        if (state === "CLOSED") continue;
        const place = location === null ? [] : [showWritten(location)];
        io.line(
          [
            "item",
            item_id,
            time ?? "undated",
            showWritten(title),
            ...place,
            ...(state === "SCHEDULED" ? [] : [state.toLowerCase()]),
          ].join("  "),
        );
      }
      for (const { from, text, time } of messages.items)
        io.line(`from  ${showWritten(from)}, ${time}: ${showWritten(text)}`);
    },
  }),
  defineVerb("world.calendar-add", {
    path: ["pocket", "event"],
    args: [{ field: "title", label: "TITLE" }],
    flags: { key: { hidden: true }, time: { name: "at" }, visible_to: { name: "to" } },
    examples: ['verbatim world pocket event Ferry --at 2026-01-01T09:00 --location "Pier 2"'],
    render({ item_id }, io) {
      io.line(item_id);
    },
  }),
  defineVerb("world.calendar-close", {
    path: ["pocket", "close"],
    args: [{ field: "item_id", label: "ITEM" }],
    flags: { key: { hidden: true }, viewer: { hidden: true } },
    examples: ["verbatim world pocket close k_bd2nrjvq3yhtw5fa"],
    render({ item_id, state }, io) {
      io.line(`${item_id} ${state}`);
    },
  }),
  defineVerb("world.message-add", {
    path: ["pocket", "message"],
    args: [
      { field: "from", label: "FROM" },
      { field: "text", label: "TEXT" },
    ],
    flags: { key: { hidden: true }, visible_to: { name: "to" } },
    examples: ['verbatim world pocket message ANA "Are you up?" --to GEORGE'],
    render({ message_id }, io) {
      io.line(`message ${message_id}`);
    },
  }),
];
