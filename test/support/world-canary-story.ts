import { isVerbatimError } from "../../src/core/errors/index.ts";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { changeSettings, createWorld } from "../../src/rooms/world/history/worlds.ts";
import { importFile } from "../../src/rooms/world/import/imports.ts";
import { setLore } from "../../src/rooms/world/people/lore-writing.ts";
import { setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import { setPersona } from "../../src/rooms/world/people/persona.ts";
import { pin } from "../../src/rooms/world/people/pins.ts";
import { addCalendarItem, addMessage } from "../../src/rooms/world/people/pocket-writing.ts";
import { envelope, type ListedModel, says, type TestWorlds } from "./world.ts";

const PEOPLE = ["ANA", "ANA_B", "BEN", "CLEO"] as const;
export const EVERYBODY = ["GEORGE", ...PEOPLE] as const;

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
export interface Secret {
  readonly word: string;
  readonly known_to: ReadonlySet<string>;
}

/** A told story: what is hidden in it, and what a reader can name. */
export interface Story {
  readonly world: string;
  /** A fork of the world, in some stories. */
  fork: string | null;
  readonly secrets: Secret[];
  readonly entryIds: string[];
  /** Who may see each entry; everybody, where the map has none. */
  readonly audiences: Map<string, ReadonlySet<string>>;
  readonly cursors: string[];
  readonly requests: string[];
  present: string[];
  /** A line at the end that everybody hears. */
  last_line: string;
}

interface Found {
  prompts: number;
  readonly leaks: string[];
}

/** Tells a random story full of secrets. Each prompt and each answer to the operator is looked at on the way. */
export async function tellStory(
  worlds: TestWorlds,
  model: ListedModel,
  seed: number,
  totals: Found,
  begun: () => Promise<void>,
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
      cast: pick(["room", "each", "turns"] as const),
      turns: { kind: pick(["rotate", "addressed"] as const), most: 2, narrate: true },
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
  await begun();
  const story: Story = {
    world,
    fork: null,
    secrets: [],
    entryIds: [],
    audiences: new Map(),
    cursors: [],
    requests: [],
    present: ["GEORGE"],
    last_line: `The bell of story ${seed} rings for all.`,
  };
  let n = 0;
  const secret = (knownTo: readonly string[]): string => {
    const word = `zq${seed}x${n++}q`;
    story.secrets.push({ word, known_to: new Set(knownTo) });
    return word;
  };
  const steps = 6 + dice(8);
  for (let step = 0; step < steps; step++) {
    const { present } = story;
    switch (dice(13)) {
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
      case 5: {
        // Known to the narrator, or to one writer; sent by a word that every line of the story has.
        const audience = pick(["WORLD", ...PEOPLE] as const);
        const text = `The boat was built at ${secret([audience])}.`;
        const always = dice(2) === 0;
        await setLore(
          worlds.ports,
          world,
          [{ lore_id: `l${step}`, text, visible_to: audience, keys: ["boat"], always }],
          null,
        );
        break;
      }
      case 6: {
        const person = pick(PEOPLE);
        const notes = [{ note_id: "n", text: `Whisper of ${secret([person])}.`, visible_to: [person] }];
        const people = { [person]: { style: `Aye, ${secret([person, "WORLD"])}.` } };
        await changeSettings(worlds.ports, world, { notes, people }, null);
        break;
      }
      case 7:
        await setPersona(worlds.ports, world, { name: "George", about: `Once ${secret(["GEORGE", "WORLD"])}.` }, null);
        break;
      case 8: {
        const rows = await worlds.ports.store.read(async (tx) =>
          tx.world.range((await tx.world.find(world))!.number, { after: 0, before: 1e9, limit: 200, newest: false }),
        );
        const line = rows.length === 0 ? null : pick(rows);
        const found = line === null ? null : /zq\w+q/.exec(line.text);
        if (line === null || found === null) break;
        const who = EVERYBODY.find((id) => line.scope === "PUBLIC" || line.audience.includes(`"${id}"`));
        if (who !== undefined)
          await pin(worlds.ports, world, { entry_id: line.entry_id, quote: found[0], viewer: who }, null);
        break;
      }
      case 4:
        await importChat(worlds.ports, world, "ana", `boat ${secret(["GEORGE", "ANA"])}`);
        break;
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
        const text = `The boat ${secret(known)}`;
        await sayInStory(worlds, story, envelope(`r${step}`, text, declared), `seed ${seed} step ${step}`, totals);
        checkPrompts(model, story, seed, step, totals);
      }
    }
  }
  await startScene(worlds.ports, world, { text: story.last_line, present: [...EVERYBODY] });
  const rows = await worlds.ports.store.read(async (tx) => {
    const row = await tx.world.find(world);
    return tx.world.scan(row!.number, 0, 1000);
  });
  for (const { entry_id, scope, audience } of rows) {
    story.entryIds.push(entry_id);
    if (scope === "PRIVATE") story.audiences.set(entry_id, new Set(JSON.parse(audience) as string[]));
  }
  const cursor = story.cursors[0];
  if (cursor !== undefined && dice(4) === 0) {
    const asked = { cursor, viewer: null, world_id: `w_fork-${seed}`, title: null };
    story.fork = (await forkWorld(worlds.ports, world, asked)).world_id;
  }
  return story;
}

