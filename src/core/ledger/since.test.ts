import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { formatCanonical, type JsonValue } from "../canonical/index.ts";
import type { EntryRecord, LedgerReader } from "../ports.ts";
import { NO_PREVIOUS, sealEntry } from "./entry.ts";
import { MerkleFrontier } from "./merkle.ts";
import { readFrontier, verifySince } from "./since.ts";

const ID = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";

/** A ledger in memory; `read` counts what was asked for. */
function makeLedger() {
  const entries: EntryRecord[] = [];
  const read = { hashes: 0, entries: 0 };
  const add = (stream: string, kind: string, body: JsonValue) => {
    const own = entries.filter((one) => one.stream === stream);
    const previous = own.at(-1)?.hash ?? NO_PREVIOUS;
    const head = { stream, position: own.length, previous, kind, time: "2026-01-02T03:04:05.000Z", actor: "cli" };
    const { hash, body_hash } = sealEntry(nodeCrypto, { ...head, body });
    entries.push({ ...head, body: formatCanonical(body), body_hash, hash });
  };
  const ledger = {
    size: async () => entries.length,
    readAll: async (from: number, limit: number) => {
      const page = entries.slice(from, from + limit).map((entry, n) => ({ index: from + n, entry }));
      read.entries += page.length;
      return page;
    },
    readHashes: async (from: number, limit: number) => {
      const page = entries.slice(from, from + limit).map(({ hash }) => hash);
      read.hashes += page.length;
      return page;
    },
    readStream: async (stream: string, from: number, limit: number) =>
      entries.filter((one) => one.stream === stream).slice(from, from + limit),
    browse: async () => {
      const index = entries.findLastIndex(({ kind }) => kind === "CHECKPOINT");
      return index === -1 ? [] : [{ index, entry: entries[index]! }];
    },
  } as unknown as LedgerReader;
  const sign = async (change: (frontier: string[]) => string[] | undefined = (same) => same) => {
    const edge = await readFrontier(nodeCrypto, ledger, entries.length);
    const frontier = change([...edge.roots]);
    const said = { ledger_id: ID, root_hash: await edge.root(), tree_size: entries.length, key_id: "0".repeat(64) };
    add("trust", "CHECKPOINT", { ...said, ...(frontier === undefined ? {} : { frontier }) });
    read.hashes = 0;
  };
  return { ledger, entries, read, add, sign };
}

describe("verifying since the last checkpoint", () => {
  it("looks at what came after it and at nothing else, and gives the root of all", async () => {
    for (const before of [1, 2, 5, 8, 13]) {
      const { ledger, entries, read, add, sign } = makeLedger();
      for (let n = 0; n < before; n++) add(n % 2 === 0 ? "context" : "job/x", "A", n);
      await sign();
      for (let n = 0; n < 4; n++) add("context", "B", n);
      const verdict = await verifySince(ledger, nodeCrypto);
      expect(verdict).toMatchObject({ entries: 5, streams: 2, problems: [], since: { tree_size: before } });
      expect([read.hashes, read.entries]).toEqual([0, 5]);
      const whole = new MerkleFrontier(nodeCrypto);
      await whole.appendEntries(entries.map(({ hash }) => hash));
      expect(verdict.root_hash).toBe(await whole.root());
    }
  });

  it("finds an entry that was changed or taken out after it", async () => {
    const { ledger, entries, add, sign } = makeLedger();
    add("context", "A", 1);
    await sign();
    for (let n = 0; n < 3; n++) add("context", "B", n);
    const was = entries[3]!;
    entries[3] = { ...was, actor: "somebody else" };
    expect((await verifySince(ledger, nodeCrypto)).problems).toMatchObject([{ stream: "context", position: 2 }]);
    entries[3] = was;
    entries.splice(2, 1);
    expect((await verifySince(ledger, nodeCrypto)).problems).toMatchObject([{ stream: "context" }]);
  });

  it("does not go on from an edge that is not the one of its root", async () => {
    const other = makeLedger();
    for (const n of [1, 2, 3]) other.add("context", "A", n);
    await other.sign((edge) => [...edge].reverse());
    const [problem] = (await verifySince(other.ledger, nodeCrypto)).problems;
    expect(problem).toMatchObject({ code: "LEDGER_CHECKPOINT_MISMATCH", stream: "trust", position: 0 });
  });

  it("walks over the hashes where the checkpoint has no edge, or one of another size", async () => {
    for (const change of [() => undefined, (edge: string[]) => edge.slice(1)]) {
      const { ledger, read, add, sign } = makeLedger();
      for (const n of [1, 2, 3]) add("context", "A", n);
      await sign(change);
      expect((await verifySince(ledger, nodeCrypto)).problems).toEqual([]);
      expect(read.hashes).toBe(3);
    }
  });

  it("needs one: CHECKPOINT_NONE", async () => {
    const { ledger, add } = makeLedger();
    add("context", "A", 1);
    await expect(verifySince(ledger, nodeCrypto)).rejects.toMatchObject({ code: "CHECKPOINT_NONE" });
  });
});
