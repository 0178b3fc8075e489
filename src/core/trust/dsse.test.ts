import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { bundleFromJSON, envelopeFromJSON } from "@sigstore/bundle";
import { toSignedEntity, Verifier } from "@sigstore/verify";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { webCrypto } from "../../adapters/crypto/web-crypto.ts";
import { decodeUtf8, encodeUtf8, Float, type JsonObject, type JsonValue, parseJson } from "../canonical/index.ts";
import { isVerbatimError } from "../errors/index.ts";
import {
  addSignature,
  type Envelope,
  encodeBase64,
  encodePae,
  formatBundleStatement,
  openEnvelope,
  openEnvelopeFile,
  STATEMENT_PAYLOAD_TYPE,
  signEnvelope,
  toEnvelopeFile,
  toSigningKey,
} from "./index.ts";

const TYPE = "application/example";
const PAYLOAD = encodeUtf8("hello world");
const KEY_A = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(1));
const KEY_B = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(2));
const SIGNED = await signEnvelope(KEY_A, TYPE, PAYLOAD);
const asJson = (envelope: Envelope): JsonObject => parseJson(toEnvelopeFile(envelope)) as JsonObject;
const invalid = expect.objectContaining({ code: "ATTESTATION_INVALID" });

describe("the signed bytes", () => {
  it("are those of the DSSE protocol's own example", () => {
    expect(decodeUtf8(encodePae("http://example.com/HelloWorld", PAYLOAD))).toBe(
      "DSSEv1 29 http://example.com/HelloWorld 11 hello world",
    );
  });

  it("count bytes, not characters", () => {
    expect(decodeUtf8(encodePae("ü", encodeUtf8("🌱")))).toBe("DSSEv1 2 ü 4 🌱");
  });

  it("differ whenever type or payload differ", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (type1, body1, type2, body2) => {
        const same =
          encodeBase64(encodePae(type1, encodeUtf8(body1))) === encodeBase64(encodePae(type2, encodeUtf8(body2)));
        expect(same).toBe(type1 === type2 && body1 === body2);
      }),
    );
  });
});

describe("signing", () => {
  it("names the key and gives the same bytes every time, in Node and in a browser", async () => {
    expect(SIGNED.signatures).toHaveLength(1);
    expect(SIGNED.signatures[0]!.keyid).toBe(KEY_A.key_id);
    const browserKey = await toSigningKey(webCrypto, new Uint8Array(32).fill(1));
    expect(await signEnvelope(browserKey, TYPE, PAYLOAD)).toEqual(SIGNED);
  });

  it("adds a signature to the same payload and keeps what is there", async () => {
    const both = await addSignature(openEnvelope(asJson(SIGNED)), KEY_B, TYPE, PAYLOAD);
    expect(both.signatures.map(({ keyid }) => keyid)).toEqual([KEY_A.key_id, KEY_B.key_id]);
    expect(both.signatures[0]).toEqual(SIGNED.signatures[0]);
    expect(await addSignature(openEnvelope(asJson(both)), KEY_A, TYPE, PAYLOAD)).toEqual(both);
  });

  it("keeps a foreign signature without a keyid as it is", async () => {
    const foreign = { ...SIGNED, signatures: [{ sig: "AAAA" }] };
    const both = await addSignature(openEnvelope(asJson(foreign)), KEY_A, TYPE, PAYLOAD);
    expect(both.signatures).toEqual([{ sig: "AAAA" }, SIGNED.signatures[0]]);
  });

  it("adds a signature beside a false one under the same keyid, and beside its own under another", async () => {
    const { keyid, sig } = SIGNED.signatures[0]!;
    for (const there of [
      { keyid: keyid!, sig: "AAAA" },
      { keyid: KEY_B.key_id, sig },
    ]) {
      const both = await addSignature(openEnvelope(asJson({ ...SIGNED, signatures: [there] })), KEY_A, TYPE, PAYLOAD);
      expect(both.signatures).toEqual([there, { keyid, sig }]);
    }
  });

  it.each([
    ["another payload", TYPE, encodeUtf8("hello worlD")],
    ["a longer payload", TYPE, encodeUtf8("hello world ")],
    ["another type", "application/other", PAYLOAD],
  ])("refuses to add a signature over %s", async (_what, type, payload) => {
    await expect(addSignature(openEnvelope(asJson(SIGNED)), KEY_B, type, payload)).rejects.toMatchObject({
      code: "ATTESTATION_PAYLOAD_DIFFERS",
    });
  });
});

