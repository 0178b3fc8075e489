import { expect, it } from "vitest";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

// What a writer is told when it asks the ledger, as it stands in the message of its next call.

interface Evidence {
  readonly results: readonly { readonly verbatim_excerpt: string }[];
  readonly notes: string | null;
}

const at = (time: string) => ({ declared_overrides: { time: { declared_world_time: time } } });

/** Seven lines in the room, and one that only Ben was there for. */
async function live(worlds: TestWorlds): Promise<{ id: string; ids: string[]; hidden: string }> {
  const id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["BEN", "GEORGE"]);
  await worlds.beats.invoke(id, envelope("b1", "Only Ben hears this."));
  await setPresence(worlds.ports, id, ["ANA", "GEORGE"]);
  await worlds.beats.invoke(id, envelope("a1", "One.", at("2026-01-01T08:00Z")));
  await worlds.beats.invoke(id, envelope("a2", "Two.", at("2026-01-01T09:00Z")));
  await worlds.beats.invoke(id, envelope("a3", "Three.", at("2026-01-01T10:00Z")));
  const { entries } = await readPage(worlds.ports, id, { viewer: null, after: null, before: null, limit: 50 });
  const [hidden, ...ids] = entries.map(({ entry_id }) => entry_id);
  return { id, ids, hidden: hidden! };
}

const NOTHING = '{"no_write":{}}';
const TEA = says("ANA", "Tea?");

async function ask(tool: (lived: Awaited<ReturnType<typeof live>>) => object): Promise<Evidence> {
  const models = new ListedModel(NOTHING, TEA, TEA, TEA);
  await using worlds = await openWorlds({ models });
  const lived = await live(worlds);
  models.answers.push(JSON.stringify({ tool_request: { tool: tool(lived) } }), NOTHING);
  await worlds.beats.invoke(lived.id, envelope("asks", ""));
  return (JSON.parse(models.prompts.at(-1)!.user) as { evidence: Evidence[] }).evidence[0]!;
}

const texts = ({ results }: Evidence) => results.map(({ verbatim_excerpt }) => verbatim_excerpt);
const get = (ids: readonly string[], constraints: object = {}) => ({
  name: "LEDGER_GET",
  query_text: ids.join(" "),
  constraints,
});

it("named entries come in the order they were named, all of them, without what is hidden or unknown", async () => {
  const found = await ask(({ ids, hidden }) => get([...ids.toReversed(), hidden, "e_nothing"]));
  expect(texts(found)).toEqual(["Tea?", "Three.", "Tea?", "Two.", "Tea?", "One."]);
  expect(found.notes).toBeNull();
});

it("named entries are no more than the writer wants, by whom and from when it wants", async () => {
  expect(texts(await ask(({ ids }) => get(ids, { limit: 2 })))).toEqual(["One.", "Tea?"]);
  expect(texts(await ask(({ ids }) => get(ids, { person_id: "GEORGE" })))).toEqual(["One.", "Two.", "Three."]);
  const window = { from: "2026-01-01T09:00:00+00:00", to: "2026-01-01T09:30:00+00:00" };
  expect(texts(await ask(({ ids }) => get(ids, { time_window: window })))).toEqual(["Two.", "Tea?"]);
});

it("a search without a limit gives five lines", async () => {
  const search = { name: "LEDGER_SEARCH", query_text: "one two three tea" };
  expect(texts(await ask(() => search))).toEqual(["Tea?", "Three.", "Tea?", "Two.", "Tea?"]);
});
