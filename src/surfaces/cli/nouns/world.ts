import { showWritten } from "../../../core/text/index.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";
import { BEAT_VERBS } from "./world-beats.ts";
import { HISTORY_VERBS } from "./world-history.ts";
import { IMPORT_VERBS } from "./world-imports.ts";
import { PEOPLE_VERBS } from "./world-people.ts";
import { SETTINGS_VERBS } from "./world-settings.ts";
import { TELLING_VERBS } from "./world-telling.ts";
import { VERSION_VERBS } from "./world-versions.ts";

export const noun: Noun = {
  groups: {
    time: "The clock: show, declare, pause, resume, policy.",
    people: "The people: list, add, name, presence, token.",
    settings: "What the owner decides: show, set, reset.",
    writer: "Who writes: show, set, test, models.",
    pin: "Exact quotes that every writer who may know them is sent: add, list, remove.",
    lore: "What is known of the world, sent when its keys are said: list, show, set, off.",
    tokens: "Who may come in over HTTP: list, make, revoke.",
    versions: "Beats that are lived again: list, make, keep.",
    note: "What writers are told beside the story: list, set, remove.",
    imports: "Files that were imported: list, show, original.",
    avatar: "Pictures of people: show, set, remove.",
    pocket: "Calendar and messages: show, event, close, message.",
  },
  verbs: [
    defineVerb("world.new", {
      path: ["new"],
      args: [{ field: "title", label: "TITLE" }],
      flags: {
        settings: { hidden: true },
        key: { hidden: true },
        person: { value: "ID=NAME" },
        world_id: { name: "id" },
      },
      examples: [
        'verbatim world new "Gull Rock" --person ANA=Ana --person BEN=Ben',
        "verbatim world new Harbour --writer ollama --model llama3.1 --timezone Europe/London --start 2026-01-01T07:30",
      ],
      render({ world_id, title, next }, io) {
        io.line(`${io.paint.bold(world_id)} ${showWritten(title)}`);
        if (typeof next === "string") io.line(`next: ${next}`);
      },
    }),
    defineVerb("world.list", {
      path: ["list"],
      examples: ["verbatim world list"],
      render({ worlds }, io) {
        if (worlds.length === 0) io.line("there are no worlds yet; create one: verbatim world new TITLE");
        const rows = worlds.map((one) => [
          one.world_id,
          showWritten(one.title),
          one.world_time ?? "",
          String(one.entries ?? ""),
          one.writer.words,
        ]);
        const columns = [
          { title: "world" },
          { title: "title", shrink: true },
          { title: "clock" },
          { title: "entries" },
          { title: "writer", shrink: true },
        ];
        if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
      },
    }),
    defineVerb("world.show", {
      path: ["show"],
      args: [{ field: "world", label: "WORLD", optional: true, alsoFlag: true }],
      examples: ["verbatim world show w_gull-rock"],
      render(world, io) {
        io.line(`${io.paint.bold(world.world_id)} ${showWritten(world.settings.title)}`);
        io.line(`clock     ${world.world_time} (${world.timezone})${world.paused ? ", paused" : ""}`);
        const here = world.people.filter(({ present }) => present).map(({ person_id }) => person_id);
        io.line(`here      ${[...(world.operator_present ? [world.settings.operator_id] : []), ...here].join(", ")}`);
        io.line(
          `people    ${world.people.map((one) => `${one.person_id} (${showWritten(one.display_name)})`).join(", ")}`,
        );
        io.line(`scene     ${world.scene_no}, cast ${world.settings.cast}`);
        io.line(`writer    ${world.writer}`);
        if (world.parent !== null) io.line(`forked    from ${world.parent.world_id} at ${world.parent.position}`);
        if (world.head !== null) io.line(`head      ${world.head.position} ${world.head.hash}`);
      },
    }),
    defineVerb("world.delete", {
      path: ["delete"],
      args: [{ field: "world", label: "WORLD", optional: true, alsoFlag: true }],
      flags: { confirm: { value: "TITLE" } },
      examples: ['verbatim world delete w_gull-rock --confirm "Gull Rock"'],
      render({ world_id, records, entries }, io) {
        io.line(`deleted ${world_id} with ${entries} entries; the hashes of its ${records} records stay in the ledger`);
      },
    }),
    ...BEAT_VERBS,
    ...PEOPLE_VERBS,
    ...HISTORY_VERBS,
    ...SETTINGS_VERBS,
    ...TELLING_VERBS,
    ...IMPORT_VERBS,
    ...VERSION_VERBS,
    defineVerb("world.demo", {
      path: ["demo"],
      examples: ["verbatim world demo"],
      render({ ok, steps }, io) {
        for (const { title, lines, ok: good } of steps) {
          io.line(`${good ? io.paint.good("ok") : io.paint.bad("no")} ${io.paint.bold(title)}`);
          for (const line of lines) io.line(`   ${showWritten(line)}`);
        }
        io.line(ok ? "only those who were told know the secret" : io.paint.bad("something went wrong"));
      },
      exit: ({ ok }) => (ok ? 0 : 3),
    }),
  ],
};