describe("reading envelopes", () => {
  it("gives the payload's bytes and takes its own files", () => {
    const opened = openEnvelopeFile(toEnvelopeFile(SIGNED));
    expect(opened.envelope).toEqual(asJson(SIGNED));
    expect(opened.payload).toEqual(PAYLOAD);
  });

  it("takes no signatures, an absent or empty keyid, and signatures nobody can decode", () => {
    const signatures = [{ sig: "!" }, { keyid: "", sig: "" }, { keyid: "x", sig: "é" }];
    expect(openEnvelope({ ...asJson(SIGNED), signatures }).envelope.signatures).toEqual(signatures);
    expect(openEnvelope({ ...asJson(SIGNED), signatures: [] }).envelope.signatures).toEqual([]);
  });

  const sig = SIGNED.signatures[0]!.sig;
  it.each<[string, string, JsonObject]>([
    ["/payload", "the URL alphabet", { payload: "aGVs_G8=" }],
    ["/payload", "no padding", { payload: "aGVsbG8" }],
    ["/payload", "padding bits", { payload: "aGVsbG9=" }],
    ["/payload", "a line feed", { payload: "aGVs\nbG8=" }],
    ["/payload", "null", { payload: null }],
    ["/payloadType", "a number", { payloadType: 1 }],
    ["/payloadType", "half a character", { payloadType: "\udc00" }],
    ["/signatures", "an object", { signatures: {} }],
    ["/signatures/0", "a text", { signatures: [sig] }],
    ["/signatures/0/sig", "no sig", { signatures: [{ keyid: "" }] }],
    ["/signatures/0/sig", "a number as sig", { signatures: [{ keyid: "", sig: new Float(1) }] }],
    ["/signatures/0/keyid", "null as keyid", { signatures: [{ keyid: null, sig }] }],
    ["/signatures/1/cert", "an extra member of a signature", { signatures: [{ sig }, { sig, cert: "" }] }],
    ["/extra", "an extra member", { extra: null }],
  ])("refuses %s: %s", (pointer, _what, change) => {
    expect(() => openEnvelope({ ...asJson(SIGNED), ...change })).toThrowError(
      expect.objectContaining({
        code: "ATTESTATION_INVALID",
        details: { problems: [expect.objectContaining({ pointer })] },
      }),
    );
  });

  it("refuses an envelope without one of its members", () => {
    for (const member of ["payload", "payloadType", "signatures"]) {
      const { [member]: _gone, ...rest } = asJson(SIGNED);
      expect(() => openEnvelope(rest)).toThrowError(invalid);
    }
  });

  it.each(["", "null", "[]", "{", '{"payload":"","payload":"","payloadType":"","signatures":[]}', "\ufeff{}"])(
    "refuses the file %j",
    (text) => {
      expect(() => openEnvelopeFile(encodeUtf8(text), "x.dsse.json")).toThrowError(invalid);
    },
  );

  it("says what is wrong with a file that is not JSON", () => {
    expect(() => openEnvelopeFile(encodeUtf8("{"), "x.dsse.json")).toThrowError(
      expect.objectContaining({
        code: "ATTESTATION_INVALID",
        where: expect.stringMatching(/^x\.dsse\.json/),
        details: { json_code: "JSON_SYNTAX" },
      }),
    );
  });

  it("of any kind gives an envelope or a coded refusal", () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true });
    const signature = fc.record({ keyid: anything, sig: fc.oneof(anything, fc.string()) }, { requiredKeys: [] });
    const shaped = fc.record(
      {
        payload: fc.oneof(anything, fc.base64String()),
        payloadType: fc.oneof(anything, fc.string()),
        signatures: fc.oneof(anything, fc.array(fc.oneof(signature, anything))),
      },
      { requiredKeys: [] },
    );
    const read = (open: () => unknown) => {
      try {
        open();
      } catch (thrown) {
        expect(isVerbatimError(thrown) && thrown.code).toBe("ATTESTATION_INVALID");
      }
    };
    fc.assert(fc.property(fc.oneof(anything, shaped), (value) => read(() => openEnvelope(value as JsonValue))));
    fc.assert(fc.property(fc.uint8Array(), (bytes) => read(() => openEnvelopeFile(bytes))));
  });
});

describe("a library that is not ours", () => {
  const vectors = parseJson(
    readFileSync(new URL("../../../test/vectors/bundle.json", import.meta.url)),
  ) as JsonObject[];
  const vector = vectors.find(({ id }) => id === "bd-trust-statement-001")!;
  const manifest = encodeUtf8(String((vector["input"] as JsonObject)["bundle_json"]));
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(KEY_A.public_key, "hex")]);
  const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });

  /** Verifies an envelope with sigstore's own code, offline, against one pinned public key. */
  function verifyWithSigstore(envelope: Envelope) {
    const bundle = bundleFromJSON({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: { publicKey: { hint: KEY_A.key_id }, tlogEntries: [] },
      dsseEnvelope: envelope,
    });
    const trustMaterial = {
      certificateAuthorities: [],
      timestampAuthorities: [],
      tlogs: [],
      ctlogs: [],
      publicKey: (hint: string) => {
        expect(hint).toBe(KEY_A.key_id);
        return { publicKey, validFor: () => true };
      },
    };
    const thresholds = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 };
    return new Verifier(trustMaterial, thresholds).verify(toSignedEntity(bundle));
  }

  it("verifies an attestation we signed, and refuses it when it was changed", async () => {
    const statement = encodeUtf8(await formatBundleStatement(nodeCrypto, manifest));
    const envelope = asJson(await signEnvelope(KEY_A, STATEMENT_PAYLOAD_TYPE, statement)) as unknown as Envelope;
    expect(verifyWithSigstore(envelope).key.equals(publicKey)).toBe(true);
    expect(Buffer.from(envelopeFromJSON(envelope).payload).equals(statement)).toBe(true);
    for (const changed of [
      { ...envelope, payload: encodeBase64(encodeUtf8("{}")) },
      { ...envelope, payloadType: "application/json" },
      { ...envelope, signatures: [{ keyid: KEY_A.key_id, sig: encodeBase64(new Uint8Array(64)) }] },
    ]) {
      expect(() => verifyWithSigstore(changed)).toThrowError(expect.objectContaining({ code: "SIGNATURE_ERROR" }));
    }
  });
});
