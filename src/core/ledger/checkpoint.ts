import { decodeUtf8, formatCanonical, type JsonValue, parseJson } from "../canonical/index.ts";
import { type Finding, isVerbatimError, VerbatimError } from "../errors/index.ts";
import {
  COUNT,
  checkMembers,
  describeProblems,
  type FieldProblem,
  HASH,
  type MemberRule,
  textRule,
} from "../members.ts";
import type { Crypto } from "../ports.ts";
import { computeRoot, type HashSource } from "./prove.ts";

/** What a signed checkpoint says: this ledger had this root at this size. */
export interface Checkpoint {
  readonly ledger_id: string;
  readonly root_hash: string;
  readonly tree_size: number;
}

/** DSSE payload type of a checkpoint. */
export const CHECKPOINT_PAYLOAD_TYPE = "application/vnd.verbatim.checkpoint.v1+json";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const RULES = {
  ledger_id: textRule("must be a lower-case UUID", (text) => UUID.test(text)),
  root_hash: HASH,
  tree_size: COUNT,
} as const satisfies Record<keyof Checkpoint, MemberRule>;

/** The payload of a checkpoint: canonical JSON. */
export function formatCheckpoint(checkpoint: Checkpoint): string {
  const { ledger_id, root_hash, tree_size } = checkpoint;
  return formatCanonical({ ledger_id, root_hash, tree_size });
}

/** Reads the payload of a checkpoint: canonical bytes of exactly three members, else ATTESTATION_INVALID. */
export function parseCheckpoint(payload: Uint8Array): Checkpoint {
  const text = decodeUtf8(payload);
  const value = text === null ? null : parsePayload(text);
  const problems: FieldProblem[] = [];
  if (!checkMembers<Checkpoint>(value, "", RULES, problems) || problems.length > 0) {
    refuse(describeProblems("the payload is not a checkpoint", problems), { problems });
  }
  if (formatCheckpoint(value) !== text) refuse("the payload of the checkpoint is not canonical JSON");
  return value;
}

function parsePayload(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return refuse("the payload of the checkpoint is not JSON", { json_code: thrown.code });
  }
}

function refuse(message: string, details?: Readonly<Record<string, unknown>>): never {
  throw new VerbatimError("ATTESTATION_INVALID", { message, ...(details === undefined ? {} : { details }) });
}

/** How a ledger differs from what a checkpoint vouches for. */
export interface CheckpointProblem {
  readonly code: Finding<"ledger">;
  readonly expected: string;
  readonly actual: string;
}

/** A ledger to compare: its id, its number of entries and their hashes in global order. */
export interface LedgerExtent {
  readonly ledger_id: string;
  readonly size: number;
  readonly hashes: HashSource;
}

/**
 * Compares a ledger with a checkpoint: LEDGER_TRUNCATED when it has fewer entries, LEDGER_CHECKPOINT_MISMATCH when
 * the checkpoint is another ledger's or the root at its size differs, else null. Cost: reads `tree_size` hashes.
 */
export async function compareWithCheckpoint(
  crypto: Crypto,
  ledger: LedgerExtent,
  checkpoint: Checkpoint,
): Promise<CheckpointProblem | null> {
  if (ledger.ledger_id !== checkpoint.ledger_id) {
    return { code: "LEDGER_CHECKPOINT_MISMATCH", expected: checkpoint.ledger_id, actual: ledger.ledger_id };
  }
  if (ledger.size < checkpoint.tree_size) {
    return { code: "LEDGER_TRUNCATED", expected: String(checkpoint.tree_size), actual: String(ledger.size) };
  }
  const root = await computeRoot(crypto, ledger.hashes, checkpoint.tree_size);
  if (root === checkpoint.root_hash) return null;
  return { code: "LEDGER_CHECKPOINT_MISMATCH", expected: checkpoint.root_hash, actual: root };
}
