import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { EntryRecord } from "../../src/core/ports.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The hash of an entry, written down from the specification and not from the code under test. */
export function entryHash(e: Omit<EntryRecord, "hash">): string {
  return sha256(
    ["verbatim-entry-v1", e.stream, e.position, e.previous, e.kind, e.time, e.actor, sha256(e.body)].join("\n"),
  );
}

/** Expects the entries of one stream from its beginning to be gap-free and chained. */
export function expectUnbrokenChain(entries: readonly EntryRecord[]): void {
  let previous = "0".repeat(64);
  for (const [position, entry] of entries.entries()) {
    expect(entry.position).toBe(position);
    expect(entry.previous).toBe(previous);
    expect(entry.body_hash).toBe(sha256(entry.body));
    expect(entry.hash).toBe(entryHash(entry));
    previous = entry.hash;
  }
}
