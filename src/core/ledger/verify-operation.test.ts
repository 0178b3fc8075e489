import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../canonical/index.ts";
import { signEnvelope, toEnvelopeFile } from "../trust/dsse.ts";
import { toSigningKey } from "../trust/key.ts";
import type { LedgerPorts } from "./operation-ports.ts";
import { ledgerVerify } from "./verify-operation.ts";

/** Verifies with an attestation of something else where a checkpoint is wanted. */
async function verifyWith(scopes: string[] | null) {
  const { key_id, public_key, ...rest } = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(5));
  const envelope = await signEnvelope(
    { key_id, public_key, ...rest },
    "application/vnd.in-toto+json",
    encodeUtf8('{"_type":"a statement"}'),
  );
  const keys = [{ key_id, public_key, name: "mira", scopes, enabled: true }];
  const policy = encodeUtf8(JSON.stringify({ policy_version: "1.0.0", threshold: 1, keys }));
  const read = async (file: string) => (file === "trust.json" ? policy : toEnvelopeFile(envelope));
  const ports = { crypto: nodeCrypto, files: { read } } as unknown as LedgerPorts;
  return ledgerVerify.run(ports, { checkpoint: "c.json", ...(scopes === null ? {} : { trust: "trust.json" }) });
}

describe("an envelope of another type where a checkpoint is wanted", () => {
  it("is of the wrong type, whoever is trusted", async () => {
    await expect(verifyWith(null)).rejects.toMatchObject({ code: "ATTESTATION_TYPE" });
    await expect(verifyWith(["CHECKPOINT"])).rejects.toMatchObject({ code: "ATTESTATION_TYPE" });
  });

  it("is not looked at where nobody is trusted", async () => {
    await expect(verifyWith(["BUNDLE"])).rejects.toMatchObject({ code: "TRUST_NO_KEYS" });
  });
});
