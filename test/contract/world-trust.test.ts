// What a file or a checkpoint from elsewhere may claim, and what is believed of it.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/canonical/index.ts";
import { computeRoot, sealEntry } from "../../src/core/ledger/index.ts";
import type { EntryRecord } from "../../src/core/ports.ts";
import { checkWorldFile } from "../../src/rooms/world/history/exported-file.ts";
import { exportWorld, importWorld } from "../../src/rooms/world/history/history.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { formatWorldFile, readWorldFile, type WorldFile } from "../../src/rooms/world/history/world-file.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

async function live(): Promise<{ worlds: TestWorlds; id: string }> {
  const worlds = await openWorlds({ models: new ListedModel(says("ANA", "Good morning.")) });
  const id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  await worlds.beats.invoke(id, envelope("r1", "Hello."));
  return { worlds, id };
}

type Change = (body: Record<string, never>, index: number) => void;

/** The file again, with changed records that are sealed anew and a manifest that fits: only the rules can find it. */
function forge(worlds: TestWorlds, file: WorldFile, change: Change): string {
  const { crypto } = worlds.ports;
  let previous = "0".repeat(64);
  const records = file.records.map((record, i): EntryRecord => {
    const body = JSON.parse(record.body) as Record<string, never>;
    change(body, i);
    const { stream, position, kind, time, actor } = record;
    const sealed = sealEntry(crypto, { stream, position, previous, kind, time, actor, body });
    previous = sealed.hash;
    return sealed;
  });
  return toText(worlds, { ...file, records });
}

function toText(worlds: TestWorlds, { header, ...file }: WorldFile): string {
  const { type: _, ...rest } = header;
  return `${formatWorldFile(worlds.ports.crypto, { ...file, header: rest as JsonObject }).join("\n")}\n`;
}

const entriesOf = (body: Record<string, unknown>): Record<string, unknown>[] =>
  (body["write_bundle"] as { readonly entries: Record<string, unknown>[] } | null | undefined)?.entries ?? [];

const FORGERIES: readonly (readonly [name: string, change: Change])[] = [
  [
    "a line without an audience",
    (body) => entriesOf(body).forEach((one) => void (one["visibility"] = { scope: "PRIVATE" })),
  ],
  [
    "a line of nobody",
    (body) => entriesOf(body).forEach((one) => void (one["author"] = { author_id: "ZOE", author_class: "PERSON" })),
  ],
  [
    "an id of its own making",
    (body) => entriesOf(body).forEach((one) => void (one["entry_id"] = "e_aaaaaaaaaaaaaaaa")),
  ],
  ["a time that is none", (body) => entriesOf(body).forEach((one) => void (one["created_at_world"] = "yesterday"))],
  ["presence that is no list", (body) => void ("present" in body && (body["present"] = "ANA" as never))],
  ["settings of another make", (body, i) => void (i === 0 && (body["settings"] = { title: "x" } as never))],
];

describe("an exported world", () => {
  it.each(FORGERIES)("is not believed when it holds %s, however well it is sealed", async (_, change) => {
    const { worlds, id } = await live();
    await using _worlds = worlds;
    const file = readWorldFile(`${(await exportWorld(worlds.ports, id)).join("\n")}\n`);
    expect(
      checkWorldFile(
        worlds.ports,
        forge(worlds, file, () => undefined),
      ).findings,
    ).toEqual([]);
    const text = forge(worlds, file, change);
    expect(checkWorldFile(worlds.ports, text).findings).toMatchObject([{ code: "WORLD_FILE_MALFORMED" }]);
    await using other = await openWorlds();
    await expect(importWorld(other.ports, text, null)).rejects.toMatchObject({ code: "IMPORT_VERIFY_FAILED" });
    expect(await other.ports.store.read((tx) => tx.ledger.size())).toBe(0);
  });

  it("is not believed when an answer is not the one its record vouches for, or when one is missing", async () => {
    const { worlds, id } = await live();
    await using _ = worlds;
    const file = readWorldFile(`${(await exportWorld(worlds.ports, id)).join("\n")}\n`);
    const changed = file.outcomes.map((one) => ({ ...one, outcome: one.outcome.replace("Good morning.", "Go away.") }));
    for (const outcomes of [changed, []]) {
      const { findings } = checkWorldFile(worlds.ports, toText(worlds, { ...file, outcomes }));
      expect(findings).toMatchObject([{ code: "WORLD_OUTCOME_MISMATCH" }]);
    }
  });

  it("can be looked at without being brought in", async () => {
    const { worlds, id } = await live();
    await using _ = worlds;
    const text = `${(await exportWorld(worlds.ports, id)).join("\n")}\n`;
    await using other = await openWorlds();
    expect(await importWorld(other.ports, text, null, true)).toMatchObject({ preview: true, entries: 2 });
    expect(await other.ports.store.read((tx) => tx.ledger.size())).toBe(0);
    expect(await other.ports.content.list()[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
  });
});

describe("a checkpoint", () => {
  it("is compared with the ledger: the newest recorded one, or one from outside", async () => {
    const { worlds, id } = await live();
    await using _ = worlds;
    const { crypto, store } = worlds.ports;
    expect((await verifyWorld(worlds.ports, id)).checkpoint).toBeNull();
    const now = await store.read(async ({ ledger }) => {
      const tree_size = await ledger.size();
      const root_hash = await computeRoot(crypto, (from, limit) => ledger.readHashes(from, limit), tree_size);
      return { ledger_id: await ledger.ledgerId(), root_hash, tree_size };
    });
    await store.transact(async ({ ledger }) => {
      await ledger.append("trust", "next", [
        { kind: "CHECKPOINT", actor: "library", body: { ...now, key_id: "a".repeat(64) } },
      ]);
      await ledger.append("trust", "next", [{ kind: "OTHER", actor: "library", body: {} }]);
    });
    const good = await verifyWorld(worlds.ports, id);
    expect(good).toMatchObject({ ok: true, checkpoint: { tree_size: now.tree_size, source: "ledger" } });
    const ahead = await verifyWorld(worlds.ports, id, { ...now, tree_size: now.tree_size + 100 });
    expect(ahead).toMatchObject({ ok: false, findings: [{ code: "WORLD_CHECKPOINT_AHEAD" }] });
    const other = await verifyWorld(worlds.ports, id, { ...now, root_hash: "a".repeat(64) });
    expect(other).toMatchObject({ ok: false, findings: [{ code: "WORLD_CHECKPOINT_DIVERGED" }] });
  });
});
