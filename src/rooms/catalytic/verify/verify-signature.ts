import { isVerbatimError } from "../../../core/errors/index.ts";
import { fromHex } from "../../../core/hex.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { decodeBase64 } from "../../../core/trust/base64.ts";
import { encodePae, type OpenedEnvelope, openEnvelopeFile } from "../../../core/trust/dsse.ts";
import { PROOF_PAYLOAD_TYPE, SIGNATURE_FILE } from "../contracts/constants.ts";
import type { Findings, RunFolder } from "./verify.ts";

export type SignatureState = "absent" | "unpinned" | "pinned" | "untrusted" | "invalid";

interface SignatureFound {
  readonly state: SignatureState;
  readonly keyid: string | null;
}

/** Layer C: one Ed25519 signature over the exact bytes of PROOF.json, by a pinned key where keys are pinned. */
export async function checkSignature(
  crypto: SyncCrypto,
  { files }: RunFolder,
  proof: Uint8Array,
  pins: readonly string[],
  errors: Findings,
): Promise<SignatureFound> {
  const bytes = files.get(SIGNATURE_FILE);
  if (bytes === undefined) {
    if (pins.length > 0) errors.file("SIGNATURE_MISSING", SIGNATURE_FILE, "a key is pinned but nothing is signed");
    return { state: "absent", keyid: null };
  }
  const opened = open(bytes);
  const signature = opened?.envelope.signatures.length === 1 ? opened.envelope.signatures[0]! : null;
  const keyid = signature?.keyid ?? null;
  const invalid = (why: string): SignatureFound => {
    errors.file("SIGNATURE_INVALID", SIGNATURE_FILE, why);
    return { state: "invalid", keyid };
  };
  if (opened === null || signature === null || keyid === null)
    return invalid("it is not an envelope with one signature");
  if (opened.envelope.payloadType !== PROOF_PAYLOAD_TYPE) return invalid("the payload has a different type");
  if (!isEqual(opened.payload, proof)) return invalid("the payload is not this PROOF.json");
  if (pins.length === 0) return { state: "unpinned", keyid };
  for (const pin of pins) {
    const key = fromHex(pin);
    if (key === null || crypto.sha256(key) !== keyid) continue;
    const sig = decodeBase64(signature.sig);
    const good = sig !== null && crypto.ed25519Verify(key, encodePae(PROOF_PAYLOAD_TYPE, proof), sig);
    return good ? { state: "pinned", keyid } : invalid("the signature does not verify");
  }
  errors.file("SIGNATURE_UNTRUSTED", SIGNATURE_FILE, `signed by ${keyid}, which is not pinned`);
  return { state: "untrusted", keyid };
}

function open(bytes: Uint8Array): OpenedEnvelope | null {
  try {
    return openEnvelopeFile(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
