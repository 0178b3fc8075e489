// Derived notes: only on request, never authority, never part of anything else.
import { describe, expect, it } from "vitest";
import { deriveNote } from "../../src/rooms/world/knowledge/derive.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { readCapsule, search } from "../../src/rooms/world/projection/views.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const NOTE = '{"note":"Ana says that she keeps bees, and that she never did."}';

async function live(model: ListedModel): Promise<{ worlds: TestWorlds; id: string; room: never }> {
  const worlds = await openWorlds({ models: model });
  const id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  model.answers.unshift(says("ANA", "I keep bees."), says("ANA", "I never kept bees."));
  await worlds.beats.invoke(id, envelope("r1", "Bees?"));
  await worlds.beats.invoke(id, envelope("r2", "Really?"));
  const room = { ...worlds.ports, writable: async () => worlds.ports.store };
  return { worlds, id, room: room as never };
}

describe("a derived note", () => {
  it("is marked, names its sources, and changes neither ledger nor search nor the next prompt", async () => {
    const model = new ListedModel();
    const { worlds, id, room } = await live(model);
    await using _ = worlds;
    const head = await worlds.ports.store.read((tx) => tx.ledger.head(`world/${id}`));
    model.answers.push(NOTE);
    const pack = await deriveNote(room, id, "ANA", null);
    const [source, derived] = pack.sections;
    expect(source!.text).toBe("I keep bees.\nI never kept bees.");
    expect(derived).toEqual({
      name: "OPTIONAL_DERIVED",
      text: "Non-authoritative note: Ana says that she keeps bees, and that she never did.",
      provenance: source!.provenance,
    });
    expect((await readCapsule(worlds.ports, id, "ANA", null)).sections).toHaveLength(1);
    expect(await worlds.ports.store.read((tx) => tx.ledger.head(`world/${id}`))).toEqual(head);
    const query = { query_text: "authoritative", limit: 5, person_id: null, from: null, to: null };
    expect((await search(worlds.ports, id, null, query)).results).toEqual([]);
    await worlds.beats.invoke(id, envelope("r3", "And now?"));
    expect(model.prompts.at(-1)!.user).not.toContain("authoritative");
    const calls = await worlds.ports.store.read((tx) => tx.world.calls(1, `derived:${pack.capsule_id}`, 10));
    expect(calls.map(({ body }) => JSON.parse(body) as object)).toMatchObject([{ purpose: "DERIVED", raw: NOTE }]);
  });

  it.each([
    ["talks about the machinery", '{"note":"The context window holds two lines."}', "PACK_META_WORD"],
    ["gives orders", '{"note":"Keep it interesting."}', "PACK_DIRECTIVE"],
    ["is a meter", '{"note":"Ana\\nTrust: 80%"}', "PACK_STATE_VARIABLE"],
    ["comes in prose", "Here you are: nothing.", "JSON_SYNTAX"],
    ["brings more than a note", '{"note":"x","mood":"y"}', "WRITER_OUTPUT_KEYS"],
    ["is too long", JSON.stringify({ note: "x".repeat(5000) }), "WRITER_OUTPUT_TOO_LARGE"],
  ])("is refused when it %s", async (_, answer, code) => {
    const model = new ListedModel();
    const { worlds, id, room } = await live(model);
    await using _worlds = worlds;
    model.answers.push(answer);
    await expect(deriveNote(room, id, "ANA", null)).rejects.toMatchObject({ code });
  });

  it("is not made from nothing, and not without a model", async () => {
    const { worlds, id, room } = await live(new ListedModel());
    await using _ = worlds;
    await expect(deriveNote(room, id, "BEN", null)).rejects.toMatchObject({ code: "PROVENANCE_EMPTY" });
    await makeHarbour(worlds, {}, "w_scripted");
    await setPresence(worlds.ports, "w_scripted", ["GEORGE", "ANA"]);
    await worlds.beats.invoke("w_scripted", envelope("r1", "Hello."));
    await expect(deriveNote(room, "w_scripted", "ANA", null)).rejects.toMatchObject({ code: "WRITER_UNAVAILABLE" });
  });
});
