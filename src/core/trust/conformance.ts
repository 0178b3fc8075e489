import { encodeUtf8, type JsonObject, type JsonValue, toJson } from "../canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../errors/index.ts";
import { fromHex } from "../hex.ts";
import type { SyncCrypto } from "../ports.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { encodePae, signEnvelope } from "./dsse.ts";
import { parsePublicKey, toPublicKey, toSigningKey } from "./key.ts";
import { parsePolicy, type Scope } from "./policy.ts";
import { checkBundleStatement, formatBundleStatement } from "./statement.ts";
import { evaluateTrust, readAttestation, type TrustResult } from "./verdict.ts";

interface Ports {
  readonly crypto: SyncCrypto;
}

/** What the areas of core/trust answer for a vector's input. */
export const TRUST_AREAS = {
  "trust.key-id": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => ({
    key_id: (await toPublicKey(crypto, parsePublicKey(textOf(input, "public_key")))).key_id,
  }),
  "trust.pae": (input: JsonObject): JsonValue => ({
    pae_b64: encodeBase64(encodePae(textOf(input, "payload_type"), bytesOf(input, "payload_b64", decodeBase64))),
  }),
  "trust.sign": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => {
    const key = await toSigningKey(crypto, bytesOf(input, "seed_hex", fromHex));
    const payload = bytesOf(input, "payload_b64", decodeBase64);
    const envelope = await signEnvelope(key, textOf(input, "payload_type"), payload);
    return { envelope: toJson(envelope), public_key: key.public_key };
  },
  "trust.statement": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => {
    const payload = await formatBundleStatement(crypto, encodeUtf8(textOf(input, "bundle_json")));
    return { payload, sha256: crypto.sha256(payload) };
  },
  "trust.policy": async (input: JsonObject, ports: Ports): Promise<JsonValue> => {
    const { verdict, code, exit, valid_keys } = await judgeInput(input, ports);
    return { verdict, code, exit, valid_keys };
  },
  "trust.attestation": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => {
    const attestation = readAttestation(input["envelope"] ?? null);
    if (attestation === null || attestation === "MALFORMED") return { code: "ATTESTATION_INVALID" };
    return { code: await checkBundleStatement(crypto, attestation, encodeUtf8(textOf(input, "bundle_json"))) };
  },
} as const;

/** A policy that is not valid is an answer here: nothing is trusted under it. */
async function judgeInput(input: JsonObject, { crypto }: Ports): Promise<TrustResult> {
  try {
    const given = input["policy"] ?? null;
    const policy = given === null ? null : await parsePolicy(crypto, given);
    const attestation = readAttestation(input["envelope"] ?? null);
    return await evaluateTrust(crypto, policy, textOf(input, "scope") as Scope, attestation);
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "TRUST_POLICY_INVALID") throw thrown;
    return { verdict: "UNTRUSTED", code: thrown.code, exit: thrown.exit, valid_keys: [], threshold: null };
  }
}

function textOf(input: JsonObject, member: string): string {
  const value = input[member];
  if (typeof value !== "string") throw refuse(member);
  return value;
}

function bytesOf(input: JsonObject, member: string, decode: (text: string) => Uint8Array | null): Uint8Array {
  const bytes = decode(textOf(input, member));
  if (bytes === null) throw refuse(member);
  return bytes;
}

function refuse(member: string): VerbatimError {
  return new VerbatimError("INPUT_INVALID", { message: `the input has no usable ${member}`, where: `/${member}` });
}
