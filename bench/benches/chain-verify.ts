import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { NO_PREVIOUS, StreamVerifier, sealEntry } from "../../src/core/ledger/index.ts";
import type { EntryRecord } from "../../src/core/ports.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers, seededWords } from "../seed.ts";

const STREAM = "job/lantern";
const PAGE = 1_000;

/** Verifying a stream is two hashes per entry; everything else it does is what this measures. */
export const chainVerify: Bench = {
  name: "chain-verify",
  what: "verification of a stream of N entries in pages of 1,000",
  baseline: "the same two SHA-256 per entry over texts that are ready",
  corpus: "seeded entries with bodies of about 300 bytes",
  sizes: [10_000, 100_000],
  goal: { kind: "rate", atLeast: 0.5 },
  async prepare(size) {
    const entries = makeEntries(size);
    const hashed = entries.flatMap((entry) => [entry.body, toHashedText(entry)]);
    return {
      ours: () => verify(entries),
      baseline() {
        for (const text of hashed) nodeCrypto.sha256(text);
      },
    };
  },
};

function verify(entries: readonly EntryRecord[]): void {
  const verifier = new StreamVerifier(nodeCrypto, STREAM);
  for (let from = 0; from < entries.length; from += PAGE) {
    const problem = verifier.acceptRecords(entries.slice(from, from + PAGE));
    if (problem !== null) throw new Error(`the corpus does not verify: ${problem.code}`);
  }
}

function makeEntries(count: number): EntryRecord[] {
  const next = seededIntegers(3);
  const entries: EntryRecord[] = [];
  let previous = NO_PREVIOUS;
  for (let position = 0; position < count; position++) {
    const body = { step: position, text: seededWords(next, 40), done: position % 2 === 0 };
    const time = "2025-01-02T03:04:05.000Z";
    const head = { stream: STREAM, position, previous, kind: "STEP_DONE", time, actor: "library" };
    const entry = sealEntry(nodeCrypto, { ...head, body });
    previous = entry.hash;
    entries.push(entry);
  }
  return entries;
}

/** The text of architecture's entry hash, written out here so that the baseline does not use the code it is for. */
function toHashedText(e: EntryRecord): string {
  return ["verbatim-entry-v1", e.stream, e.position, e.previous, e.kind, e.time, e.actor, e.body_hash].join("\n");
}
