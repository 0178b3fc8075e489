// The hall reads ledger entries, proofs, envelopes and policies with parsers of its own. What the contract of such an
// object allows, its parser must read; a value whose fields are wrong, it must refuse.
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { encodeUtf8, formatCanonical, type JsonValue } from "../../src/core/canonical/index.ts";
import {
  CHECKPOINT,
  CONSISTENCY_PROOF,
  DSSE_ENVELOPE,
  INCLUSION_PROOF,
  type JsonContract,
  LEDGER_ENTRY,
  TRUST_POLICY,
} from "../../src/core/contracts/index.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import { parseCheckpoint } from "../../src/core/ledger/checkpoint.ts";
import { parseEntry } from "../../src/core/ledger/entry.ts";
import { parseConsistencyProof, parseInclusionProof } from "../../src/core/ledger/proof.ts";
import { openEnvelope, parsePolicy } from "../../src/core/trust/index.ts";
import { listExamples } from "../support/contract-examples.ts";

const READERS: readonly (readonly [JsonContract, (value: JsonValue) => unknown])[] = [
  [LEDGER_ENTRY, parseEntry],
  [CHECKPOINT, (value) => parseCheckpoint(encodeUtf8(formatCanonical(value)))],
  [INCLUSION_PROOF, parseInclusionProof],
  [CONSISTENCY_PROOF, parseConsistencyProof],
  [DSSE_ENVELOPE, openEnvelope],
  [TRUST_POLICY, (value) => parsePolicy(nodeCrypto, value)],
];

// How long a path may be is left to the verification of the proof.
const LEFT_TO_VERIFICATION = ["FIELD_TOO_LONG"];

async function isRead(read: (value: JsonValue) => unknown, value: JsonValue): Promise<boolean> {
  try {
    await read(value);
    return true;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return false;
    throw thrown;
  }
}

describe.each(READERS.map(([contract, read]) => [contract.name, contract, read] as const))(
  "%s",
  (_, contract, read) => {
    const examples = listExamples(contract).flatMap(({ file, expect: raised, instance }) => {
      const wrong = raised.some(({ code }) => code.startsWith("FIELD_") && !LEFT_TO_VERIFICATION.includes(code));
      const judged = raised.length === 0 || wrong;
      return "value" in instance && judged ? [[file, wrong ? "refused" : "read", instance.value] as const] : [];
    });

    it.each(examples)("%s is %s by the hall", async (_file, outcome, value) => {
      expect(await isRead(read, value)).toBe(outcome === "read");
    });
  },
);
