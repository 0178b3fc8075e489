import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OWNER, VIEWER } from "../../../core/operation.ts";
import { keptOf, parseState, storyOf } from "../history/state.ts";
import { createWorld } from "../history/worlds.ts";
import { loadWorld } from "../projection/reading.ts";
import { worldTime } from "../projection/views.ts";
import { listWorlds as findWorlds } from "../projection/world-list.ts";
import { type Settings, settingsSchema } from "../settings.ts";
import { findWorldId, keyField, requireLocal, type WorldRoom, worldField } from "./room.ts";

const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;
const SCRIPTED = "Scripted writer: no model is running";

/** The writer in words. */
function describeWriter({ writer }: Settings): string {
  return writer.kind === "scripted" ? SCRIPTED : `${writer.kind} ${writer.model ?? ""}`.trim();
}

function parsePerson(text: string): { person_id: string; display_name: string } {
  const at = text.indexOf("=");
  if (at < 1) throw new VerbatimError("USAGE", { message: `write a person as ID=Name, not ${JSON.stringify(text)}` });
  return { person_id: text.slice(0, at), display_name: text.slice(at + 1) };
}

const newWorld = defineOperation({
  name: "world.new",
  summary: "Creates a world.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    title: z.string().min(1).max(120).describe("Title of the world."),
    world_id: z.string().optional().describe("Id: w_ and lower-case letters (default: made from the title)."),
    operator: z.string().optional().describe("Id of the operator (default: GEORGE)."),
    operator_name: z.string().optional().describe("Name of the operator (default: George)."),
    timezone: z.string().optional().describe("Time zone of the world, an IANA name."),
    start: z.string().optional().describe("Time at which the world begins."),
    person: z.array(z.string()).default([]).describe("A person as ID=Name; can be repeated."),
    writer: z.enum(["scripted", "ollama", "openai-compatible"]).default("scripted").describe("Who writes."),
    model: z.string().optional().describe("Model of the writer."),
    base_url: z.string().optional().describe("Address of the writer's provider."),
    api_key_env: z.string().optional().describe("Environment variable that contains the provider's key."),
    script: z.string().optional().describe("File with lines for the scripted writer."),
    visibility: z.enum(["presence", "public"]).default("presence").describe("Who perceives a line by default."),
    cast: z
      .enum(["room", "each", "turns"])
      .default("room")
      .describe("One writer for the room, a pass for each person, or people in turns."),
    settings: z.record(z.string(), z.unknown()).optional().describe("Any other settings, as an object."),
    key: keyField,
  }),
  output: z.strictObject({
    world_id: z.string(),
    title: z.string(),
    next: z.union([z.string(), z.strictObject({ method: z.string(), path: z.string() })]),
  }),
  async run(room: WorldRoom, { key, ...input }) {
    if (input.script !== undefined) requireLocal(room, "script");
    const script =
      input.script === undefined
        ? null
        : new TextDecoder()
            .decode(await room.files.read(input.script, MAX_SCRIPT_BYTES))
            .split("\n")
            .filter((line) => line.trim() !== "");
    const wanted = {
      world_id: input.world_id ?? null,
      start: input.start ?? null,
      people: input.person.map(parsePerson),
      settings: {
        title: input.title,
        ...(input.operator === undefined ? {} : { operator_id: input.operator }),
        ...(input.operator_name === undefined ? {} : { operator_name: input.operator_name }),
        ...(input.timezone === undefined ? {} : { timezone: input.timezone }),
        visibility_default: input.visibility,
        cast: input.cast,
        writer: {
          kind: input.writer,
          model: input.model ?? null,
          base_url: input.base_url ?? null,
          api_key_env: input.api_key_env ?? null,
          script,
        },
        ...input.settings,
      },
    };
    const { world_id } = await createWorld(room, wanted, { key: key ?? null, body: { new: wanted } });
    const next =
      room.actor === "http"
        ? { method: "POST", path: `/api/worlds/${world_id}/invocations` }
        : `verbatim world say "Hello." --world ${world_id}`;
    return { world_id, title: input.title, next };
  },
});

const listedWorld = z.strictObject({
  world_id: z.string(),
  title: z.string(),
  story_id: z.string(),
  kept_world_id: z.string().describe("Version of its story that clients open."),
  parent: z.strictObject({ world_id: z.string() }).nullable(),
  viewer: z.string().describe("As whom it is read here."),
  people: z.int(),
  present: z.array(z.string()),
  world_time: z.string().nullable().describe("Null where the clock is hidden."),
  timezone: z.string().nullable(),
  paused: z.boolean(),
  writer: z.strictObject({ kind: z.string(), model: z.string().nullable(), words: z.string() }),
  last: z
    .strictObject({
      entry_id: z.string(),
      channel: z.string(),
      author_label: z.string().nullable(),
      excerpt: z.string(),
      created_at_world: z.string(),
    })
    .nullable()
    .describe("The newest line that the caller may see."),
  last_activity: z.string().nullable(),
  entries: z.int().optional().describe("How many lines there are, for the owner."),
  purpose: z.enum(["STORY", "VERSION"]).optional().describe("For the owner."),
});

