import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import type { LedgerReader } from "../ports.ts";
import { NO_PREVIOUS, sealEntry } from "./entry.ts";
import { verifyLedger } from "./verify.ts";

it("an entry that no global index names is a gap of the global order", async () => {
  const time = "2025-01-02T03:04:05.000Z";
  const head = { stream: "context", position: 0, previous: NO_PREVIOUS, kind: "A", time, actor: "cli" };
  const entry = sealEntry(nodeCrypto, { ...head, body: 1 });
  const ledger = {
    size: async () => 1,
    readAll: async (from: number) => (from === 0 ? [{ index: 0, entry }] : []),
    // The stream has a second entry; the global order does not.
    streams: async () => [{ stream: "context", length: 2 }],
  } as unknown as LedgerReader;
  const { problems, root_hash } = await verifyLedger(ledger, nodeCrypto);
  expect(problems).toEqual([{ code: "LEDGER_GLOBAL_GAP", stream: "context", position: 1, expected: "2", actual: "1" }]);
  expect(root_hash).toBe(createHash("sha256").update("\0").update(entry.hash, "hex").digest("hex"));
});

it("a stream of which the global order has nothing at all is a gap", async () => {
  const ledger = {
    size: async () => 0,
    readAll: async () => [],
    streams: async () => [{ stream: "context", length: 1 }],
  } as unknown as LedgerReader;
  const { problems } = await verifyLedger(ledger, nodeCrypto);
  expect(problems).toEqual([{ code: "LEDGER_GLOBAL_GAP", stream: "context", position: 0, expected: "1", actual: "0" }]);
});

it("an index that nobody has is a gap, named by the entry that comes after it", async () => {
  const time = "2025-01-02T03:04:05.000Z";
  const head = { stream: "context", previous: NO_PREVIOUS, kind: "A", time, actor: "cli" };
  const first = sealEntry(nodeCrypto, { ...head, position: 0, body: 1 });
  const second = sealEntry(nodeCrypto, { ...head, position: 1, previous: first.hash, body: 2 });
  const ledger = {
    size: async () => 2,
    readAll: async (from: number) =>
      from === 0
        ? [
            { index: 0, entry: first },
            { index: 3, entry: second },
          ]
        : [],
    streams: async () => [{ stream: "context", length: 2 }],
  } as unknown as LedgerReader;
  const { problems } = await verifyLedger(ledger, nodeCrypto);
  expect(problems).toEqual([{ code: "LEDGER_GLOBAL_GAP", stream: "context", position: 1, expected: "1", actual: "3" }]);
});

it("an entry that was changed is the problem of its stream", async () => {
  const time = "2025-01-02T03:04:05.000Z";
  const head = { stream: "context", position: 0, previous: NO_PREVIOUS, kind: "A", time, actor: "cli" };
  const entry = { ...sealEntry(nodeCrypto, { ...head, body: 1 }), actor: "somebody else" };
  const ledger = {
    size: async () => 1,
    readAll: async () => [{ index: 0, entry }],
    streams: async () => [{ stream: "context", length: 1 }],
  } as unknown as LedgerReader;
  const { problems } = await verifyLedger(ledger, nodeCrypto);
  expect(problems).toMatchObject([{ code: "LEDGER_HASH_MISMATCH", stream: "context", position: 0 }]);
});
