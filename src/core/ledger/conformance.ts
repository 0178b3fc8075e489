import { isHash, type JsonObject, type JsonValue } from "../canonical/index.ts";
import { given } from "../conformance-input.ts";
import { isVerbatimError, VerbatimError } from "../errors/index.ts";
import type { Awaitable, SyncCrypto } from "../ports.ts";
import { StreamVerifier } from "./chain.ts";
import { type EntryHead, sealEntry } from "./entry.ts";
import { parseConsistencyProof, parseInclusionProof } from "./proof.ts";
import { verifyConsistency, verifyInclusion } from "./proof-check.ts";
import { computeRoot } from "./prove.ts";

interface Ports {
  readonly crypto: SyncCrypto;
}

/** What the areas of core/ledger answer for a vector's input. */
export const LEDGER_AREAS = {
  "ledger.entry": (input: JsonObject, { crypto }: Ports): JsonValue => {
    const { stream, position, previous, kind, time, actor, body } = given<EntryHead & { body: JsonValue }>(input);
    const { body_hash, hash } = sealEntry(crypto, { stream, position, previous, kind, time, actor, body });
    return { body_hash, hash };
  },
  "ledger.stream": (input: JsonObject, { crypto }: Ports): JsonValue => {
    const { stream, entries } = input;
    if (typeof stream !== "string") throw refuse("stream");
    if (!Array.isArray(entries)) throw refuse("entries");
    const problem = new StreamVerifier(crypto, stream).acceptExported(entries);
    const first = problem === null ? null : { code: problem.code, position: problem.position };
    return { first_problem: first, ok: problem === null };
  },
  "ledger.merkle-root": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => {
    const hashes = input["entry_hashes"];
    if (!Array.isArray(hashes) || !hashes.every((hash) => typeof hash === "string" && isHash(hash))) {
      throw refuse("entry_hashes");
    }
    const source = (from: number, limit: number) => hashes.slice(from, from + limit) as string[];
    return { root_hash: await computeRoot(crypto, source, hashes.length) };
  },
  "ledger.inclusion": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => ({
    ok: await holds(() => verifyInclusion(crypto, parseInclusionProof(input))),
  }),
  "ledger.consistency": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => ({
    ok: await holds(() => verifyConsistency(crypto, parseConsistencyProof(input))),
  }),
} as const;

/** A malformed proof does not hold. */
async function holds(check: () => Awaitable<boolean>): Promise<boolean> {
  try {
    return await check();
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "PROOF_MALFORMED") return false;
    throw thrown;
  }
}

function refuse(member: string): VerbatimError {
  return new VerbatimError("INPUT_INVALID", { message: `the input has no usable ${member}`, where: `/${member}` });
}
