import type { JsonValue } from "../../src/core/canonical/index.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import type { Operation } from "../../src/core/operation.ts";
import { WORLD_OPERATIONS, type WorldRoom } from "../../src/rooms/world/operations/index.ts";
import { forkWorld } from "../../src/rooms/world/service/history.ts";
import { importFile } from "../../src/rooms/world/service/imports.ts";
import {
  addCalendarItem,
  addMessage,
  createWorld,
  setPresence,
  startScene,
} from "../../src/rooms/world/service/worlds.ts";
import { envelope, ListedModel, openWorlds, says, type TestWorlds } from "./world.ts";

const PEOPLE = ["ANA", "ANA_B", "BEN", "CLEO"] as const;
const EVERYBODY = ["GEORGE", ...PEOPLE] as const;

/** A small generator that gives the same numbers for the same seed. */
function makeDice(seed: number): (sides: number) => number {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  return (sides) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % sides;
  };
}

/** A word that occurs once in the whole run, and everybody who may ever read it. */
interface Secret {
  readonly word: string;
  readonly known_to: ReadonlySet<string>;
}

/**
 * How each operation that reads is driven, or why it need not be. A reading operation that is not listed here fails
 * the canary: somebody added a way to read without thinking of who may read.
 */
const READS: Readonly<Record<string, ((viewer: string, story: Story) => readonly object[]) | "owner" | "structural">> =
  {
    "world.projection": (viewer, { cursors }) => [
      { viewer },
      { viewer, limit: 2 },
      ...cursors.flatMap((cursor) => [
        { viewer, after: cursor },
        { viewer, before: cursor },
      ]),
    ],
    "world.follow": (viewer, { cursors }) => [{ viewer, status: true, after: cursors[0] }],
    "world.entry": (viewer, { entryIds }) => entryIds.map((entry_id) => ({ viewer, entry_id })),
    "world.search": (viewer, { secrets }) => [
      ...secrets.map(({ word }) => ({ viewer, query: word })),
      { viewer, query: "the harbour boat", limit: 20 },
      ...EVERYBODY.map((person) => ({ viewer, query: "", person, limit: 20 })),
      { viewer, query: "", from: "2020-01-01T00:00Z", limit: 20 },
    ],
    "world.capsule": (viewer) => EVERYBODY.map((person) => ({ viewer, person })),
    "world.pocket": (viewer) => [{ viewer }],
    "world.export": (viewer) => [{ viewer, kind: "viewer" }],
    "world.people": "structural",
    "world.time": "structural",
    "world.list": "structural",
    "world.health": "structural",
    "world.metrics": "structural",
    "world.authorize": "structural",
    "world.demo": "structural",
    "world.show": "owner",
    "world.verify": "owner",
    "world.calls": "owner",
    "world.call": "owner",
    "world.inspect": "owner",
    "world.invocation": "owner",
  };

/** Reading operations that the canary does not know. */
export function findUndriven(): string[] {
  return WORLD_OPERATIONS.filter(({ effect, name }) => effect === "read" && !(name in READS)).map(({ name }) => name);
}

interface Story {
  readonly world: string;
  readonly secrets: Secret[];
  readonly entryIds: string[];
  readonly cursors: string[];
  present: string[];
}

export interface CanaryResult {
  readonly sequences: number;
  readonly outputs: number;
  readonly prompts: number;
  readonly secrets: number;
  readonly leaks: readonly string[];
}

/** Runs random stories full of secrets and looks for each secret in everything made for whoever may not know it. */
export async function runCanary(options: {
  readonly url?: string;
  readonly from: number;
  readonly count: number;
}): Promise<CanaryResult> {
  const model = new ListedModel();
  await using worlds = await openWorlds({ models: model, ...(options.url === undefined ? {} : { url: options.url }) });
  const room: WorldRoom = {
    ...worlds.ports,
    beats: worlds.beats,
    default_world: null,
    writable: async () => worlds.ports.store,
  };
  const totals = { outputs: 0, prompts: 0, secrets: 0, leaks: [] as string[] };
  for (let seed = options.from; seed < options.from + options.count; seed++) {
    const story = await tellStory(worlds, model, seed, totals);
    for (const viewer of EVERYBODY) await readAs(room, viewer, story, seed, totals);
    totals.secrets += story.secrets.length;
  }
  return { sequences: options.count, ...totals };
}