/** A chat of one line, which its speaker and the operator know. */
async function importChat(ports: TestWorlds["ports"], world: string, speaker: string, line: string): Promise<void> {
  const said = JSON.stringify({ name: speaker, is_user: false, mes: line });
  const bytes = new TextEncoder().encode(`{"user_name":"x"}\n${said}`);
  await importFile(ports, world, bytes, { preview: false, lore: "world", enter: false, expand_names: true });
}

/** Goes on where one of them is not: nothing of it may change what they see. */
export async function tellUnseen(
  worlds: TestWorlds,
  model: ListedModel,
  story: Story,
  unseenBy: string,
  seed: number,
): Promise<void> {
  const { ports } = worlds;
  const known = EVERYBODY.filter((id) => id !== unseenBy);
  const secret = (what: string): string => {
    const word = `zq${seed}unseen${what}q`;
    story.secrets.push({ word, known_to: new Set(known) });
    return word;
  };
  const [from, ...to] = known;
  await addMessage(ports, story.world, { from: from!, text: `Not a word: ${secret("message")}`, visible_to: to });
  const item = { title: `Tide ${secret("item")}`, time: "2027-01-01T09:00Z", location: null, notes: null };
  await addCalendarItem(ports, story.world, { ...item, visible_to: known });
  await startScene(ports, story.world, { text: `The boat ${secret("scene")}.`, present: known });
  if (unseenBy === "GEORGE") return;
  model.answers.length = 0;
  model.answers.push(says(known[1]!, `The harbour ${secret("answer")}.`));
  await worlds.beats.invoke(story.world, envelope("unseen", `The boat ${secret("line")}`));
  model.prompts.length = 0;
}

/** A beat of the operator, whose answer may hold only what the operator may know; a scene too long is refused. */
async function sayInStory(
  worlds: TestWorlds,
  story: Story,
  asked: { readonly request_id: string },
  label: string,
  totals: Found,
): Promise<void> {
  let answer = "";
  try {
    const { body } = await worlds.beats.invoke(story.world, asked as never);
    answer = body;
    story.requests.push(asked.request_id);
    const cursor = (JSON.parse(body) as { stream: { cursor_after: string | null } }).stream.cursor_after;
    if (cursor !== null) story.cursors.push(cursor);
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "REHYDRATION_FAILED") throw thrown;
    answer = `${thrown.stack} ${JSON.stringify(thrown.details)}`;
  }
  for (const { word, known_to } of story.secrets) {
    if (!known_to.has("GEORGE") && answer.includes(word))
      totals.leaks.push(`${label}: the answer of the beat has ${word}`);
  }
}

/** What a writer was sent may hold only what its view may know. */
function checkPrompts(model: ListedModel, story: Story, seed: number, step: number, totals: Found): void {
  for (const { user } of model.prompts.splice(0)) {
    totals.prompts++;
    const { you_write, present, said } = JSON.parse(user) as {
      you_write: { as: string };
      present: { id: string }[];
      said: { text: string };
    };
    const view = you_write.as === "WORLD" ? present.map(({ id }) => id) : [you_write.as];
    for (const { word, known_to } of story.secrets) {
      // The operator's own words of this very beat are in the prompt: whoever is present hears them.
      const isNow = said.text.includes(word);
      const may = known_to.has(you_write.as) || (view.length > 0 && view.every((id) => known_to.has(id)));
      if (!isNow && !may && user.includes(word))
        totals.leaks.push(`seed ${seed} step ${step}: prompt of ${you_write.as} has ${word}`);
    }
  }
}
