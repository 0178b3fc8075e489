import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { webCrypto } from "../../adapters/crypto/web-crypto.ts";
import { Float, type JsonObject, type JsonValue, parseJson } from "../canonical/index.ts";
import type { EntryRecord } from "../ports.ts";
import { formatEntry, NO_PREVIOUS, StreamVerifier, sealEntry } from "./index.ts";

const STREAM = "job/job_0123456789abcdef";

function makeChain(length: number, stream = STREAM): EntryRecord[] {
  const entries: EntryRecord[] = [];
  for (let position = 0; position < length; position++) {
    const previous = entries.at(-1)?.hash ?? NO_PREVIOUS;
    const rest = { kind: "RECEIPT", time: "2025-01-02T03:04:05.000Z", actor: "worker-1", body: { n: position } };
    entries.push(sealEntry(nodeCrypto, { stream, position, previous, ...rest }));
  }
  return entries;
}

const CHAIN = makeChain(5);
const exported = (entries: readonly EntryRecord[]) => entries.map((entry) => parseJson(formatEntry(entry)));
const withChange = (index: number, change: object) =>
  CHAIN.map((entry, i) => (i === index ? { ...entry, ...change } : entry));
const check = (entries: readonly EntryRecord[]) => new StreamVerifier(nodeCrypto, STREAM).acceptRecords(entries);
const checkExported = (entries: readonly JsonValue[]) => new StreamVerifier(nodeCrypto, STREAM).acceptExported(entries);

describe("verifying a stream", () => {
  it("finds nothing wrong with a good one, as records and as it is written out", () => {
    expect(check(CHAIN)).toBeNull();
    expect(checkExported(exported(CHAIN))).toBeNull();
    expect(check([])).toBeNull();
  });

  it("answers without a microtask when the crypto answers at once", () => {
    let later = false;
    queueMicrotask(() => {
      later = true;
    });
    expect(check(makeChain(300))).toBeNull();
    expect(later).toBe(false);
  });

  it("finds the same with a crypto that answers later", async () => {
    const good = new StreamVerifier(webCrypto, STREAM);
    expect(await good.acceptRecords(CHAIN.slice(0, 2))).toBeNull();
    expect(await good.acceptExported(exported(CHAIN.slice(2)))).toBeNull();
    expect(good.head).toEqual({ position: 4, hash: CHAIN[4]!.hash });
    const bad = new StreamVerifier(webCrypto, STREAM);
    expect(await bad.acceptRecords(withChange(3, { actor: "someone" }))).toEqual(
      check(withChange(3, { actor: "someone" })),
    );
  });

  it.each([
    ["LEDGER_STREAM_MISMATCH", { stream: "job/other" }, STREAM, "job/other"],
    ["LEDGER_POSITION_GAP", { position: 7 }, "2", "7"],
    ["LEDGER_CHAIN_BROKEN", { previous: NO_PREVIOUS }, CHAIN[1]!.hash, NO_PREVIOUS],
    ["LEDGER_BODY_MISMATCH", { body_hash: NO_PREVIOUS }, CHAIN[2]!.body_hash, NO_PREVIOUS],
    ["LEDGER_HASH_MISMATCH", { hash: NO_PREVIOUS }, CHAIN[2]!.hash, NO_PREVIOUS],
  ])("finds %s with what was expected and what is there", (code, change, expected, actual) => {
    expect(check(withChange(2, change))).toEqual({ code, stream: STREAM, position: 2, expected, actual });
    expect(checkExported(exported(withChange(2, change)))).toMatchObject({ code, position: 2, expected, actual });
  });

  it("checks stream, position, previous, body and hash in this order", () => {
    const steps = [
      ["LEDGER_STREAM_MISMATCH", { stream: "x" }],
      ["LEDGER_POSITION_GAP", { position: 9 }],
      ["LEDGER_CHAIN_BROKEN", { previous: NO_PREVIOUS }],
      ["LEDGER_BODY_MISMATCH", { body: "[]" }],
      ["LEDGER_HASH_MISMATCH", { hash: NO_PREVIOUS }],
    ] as const;
    for (let i = 0; i < steps.length; i++) {
      const changes = Object.assign({}, ...steps.slice(i).map(([, change]) => change)) as object;
      expect(check(withChange(2, changes))).toMatchObject({ code: steps[i]![0], position: 2 });
    }
  });

  it("finds every change of every field of every entry", () => {
    fc.assert(
      fc.property(fc.nat(4), fc.constantFrom(...(Object.keys(CHAIN[0]!) as (keyof EntryRecord)[])), (index, field) => {
        const value = CHAIN[index]![field];
        const changed =
          typeof value === "number" ? value + 1 : `${value.slice(0, -1)}${value.endsWith("1") ? "2" : "1"}`;
        expect(check(withChange(index, { [field]: changed }))).toMatchObject({ position: index });
      }),
    );
  });

  it("finds a removed, a repeated and a swapped entry", () => {
    const [a, b, c] = CHAIN as [EntryRecord, EntryRecord, EntryRecord];
    expect(check([a, c])).toMatchObject({ code: "LEDGER_POSITION_GAP", position: 1 });
    expect(check([a, a])).toMatchObject({ code: "LEDGER_POSITION_GAP", position: 1 });
    expect(check([b, a])).toMatchObject({ code: "LEDGER_POSITION_GAP", position: 0 });
    expect(check([{ ...c, position: 0 }])).toMatchObject({ code: "LEDGER_CHAIN_BROKEN", position: 0 });
  });

  it("cannot see a missing tail", () => {
    expect(check(CHAIN.slice(0, 3))).toBeNull();
  });

  it("stays at its first problem", () => {
    const verifier = new StreamVerifier(nodeCrypto, STREAM);
    const first = verifier.acceptRecords(withChange(1, { actor: "someone" }));
    expect(first).toMatchObject({ position: 1 });
    expect(verifier.acceptRecords(CHAIN.slice(1))).toBe(first);
    expect(verifier.problem).toBe(first);
    expect(verifier.head).toEqual({ position: 0, hash: CHAIN[0]!.hash });
  });

  it("takes entries in pages and can go on behind a verified one", () => {
    const verifier = new StreamVerifier(nodeCrypto, STREAM);
    for (const entry of CHAIN.slice(0, 3)) expect(verifier.acceptRecords([entry])).toBeNull();
    const next = new StreamVerifier(nodeCrypto, STREAM, verifier.head!);
    expect(next.acceptRecords(CHAIN.slice(3))).toBeNull();
    expect(next.head).toEqual({ position: 4, hash: CHAIN[4]!.hash });
    expect(new StreamVerifier(nodeCrypto, STREAM).head).toBeNull();
  });
});