async function tellStory(
  worlds: TestWorlds,
  model: ListedModel,
  seed: number,
  totals: { prompts: number; leaks: string[] },
): Promise<Story> {
  const dice = makeDice(seed + 1);
  const pick = <T>(all: readonly T[]): T => all[dice(all.length)]!;
  const some = (least: number): string[] => {
    const chosen = EVERYBODY.filter(() => dice(2) === 0);
    return chosen.length >= least
      ? [...chosen]
      : [pick(EVERYBODY), ...chosen].filter((id, i, all) => all.indexOf(id) === i);
  };
  const { world_id: world } = await createWorld(worlds.ports, {
    world_id: `w_canary-${seed}`,
    start: "2026-01-01T08:00Z",
    people: PEOPLE.map((person_id) => ({ person_id, display_name: person_id.toLowerCase() })),
    settings: {
      title: `Canary ${seed}`,
      timezone: "UTC",
      cast: dice(2) === 0 ? "room" : "each",
      writer: { kind: "ollama", model: "test" },
      // A small window, so that rehydration happens in some stories.
      context: {
        window_tokens: dice(3) === 0 ? 13_500 : 32_768,
        output_reserve: 1024,
        threshold_percent: 50,
        pack_percent: 20,
      },
    },
  });
  const story: Story = { world, secrets: [], entryIds: [], cursors: [], present: ["GEORGE"] };
  let n = 0;
  const secret = (knownTo: readonly string[]): string => {
    const word = `zq${seed}x${n++}q`;
    story.secrets.push({ word, known_to: new Set(knownTo) });
    return word;
  };
  const steps = 6 + dice(8);
  for (let step = 0; step < steps; step++) {
    const { present } = story;
    switch (dice(9)) {
      case 0:
        story.present = some(0);
        await setPresence(worlds.ports, world, story.present);
        break;
      case 1:
        story.present = some(1);
        await startScene(worlds.ports, world, {
          text: `The harbour ${secret(story.present)}.`,
          present: story.present,
        });
        break;
      case 2: {
        const to = some(2);
        const from = pick(EVERYBODY);
        if (!to.some((id) => id !== from)) break;
        const known = [...to, from];
        await addMessage(worlds.ports, world, { from, text: `Meet me at ${secret(known)}`, visible_to: to });
        break;
      }
      case 3: {
        const to = some(1);
        const time = dice(2) === 0 ? null : "2026-01-01T09:00Z";
        const item = { title: `Ferry ${secret(to)}`, time, location: null, notes: null, visible_to: to };
        await addCalendarItem(worlds.ports, world, item);
        break;
      }
      case 4: {
        const chat = [{ name: "ana", is_user: false, mes: `boat ${secret(["GEORGE", "ANA"])}` }];
        const bytes = new TextEncoder().encode(
          `{"user_name":"x"}\n${chat.map((one) => JSON.stringify(one)).join("\n")}`,
        );
        await importFile(worlds.ports, world, bytes, {
          preview: false,
          lore: "world",
          enter: false,
          expand_names: true,
        });
        break;
      }
      default: {
        const people = present.filter((id) => id !== "GEORGE");
        const speaker = people.length === 0 ? null : pick(people);
        model.answers.length = 0;
        const isRoom = dice(2) === 0;
        if (dice(3) === 0)
          model.answers.push(
            '{"tool_request":{"tool":{"name":"LEDGER_SEARCH","query_text":"boat harbour zq","constraints":{"limit":20}}}}',
          );
        if (speaker !== null && isRoom) {
          const to = dice(2) === 0 ? [speaker] : [...present];
          model.answers.push(says(speaker, `I hide the boat ${secret(to)}. ${"la ".repeat(dice(300))}`, to));
        }
        const known = [...present, "GEORGE"];
        const declared =
          dice(5) === 0
            ? {
                declared_overrides: {
                  time: { declared_world_time: `2026-01-${String(step + 2).padStart(2, "0")}T00:00Z` },
                },
              }
            : {};
        const cursor = await sayInStory(worlds, world, envelope(`r${step}`, `The boat ${secret(known)}`, declared));
        if (cursor !== null) story.cursors.push(cursor);
        checkPrompts(model, story, seed, step, totals);
      }
    }
  }
  const rows = await worlds.ports.store.read(async (door) => {
    const row = await door.world.find(world);
    return door.world.scan(row!.number, 0, 1000);
  });
  story.entryIds.push(...rows.map(({ entry_id }) => entry_id));
  const cursor = story.cursors[0];
  if (cursor !== undefined && dice(4) === 0) {
    await forkWorld(worlds.ports, world, { cursor, viewer: null, world_id: `w_fork-${seed}`, title: null });
  }
  return story;
}

