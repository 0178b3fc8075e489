import { expect, it } from "vitest";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds } from "../support/world.ts";

// Long scenes in small windows: whatever a writer is sent stays below the trigger, counted on what was really sent.

const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 3);

interface Pack {
  readonly text: string;
  readonly physical_continuity_replay: string;
}

it.each([
  { seed: 1, tools: { beat_bytes: 24_576 }, aside: 8192 },
  { seed: 5, tools: { beat_bytes: 0 }, aside: 0 },
  { seed: 3, tools: { beat_bytes: 3, max_calls: 0 }, aside: 1 },
])("keeps every frame below the trigger (story $seed)", async ({ seed, tools, aside }) => {
  let state = seed;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const words = (most: number) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => `word${Math.floor(random() * 99)}`).join(" ");
  const models = new ListedModel();
  await using worlds = await openWorlds({ models });
  const usable = 1500 + Math.floor(random() * 2500);
  const context = { window_tokens: usable + aside, output_reserve: 0, threshold_percent: 80, pack_percent: 40 };
  const id = await makeHarbour(worlds, { ...OLLAMA, tools, context });
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  let rehydrated = 0;
  for (let i = 0; i < 30; i++) {
    if (random() < 0.05) await startScene(worlds.ports, id, { text: words(20), present: ["GEORGE", "ANA"] });
    const author = { author_id: "ANA", author_class: "PERSON" };
    const entries = [{ author, channel: "PEOPLE", text: words(60) }];
    models.answers.splice(0, Number.POSITIVE_INFINITY, JSON.stringify({ proposed_write_bundle: { entries } }));
    await worlds.beats.invoke(id, envelope(`r${i}`, words(80)));
    const { system, user } = models.prompts.at(-1)!;
    expect((tokens(system) + tokens(user)) * 100, `beat ${i}`).toBeLessThan(80 * usable);
    const records = await worlds.ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 1000));
    const [pack] = (JSON.parse(records.at(-1)!.body) as { rehydration: Pack[] }).rehydration;
    if (pack === undefined) continue;
    rehydrated++;
    const sent = { scene: pack.text, continuity: pack.physical_continuity_replay, recent: [] };
    expect(JSON.parse(user)).toMatchObject(sent);
  }
  expect(models.prompts).toHaveLength(30);
  expect(rehydrated).toBeGreaterThan(3);
  expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
});