describe("foreign entries", () => {
  const foreign = (change: object) =>
    exported(CHAIN).map((entry, i) => (i === 1 ? { ...(entry as JsonObject), ...change } : entry));

  it.each([
    ["LEDGER_POSITION_GAP", "a float as position", { position: new Float(1) }],
    ["LEDGER_POSITION_GAP", "a text as position", { position: "1" }],
    ["LEDGER_POSITION_GAP", "a BigInt as position", { position: 1n }],
    ["LEDGER_CHAIN_BROKEN", "no previous", { previous: null }],
    ["LEDGER_BODY_MISMATCH", "a body of half a character", { body: "\ud800" }],
    ["LEDGER_BODY_MISMATCH", "another number of the same value", { body: { n: new Float(1) } }],
    ["LEDGER_HASH_MISMATCH", "a list that reads like the kind", { kind: ["RECEIPT"] }],
    ["LEDGER_HASH_MISMATCH", "an upper-case hash", { hash: CHAIN[1]!.hash.toUpperCase() }],
    ["LEDGER_HASH_MISMATCH", "a member that no hash covers", { note: "trust me" }],
  ])("are %s with %s", (code, _what, change) => {
    expect(checkExported(foreign(change))).toMatchObject({ code, position: 1 });
  });

  it("are LEDGER_HASH_MISMATCH with a text that only hashes like the real one", () => {
    // Half a surrogate pair becomes U+FFFD on its way into the hash.
    const head = { stream: STREAM, position: 0, previous: NO_PREVIOUS, kind: "A", time: "2025-01-02T03:04:05.000Z" };
    const entry = parseJson(formatEntry(sealEntry(nodeCrypto, { ...head, actor: "\ufffd", body: 1 }))) as JsonObject;
    expect(checkExported([entry])).toBeNull();
    expect(checkExported([{ ...entry, actor: "\ud800" }])).toMatchObject({ code: "LEDGER_HASH_MISMATCH" });
  });

  it("of any shape are problems, never throws", () => {
    const values = fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true, withMap: true });
    fc.assert(
      fc.property(values, (value) => {
        expect(checkExported([value as JsonValue])).toMatchObject({ position: 0 });
      }),
    );
    const fields = fc.record(Object.fromEntries(Object.keys(CHAIN[0]!).map((key) => [key, values])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(fields, (change) => {
        const verdict = checkExported([{ ...(exported(CHAIN)[0] as JsonObject), ...change } as JsonValue]);
        expect(verdict === null || verdict.position === 0).toBe(true);
      }),
    );
  });
});
