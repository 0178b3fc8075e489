import { encodeUtf8, type JsonValue, parseJson, toCanonicalFile } from "../canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../errors/index.ts";
import {
  checkMembers,
  describeProblems,
  type FieldProblem,
  type MemberRule,
  TEXT,
  textRule,
  toPlace,
} from "../members.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import type { SigningKey } from "./key.ts";

/** One signature. Ours name their key; a foreign one may leave `keyid` out. */
interface EnvelopeSignature {
  readonly keyid?: string;
  readonly sig: string;
}

/** A DSSE envelope as it is written: payload and signatures in base64. */
export interface Envelope {
  readonly payload: string;
  readonly payloadType: string;
  readonly signatures: readonly EnvelopeSignature[];
}

/** An envelope that was understood, with the bytes of its payload. Its signatures were not looked at yet. */
export interface OpenedEnvelope {
  readonly envelope: Envelope;
  readonly payload: Uint8Array;
}

const SIGNATURE_RULES: Readonly<Record<string, MemberRule>> = { keyid: TEXT, sig: TEXT };

const ENVELOPE_RULES: Readonly<Record<string, MemberRule>> = {
  payload: textRule("must be standard base64 with padding", (text) => decodeBase64(text) !== null),
  payloadType: textRule("must be a well-formed string", (text) => text.isWellFormed()),
  signatures: { must: "must be an array of signatures", type: Array.isArray },
};

/** The bytes that are signed: `DSSEv1 SP len(type) SP type SP len(body) SP body`, lengths in bytes. */
export function encodePae(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = encodeUtf8(payloadType);
  const before = encodeUtf8(`DSSEv1 ${type.length} `);
  const between = encodeUtf8(` ${payload.length} `);
  const bytes = new Uint8Array(before.length + type.length + between.length + payload.length);
  bytes.set(before);
  bytes.set(type, before.length);
  bytes.set(between, before.length + type.length);
  bytes.set(payload, before.length + type.length + between.length);
  return bytes;
}

/** Signs a payload. Ed25519 is deterministic: the same key and payload give the same envelope. */
export async function signEnvelope(key: SigningKey, payloadType: string, payload: Uint8Array): Promise<Envelope> {
  const signature = await makeSignature(key, payloadType, payload);
  return { payload: encodeBase64(payload), payloadType, signatures: [signature] };
}

/**
 * Adds a signature to an envelope over the same payload and type, else ATTESTATION_PAYLOAD_DIFFERS. What others
 * signed stays as it is; a signature that is already there is not repeated.
 */
export async function addSignature(
  existing: OpenedEnvelope,
  key: SigningKey,
  payloadType: string,
  payload: Uint8Array,
): Promise<Envelope> {
  const { envelope } = existing;
  if (envelope.payloadType !== payloadType || !equalBytes(existing.payload, payload)) {
    throw new VerbatimError("ATTESTATION_PAYLOAD_DIFFERS");
  }
  const added = await makeSignature(key, payloadType, payload);
  const isThere = envelope.signatures.some(({ keyid, sig }) => keyid === added.keyid && sig === added.sig);
  return isThere ? envelope : { ...envelope, signatures: [...envelope.signatures, added] };
}

/**
 * Reads an envelope: exactly `payload`, `payloadType` and `signatures` of `{keyid, sig}`, the keyid optional, else
 * ATTESTATION_INVALID with every problem. A signature that cannot be decoded is not a problem here: it counts for nothing.
 */
export function openEnvelope(value: JsonValue, file = ""): OpenedEnvelope {
  const problems: FieldProblem[] = [];
  const isObject = checkMembers<Envelope>(value, "", ENVELOPE_RULES, problems);
  const signatures: unknown = isObject ? value["signatures"] : [];
  if (Array.isArray(signatures)) {
    for (let i = 0; i < signatures.length; i++) {
      checkMembers(signatures[i], `/signatures/${i}`, SIGNATURE_RULES, problems, ["keyid"]);
    }
  }
  if (!isObject || problems.length > 0) {
    throw new VerbatimError("ATTESTATION_INVALID", {
      message: describeProblems("the attestation is not a DSSE envelope", problems),
      where: toPlace(file, problems[0]!.pointer),
      details: { problems },
    });
  }
  return { envelope: value, payload: decodeBase64(value.payload)! };
}

/** Reads the file of an envelope; what is not JSON is ATTESTATION_INVALID too. */
export function openEnvelopeFile(bytes: Uint8Array, file?: string): OpenedEnvelope {
  let value: JsonValue;
  try {
    value = parseJson(bytes, file === undefined ? {} : { file });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("ATTESTATION_INVALID", {
      message: `the attestation is not JSON: ${thrown.message}`,
      ...(thrown.where === undefined ? {} : { where: thrown.where }),
      details: { json_code: thrown.code },
      cause: thrown,
    });
  }
  return openEnvelope(value, file);
}

/** The file of an envelope: canonical JSON and one line feed. */
export function toEnvelopeFile(envelope: Envelope): Uint8Array {
  return toCanonicalFile(envelope);
}

async function makeSignature(key: SigningKey, payloadType: string, payload: Uint8Array): Promise<EnvelopeSignature> {
  return { keyid: key.key_id, sig: encodeBase64(await key.sign(encodePae(payloadType, payload))) };
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