const listWorlds = defineOperation({
  name: "world.list",
  summary: "Lists the worlds of this workspace, each with its newest line.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    q: z.string().max(200).default("").describe("Part of the title."),
    order: z.enum(["activity", "title"]).default("activity").describe("Which come first."),
    versions: z.boolean().default(false).describe("Also list versions that are not kept."),
    limit: z.int().min(1).max(100).default(50).describe("Maximum number of worlds."),
    after: z.string().max(512).optional().describe("next of the page before."),
    story: z.string().optional().describe("Only this story."),
    viewer: z.string().min(1).optional().describe("Read as this person (default: the operator of each)."),
    role: z.enum(["owner", "operator", "player", "viewer"]).default("owner").describe("Read with these rights."),
  }),
  output: z.strictObject({ worlds: z.array(listedWorld), next: z.string().nullable() }),
  async run(room: WorldRoom, { q, order, versions, limit, after, story, viewer, role }) {
    const isOwner = role === "owner";
    const asked = {
      q,
      order,
      versions: versions && (isOwner || role === "operator"),
      limit,
      after: after ?? null,
      story: story ?? null,
      viewer: viewer ?? null,
      clocks: isOwner,
    };
    const { worlds, next } = await findWorlds(room, asked);
    return {
      next,
      worlds: worlds.map(({ state, kept_world_id, viewer: as, people, present, world_time, last, last_activity }) => {
        const { settings, world_id, zone, paused, next_wseq } = state;
        const { kind, model } = settings.writer;
        const owned = { entries: next_wseq - 1, purpose: state.story === undefined ? "STORY" : "VERSION" } as const;
        return {
          world_id,
          title: settings.title,
          story_id: storyOf(state),
          kept_world_id,
          parent: state.parent === null || !isOwner ? null : { world_id: state.parent.world_id },
          viewer: as,
          people,
          present: [...present],
          world_time,
          timezone: world_time === null ? null : zone,
          paused: world_time !== null && paused,
          writer: { kind, model: model ?? null, words: describeWriter(settings) },
          last,
          last_activity,
          ...(isOwner ? owned : {}),
        };
      }),
    };
  },
});

// Notes and styles are for those they name; only an owner who asks for the settings is shown them.
const shownSettings = settingsSchema.omit({ notes: true, people: true });

function hideTold({ notes: _, people: __, ...rest }: Settings): z.output<typeof shownSettings> {
  return rest;
}

const showWorld = defineOperation({
  name: "world.show",
  summary: "Shows a world: its settings, people, clock and head.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({ world: worldField }),
  output: z.strictObject({
    world_id: z.string(),
    settings: shownSettings,
    people: z.array(z.strictObject({ person_id: z.string(), display_name: z.string(), present: z.boolean() })),
    operator_present: z.boolean(),
    world_time: z.string(),
    timezone: z.string(),
    paused: z.boolean(),
    scene_no: z.int(),
    head: z.strictObject({ position: z.int(), hash: z.string() }).nullable(),
    parent: z.strictObject({ world_id: z.string(), position: z.int() }).nullable(),
    story_id: z.string().describe("World that its story began with."),
    kept_world_id: z.string().describe("Version of its story that clients open."),
    writer: z.string(),
  }),
  async run(room: WorldRoom, input) {
    const worldId = await findWorldId(room, input.world);
    return room.store.read(async (tx) => {
      const world = await loadWorld(tx.world, worldId);
      const { state, cast } = world;
      const story_id = storyOf(state);
      const root = story_id === worldId ? null : await tx.world.find(story_id);
      return {
        world_id: worldId,
        settings: hideTold(state.settings),
        people: [...cast.people].map(([person_id, display_name]) => ({
          person_id,
          display_name,
          present: cast.present.includes(person_id),
        })),
        operator_present: cast.present.includes(cast.operator_id),
        world_time: worldTime(room, world),
        timezone: state.zone,
        paused: state.paused,
        scene_no: state.scene_no,
        head: await tx.ledger.head(`world/${worldId}`),
        parent: state.parent === null ? null : { ...state.parent },
        story_id,
        kept_world_id: keptOf(root === null ? state : parseState(root)),
        writer: describeWriter(state.settings),
      };
    });
  },
});

export const WORLD_MAKING_OPERATIONS = [newWorld, listWorlds, showWorld] as const;