/** The cursor after a beat; a scene that does not fit the small window is a lawful refusal. */
async function sayInStory(worlds: TestWorlds, world: string, asked: never): Promise<string | null> {
  try {
    const { body } = await worlds.beats.invoke(world, asked);
    return (JSON.parse(body) as { stream: { cursor_after: string | null } }).stream.cursor_after;
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "REHYDRATION_FAILED") return null;
    throw thrown;
  }
}

/** What a writer was sent may hold only what its view may know. */
function checkPrompts(
  model: ListedModel,
  story: Story,
  seed: number,
  step: number,
  totals: { prompts: number; leaks: string[] },
): void {
  for (const { user } of model.prompts.splice(0)) {
    totals.prompts++;
    const { you_write, present, operator } = JSON.parse(user) as {
      you_write: { as: string };
      present: { id: string }[];
      operator: { text: string };
    };
    const view = you_write.as === "WORLD" ? present.map(({ id }) => id) : [you_write.as];
    for (const { word, known_to } of story.secrets) {
      // The operator's own words of this very beat are in the prompt: whoever is present hears them.
      const isNow = operator.text.includes(word);
      const may = view.length > 0 && view.every((id) => known_to.has(id));
      if (!isNow && !may && user.includes(word))
        totals.leaks.push(`seed ${seed} step ${step}: prompt of ${you_write.as} has ${word}`);
    }
  }
}

async function readAs(
  room: WorldRoom,
  viewer: string,
  story: Story,
  seed: number,
  totals: { outputs: number; leaks: string[] },
): Promise<void> {
  const hidden = story.secrets.filter(({ known_to }) => !known_to.has(viewer)).map(({ word }) => word);
  for (const operation of WORLD_OPERATIONS) {
    const drive = READS[operation.name];
    if (typeof drive !== "function") continue;
    for (const input of drive(viewer, story)) {
      const output = await answer(room, operation as unknown as Operation<WorldRoom>, { world: story.world, ...input });
      totals.outputs++;
      const asked = JSON.stringify(input);
      for (const word of hidden) {
        if (output.includes(word) && !asked.includes(word))
          totals.leaks.push(`seed ${seed}: ${operation.name} as ${viewer} has ${word}`);
        // Asking for a hidden word must give what asking for nonsense gives.
        if (asked.includes(`"${word}"`) && output.includes("entry_id"))
          totals.leaks.push(`seed ${seed}: search as ${viewer} finds ${word}`);
      }
    }
  }
}

async function answer(room: WorldRoom, operation: Operation<WorldRoom>, input: object): Promise<string> {
  try {
    const parsed = operation.input.parse(JSON.parse(JSON.stringify(input)));
    if (operation.lines === undefined) return JSON.stringify(await operation.run(room, parsed as never));
    if (operation.name !== "world.follow") {
      const lines: string[] = [];
      for await (const line of operation.lines(room, parsed as never)) lines.push(line);
      return lines.join("\n");
    }
    return await readSome(operation.lines(room, { ...(parsed as object), ticks: true } as never));
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return JSON.stringify({
      code: thrown.code,
      message: thrown.message,
      where: thrown.where,
      details: thrown.details as JsonValue,
    });
  }
}

/** Events up to the first quiet moment. */
async function readSome(lines: AsyncIterable<string>): Promise<string> {
  const seen: string[] = [];
  for await (const line of lines) {
    seen.push(line);
    if (line.includes('"tick"')) break;
  }
  return seen.join("\n");
}
