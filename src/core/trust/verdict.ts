import { type JsonValue, sortedByCodePoint } from "../canonical/index.ts";
import { type Code, codeFacts, isVerbatimError } from "../errors/index.ts";
import { CHECKPOINT_PAYLOAD_TYPE } from "../ledger/checkpoint.ts";
import type { Crypto } from "../ports.ts";
import { decodeBase64 } from "./base64.ts";
import { encodePae, type OpenedEnvelope, openEnvelope, openEnvelopeFile } from "./dsse.ts";
import { parsePublicKey } from "./key.ts";
import { eligibleKeys, type PolicyKey, type Scope, type TrustPolicy, toThreshold } from "./policy.ts";
import { checkBundleStatement, STATEMENT_PAYLOAD_TYPE } from "./statement.ts";

export type Verdict = "UNSIGNED" | "UNCHECKED" | "UNTRUSTED" | "TRUSTED";

/** What trust says; integrity is judged elsewhere. */
export interface TrustResult {
  readonly verdict: Verdict;
  readonly code: Code | null;
  /** Exit that trust asks for: 0 where it has no effect. */
  readonly exit: number;
  /** Key ids with a valid signature, by code point, also when they are too few. */
  readonly valid_keys: readonly string[];
  /** What the policy asks for, up to 2^53-1; null without a policy. */
  readonly threshold: number | null;
}

/** DSSE payload type that each scope signs. */
export const PAYLOAD_TYPES: Readonly<Record<Scope, string>> = {
  BUNDLE: STATEMENT_PAYLOAD_TYPE,
  CHECKPOINT: CHECKPOINT_PAYLOAD_TYPE,
  PROOF: "application/vnd.verbatim.cmp01-proof+json",
  AGENT: STATEMENT_PAYLOAD_TYPE,
};

/** An attestation as a file or a value gave it; null means there is none. */
export type Attestation = OpenedEnvelope | "MALFORMED" | null;

/** Opens an attestation, given as a JSON value or as the bytes of its file, so that it can be judged. Never throws. */
export function readAttestation(input: JsonValue | Uint8Array): Attestation {
  if (input === null) return null;
  try {
    return input instanceof Uint8Array ? openEnvelopeFile(input) : openEnvelope(input);
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "ATTESTATION_INVALID") return "MALFORMED";
    throw thrown;
  }
}

/**
 * Judges an attestation for a scope; the first failing rule is the answer. Without a policy nobody's signature is
 * checked and the verdict says so. Cost: one verification per signature, per eligible key if it names none.
 */
export async function evaluateTrust(
  crypto: Crypto,
  policy: TrustPolicy | null,
  scope: Scope,
  attestation: Attestation,
): Promise<TrustResult> {
  if (policy === null) {
    const verdict = attestation === null ? "UNSIGNED" : "UNCHECKED";
    return { verdict, code: null, exit: 0, valid_keys: [], threshold: null };
  }
  const threshold = toThreshold(policy);
  const fail = (code: Code, verdict: Verdict = "UNTRUSTED", valid_keys: readonly string[] = []): TrustResult => ({
    ...toFailure(code),
    verdict,
    valid_keys,
    threshold,
  });
  const eligible = eligibleKeys(policy, scope);
  if (eligible.size === 0) return fail("TRUST_NO_KEYS");
  if (eligible.size < policy.threshold) return fail("TRUST_THRESHOLD_UNREACHABLE");
  if (attestation === null) return fail("TRUST_UNSIGNED", "UNSIGNED");
  if (attestation === "MALFORMED") return fail("ATTESTATION_INVALID");
  if (attestation.envelope.payloadType !== PAYLOAD_TYPES[scope]) return fail("ATTESTATION_TYPE");
  const valid_keys = sortedByCodePoint(await findValidKeys(crypto, attestation, eligible));
  if (valid_keys.length < policy.threshold) return fail("TRUST_THRESHOLD_NOT_MET", "UNTRUSTED", valid_keys);
  return { verdict: "TRUSTED", code: null, exit: 0, valid_keys, threshold };
}

/** The same for a bundle: trusted only if the statement also fits the bytes of its bundle.json. */
export async function evaluateBundleTrust(
  crypto: Crypto,
  policy: TrustPolicy | null,
  attestation: Attestation,
  manifest: Uint8Array,
): Promise<TrustResult> {
  const result = await evaluateTrust(crypto, policy, "BUNDLE", attestation);
  if (result.verdict !== "TRUSTED" || attestation === null || attestation === "MALFORMED") return result;
  const code = await checkBundleStatement(crypto, attestation, manifest);
  return code === null ? result : { ...result, ...toFailure(code) };
}

function toFailure(code: Code): { readonly verdict: Verdict; readonly code: Code; readonly exit: number } {
  return { verdict: "UNTRUSTED", code, exit: codeFacts(code).exit };
}

/** Distinct keys, not signatures: one signature repeated or copied under another keyid adds nothing. */
async function findValidKeys(
  crypto: Crypto,
  { envelope, payload }: OpenedEnvelope,
  eligible: ReadonlyMap<string, PolicyKey>,
): Promise<Set<string>> {
  const message = encodePae(envelope.payloadType, payload);
  const valid = new Set<string>();
  for (const { keyid = "", sig } of envelope.signatures) {
    const signature = decodeBase64(sig);
    if (signature === null) continue;
    for (const key of keyid === "" ? eligible.values() : findNamed(eligible, keyid)) {
      if (valid.has(key.key_id)) continue;
      const isValid = await crypto.ed25519Verify(parsePublicKey(key.public_key), message, signature);
      if (isValid) valid.add(key.key_id);
    }
  }
  return valid;
}

function findNamed(eligible: ReadonlyMap<string, PolicyKey>, keyid: string): PolicyKey[] {
  const key = eligible.get(keyid);
  return key === undefined ? [] : [key];
}
