import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import type { JsonValue } from "../canonical/index.ts";
import type { EntryRecord } from "../ports.ts";
import { StreamVerifier } from "./chain.ts";
import { NO_PREVIOUS, sealEntry } from "./entry.ts";
import { isErasure } from "./erasure.ts";

const STREAM = "world/w1";

/** A stream of three entries and one that says that what stood before it was erased. */
function makeStream(kind = "WORLD_DELETED", body: JsonValue = { erased_below: 3 }): EntryRecord[] {
  const entries: EntryRecord[] = [];
  for (const [position, one] of [{ n: 0 }, { n: 1 }, { n: 2 }, body].entries()) {
    const previous = entries.at(-1)?.hash ?? NO_PREVIOUS;
    const rest = { kind: position === 3 ? kind : "LINE", time: "2026-01-02T03:04:05.000Z", actor: "cli", body: one };
    entries.push(sealEntry(nodeCrypto, { stream: STREAM, position, previous, ...rest }));
  }
  return entries;
}

const change = (entries: readonly EntryRecord[], position: number, parts: Partial<EntryRecord>) =>
  entries.map((entry) => (entry.position === position ? { ...entry, ...parts } : entry));
const erase = (entries: readonly EntryRecord[], ...positions: readonly number[]) =>
  positions.reduce<readonly EntryRecord[]>((all, position) => change(all, position, { body: "null" }), entries);
const check = (entries: readonly EntryRecord[]) => new StreamVerifier(nodeCrypto, STREAM).acceptRecords(entries);
const mismatchAt = (position: number) => expect.objectContaining({ code: "LEDGER_BODY_MISMATCH", position });

describe("bodies that were erased", () => {
  it("are no problem where a later entry vouches for it", () => {
    expect(check(makeStream())).toBeNull();
    expect(check(erase(makeStream(), 1))).toBeNull();
    expect(check(erase(makeStream(), 0, 1, 2))).toBeNull();
  });

  it("are one until such an entry comes, and the first of them is named", () => {
    expect(check(erase(makeStream(), 1, 2).slice(0, 3))).toEqual(mismatchAt(1));
    const verifier = new StreamVerifier(nodeCrypto, STREAM);
    const [entries, last] = [erase(makeStream(), 0), makeStream()[3]!];
    expect(verifier.acceptRecords(entries.slice(0, 3))).toEqual(mismatchAt(0));
    expect(verifier.acceptRecords([last])).toBeNull();
  });

  it("are one where the entry is of another kind or speaks of another place", () => {
    for (const stream of [
      makeStream("WORLD_RENAMED"),
      makeStream("WORLD_DELETED", { erased_below: 2 }),
      makeStream("WORLD_DELETED", { erased_below: "3" }),
      makeStream("WORLD_DELETED", {}),
      makeStream("WORLD_DELETED", []),
      makeStream("WORLD_DELETED", null),
    ]) {
      expect(check(erase(stream, 1))).toEqual(mismatchAt(1));
    }
  });

  it("are not bodies that were changed, nor bodies whose hash is none", () => {
    expect(check(change(makeStream(), 1, { body: '{"n":7}' }))).toEqual(mismatchAt(1));
    expect(check(change(erase(makeStream(), 1), 1, { body_hash: "x" }))).toEqual(mismatchAt(1));
    expect(check(change(erase(makeStream(), 1), 1, { body_hash: 7 as never }))).toEqual(mismatchAt(1));
  });

  it("keep their hash, so that another one breaks the chain", () => {
    expect(check(change(erase(makeStream(), 1), 1, { body_hash: "0".repeat(64) }))).toMatchObject({ position: 1 });
  });
});

it("an entry without a body erases nothing", () => {
  expect(isErasure({ kind: "WORLD_DELETED", position: 0, body: null })).toBe(false);
  expect(isErasure({ kind: "WORLD_DELETED", position: 0, body: '{"erased_below":0}' })).toBe(true);
});
