import { z } from "zod";
import { hashCanonical } from "../canonical/index.ts";
import { FINDINGS, type Finding } from "../errors/index.ts";
import { formatHashed } from "../ledger/entry.ts";
import type { ConsistencyProof, InclusionProof } from "../ledger/proof.ts";
import { verifyConsistency, verifyInclusion } from "../ledger/proof-check.ts";
import type { Crypto, EntryRecord } from "../ports.ts";
import { type DerivedCheck, defineContract } from "./contract.ts";
import { readInteger, readText } from "./reading.ts";
import { count, hashHex, uuid } from "./shapes.ts";

const ZEROS = "0".repeat(64);
const EMPTY_ROOT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const label = z
  .string()
  .min(1)
  .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/);

const entrySchema = z.strictObject({
  stream: label,
  position: count,
  previous: hashHex,
  kind: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  time: z
    .string()
    .regex(
      /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/,
    ),
  actor: label,
  body: z.unknown(),
  body_hash: hashHex,
  hash: hashHex,
});

/** An entry that was written out: its body is a value and not yet text. */
type Written = Omit<EntryRecord, "body"> & { readonly body?: unknown };

/** Whether `body_hash` is that of the body. An erased body is null and left only its hash; the stream says if it may. */
export async function hasItsBodyHash({ body, body_hash }: Written, crypto: Crypto): Promise<boolean> {
  return body === null || (await hashCanonical(crypto, body)) === body_hash;
}

/** Whether `hash` is that of the other fields. */
export async function hasItsHash(entry: Written, crypto: Crypto): Promise<boolean> {
  return (await crypto.sha256(formatHashed(entry, entry.body_hash))) === entry.hash;
}

function derived<T>(
  code: Finding<"ledger">,
  pointer: string,
  holds: (value: T, crypto: Crypto) => Promise<boolean>,
): DerivedCheck<T> {
  const run = async (value: T, crypto: Crypto) => ((await holds(value, crypto)) ? [] : [pointer]);
  return { code, summary: FINDINGS.ledger[code], run };
}

/** A ledger entry as it is written out; whether it continues its stream is for `verbatim ledger verify`. */
export const LEDGER_ENTRY = defineContract({
  room: "ledger",
  name: "ledger-entry",
  title: "Ledger entry",
  summary: "One entry of the append-only ledger, chained to the one before it in its stream.",
  media: "jsonl",
  schema: entrySchema,
  checks: [
    {
      code: "LEDGER_CHAIN_BROKEN",
      summary: FINDINGS.ledger.LEDGER_CHAIN_BROKEN,
      run: (value) => {
        const position = readInteger(value, "position");
        const previous = readText(value, "previous");
        if (position === null || previous === null) return [];
        return (position === 0) === (previous === ZEROS) ? [] : ["/previous"];
      },
    },
  ],
  derived: [
    derived("LEDGER_BODY_MISMATCH", "/body_hash", hasItsBodyHash),
    derived("LEDGER_HASH_MISMATCH", "/hash", hasItsHash),
  ],
});

const checkpointSchema = z.strictObject({ ledger_id: uuid, root_hash: hashHex, tree_size: count });

/** The payload of a signed checkpoint. */
export const CHECKPOINT = defineContract({
  room: "ledger",
  name: "checkpoint",
  title: "Checkpoint",
  summary: "Size and Merkle root of a ledger at one moment: the payload of a signed envelope.",
  schema: checkpointSchema,
  checks: [
    {
      code: "LEDGER_CHECKPOINT_MISMATCH",
      summary: FINDINGS.ledger.LEDGER_CHECKPOINT_MISMATCH,
      run: (value) => {
        const root = readText(value, "root_hash");
        return readInteger(value, "tree_size") === 0 && root !== null && root !== EMPTY_ROOT ? ["/root_hash"] : [];
      },
    },
  ],
});

// A tree of 2^53 entries has paths of 53 hashes; consistency paths have at most one more.
const path = z.array(hashHex).max(54);

const inclusionSchema = z.strictObject({
  entry_hash: hashHex,
  index: count,
  tree_size: count,
  path,
  root_hash: hashHex,
});

/** That one entry is in the tree a root stands for. */
export const INCLUSION_PROOF = defineContract({
  room: "ledger",
  name: "inclusion-proof",
  title: "Inclusion proof",
  summary: "The Merkle path from one ledger entry to the root of a tree of the given size.",
  schema: inclusionSchema,
  checks: [rangeCheck("/index", (value) => isBelow(value, "index", "tree_size", false))],
  derived: [
    derived("LEDGER_PROOF_MISMATCH", "/root_hash", async (proof: InclusionProof, crypto) =>
      verifyInclusion(crypto, proof),
    ),
  ],
});

const consistencySchema = z.strictObject({
  first_size: count,
  second_size: count,
  first_root: hashHex,
  second_root: hashHex,
  path,
});

/** That a later tree only adds to an earlier one. */
export const CONSISTENCY_PROOF = defineContract({
  room: "ledger",
  name: "consistency-proof",
  title: "Consistency proof",
  summary: "The Merkle path that shows that a larger tree starts with the entries of a smaller one.",
  schema: consistencySchema,
  checks: [rangeCheck("/first_size", (value) => isBelow(value, "first_size", "second_size", true))],
  derived: [
    derived("LEDGER_PROOF_MISMATCH", "/second_root", async (proof: ConsistencyProof, crypto) =>
      verifyConsistency(crypto, proof),
    ),
  ],
});

type Value = Parameters<typeof readInteger>[0];

function rangeCheck(pointer: string, holds: (value: Value) => boolean) {
  const run = (value: Value) => (holds(value) ? [] : [pointer]);
  return { code: "LEDGER_RANGE_INVALID", summary: FINDINGS.ledger.LEDGER_RANGE_INVALID, run };
}

function isBelow(value: Value, low: string, high: string, orEqual: boolean): boolean {
  const a = readInteger(value, low);
  const b = readInteger(value, high);
  return a === null || b === null || a < b || (orEqual && a === b);
}
