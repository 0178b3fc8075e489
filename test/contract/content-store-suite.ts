import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { removeUnnamed } from "../../src/adapters/sql/garbage.ts";
import type { ContentStore } from "../../src/core/ports.ts";
import type { HandClock } from "../support/fixed-ports.ts";
import type { TestStore } from "../support/stores.ts";
import { expectCode } from "./store-suite.ts";

/** A fresh content store, a ledger beside it, and a way to damage payloads behind its back. */
export interface ContentHarness {
  readonly content: ContentStore;
  readonly store: TestStore;
  readonly clock: HandClock;
  /** Puts other bytes in the place of a payload. */
  damage(hash: string, bytes: Uint8Array): Promise<void>;
  /** Takes a payload away. */
  lose(hash: string): Promise<void>;
  destroy(): Promise<void>;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** What every content store must do, wherever it keeps its payloads. */
export function describeContentStore(create: () => Promise<ContentHarness>): void {
  let harness: ContentHarness;
  let content: ContentStore;

  beforeEach(async () => {
    harness = await create();
    content = harness.content;
  });

  afterEach(async () => {
    await harness.destroy();
  });

  const listed = async () => {
    const hashes: string[] = [];
    for await (const hash of content.list()) hashes.push(hash);
    return hashes;
  };

  it.each([
    ["nothing", new Uint8Array()],
    ["text", bytesOf("The ferry leaves at six.\n")],
    ["every byte", Uint8Array.from({ length: 256 }, (_, i) => i)],
    ["a megabyte", new Uint8Array(1 << 20).fill(7)],
  ])("gives back %s as it was, by its SHA-256", async (_, bytes) => {
    const hash = await content.put(bytes);
    expect(hash).toBe(hashOf(bytes));
    expect(await content.has(hash)).toBe(true);
    const kept = await content.get(hash);
    expect(kept).toBeInstanceOf(Uint8Array);
    expect(hashOf(kept)).toBe(hash);
    expect(kept.length).toBe(bytes.length);
  });

  it.each([
    ["nothing", []],
    ["one part", [bytesOf("one part\n")]],
    ["many parts", Array.from({ length: 9 }, (_, i) => new Uint8Array(300_000).fill(i))],
  ])("takes %s as they come, by the SHA-256 of the whole", async (_, parts) => {
    const whole = Buffer.concat(parts);
    expect(await content.putStream(parts)).toBe(hashOf(whole));
    expect(hashOf(await content.get(hashOf(whole)))).toBe(hashOf(whole));
    expect(await content.putStream(parts.values())).toBe(hashOf(whole));
    expect(await listed()).toEqual([hashOf(whole)]);
    await harness.damage(hashOf(whole), bytesOf("other"));
    await content.putStream(parts);
    expect(hashOf(await content.get(hashOf(whole)))).toBe(hashOf(whole));
  });

  it("keeps nothing of parts that break off", async () => {
    const broken = function* () {
      yield new Uint8Array(10);
      yield new Uint8Array(10);
      throw new Error("the file is gone");
    };
    await expect(content.putStream(broken())).rejects.toThrow("the file is gone");
    expect(await listed()).toEqual([]);
  });

  it("keeps a payload once however often it is stored, also at the same time", async () => {
    const bytes = bytesOf("press send ten times");
    const hashes = await Promise.all(Array.from({ length: 10 }, () => content.put(bytes)));
    expect(new Set(hashes)).toEqual(new Set([hashOf(bytes)]));
    expect(await listed()).toEqual([hashOf(bytes)]);
  });

  it("lists everything by code point", async () => {
    const hashes = await Promise.all(Array.from({ length: 30 }, (_, i) => content.put(bytesOf(`page ${i}`))));
    expect(await listed()).toEqual(hashes.toSorted());
  });

  it("says CONTENT_STORE_CORRUPT with the hash for a payload that is missing", async () => {
    const hash = await content.put(bytesOf("lost"));
    await harness.lose(hash);
    await expect(content.get(hash)).rejects.toMatchObject({ code: "CONTENT_STORE_CORRUPT", details: { hash } });
    expect(await content.has(hash)).toBe(false);
  });

  it("says CONTENT_STORE_CORRUPT with the hash for a payload whose bytes changed", async () => {
    const hash = await content.put(bytesOf("original"));
    await harness.damage(hash, bytesOf("0riginal"));
    await expect(content.get(hash)).rejects.toMatchObject({ code: "CONTENT_STORE_CORRUPT", details: { hash } });
  });

  it("replaces a damaged payload when the good bytes are stored again", async () => {
    const hash = await content.put(bytesOf("original"));
    await harness.damage(hash, bytesOf("rotten"));
    expect(await content.put(bytesOf("original"))).toBe(hash);
    expect(await content.get(hash)).toEqual(bytesOf("original"));
  });

  it.each(["", "abc", "../../../../etc/passwd", "A".repeat(64), `${"a".repeat(64)}/x`])(
    "refuses %j in place of a hash",
    async (hash) => {
      await expectCode(content.get(hash), "INTERNAL");
      await expectCode(content.has(hash), "INTERNAL");
      await expectCode(content.remove(hash, harness.clock.now() + 1), "INTERNAL");
    },
  );

  it("removes only what was stored before the given instant, and storing again counts", async () => {
    const [old, renewed] = await Promise.all([content.put(bytesOf("old")), content.put(bytesOf("renewed"))]);
    harness.clock.advance(60_000);
    await content.put(bytesOf("renewed"));
    const instant = harness.clock.now() - 1_000;
    expect(await content.remove(old, instant)).toBe(true);
    expect(await content.remove(renewed, instant)).toBe(false);
    expect(await content.remove(old, instant)).toBe(false);
    expect(await listed()).toEqual([renewed]);
  });

  it("loses nothing when a payload is stored while it is being removed", async () => {
    const bytes = bytesOf("in two minds");
    const hash = await content.put(bytes);
    for (let i = 0; i < 40; i++) {
      harness.clock.advance(1_000);
      const before = harness.clock.now();
      await Promise.all([content.remove(hash, before), content.put(bytes)]);
      // The clock has not moved, so the payload is as young as the instant: once stored, it stays.
      expect(await content.get(hash)).toEqual(bytes);
    }
  });

  it("removes of some payloads those that no ledger entry names, and nothing else", async () => {
    const payloads = ["named", "inside", "unnamed", "other"].map(bytesOf);
    const [named, inside, unnamed, other] = await Promise.all(payloads.map((bytes) => content.put(bytes)));
    await harness.store.transact((tx) =>
      tx.ledger.append("context", "next", [
        { kind: "NOTE_ADDED", actor: "cli", body: { deep: [{ payload: named! }] } },
        { kind: "NOTE_ADDED", actor: "cli", body: { text: `see 0a${inside!}ff for more` } },
      ]),
    );
    const asked = [named!, inside!, unnamed!];
    expect(await removeUnnamed(harness.store, content, harness.clock, asked)).toBe(1);
    expect(new Set(await listed())).toEqual(new Set([named, inside, other]));
    expect(await content.has(unnamed!)).toBe(false);
  });
}
