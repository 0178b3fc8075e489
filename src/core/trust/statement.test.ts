import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { encodeUtf8, Float, formatCanonical, type JsonObject, type JsonValue, parseJson } from "../canonical/index.ts";
import { TRUST_AREAS } from "./conformance.ts";
import {
  checkBundleStatement,
  formatBundleStatement,
  openEnvelope,
  STATEMENT_PAYLOAD_TYPE,
  signEnvelope,
  toSigningKey,
} from "./index.ts";

const MANIFEST: JsonObject = {
  bundle_version: "5.0.0",
  bundle_id: "b1",
  run_id: "r1",
  job_id: "j1",
  message_id: "m1",
  plan_hash: "p1",
  hashes: { root_hash: "h1" },
  steps: [],
};
const bytesOf = (value: JsonValue) => encodeUtf8(`${formatCanonical(value)}\n`);
const BYTES = bytesOf(MANIFEST);
const KEY = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(3));
const STATEMENT = parseJson(await formatBundleStatement(nodeCrypto, BYTES)) as JsonObject;
const SUBJECT = (STATEMENT["subject"] as JsonObject[])[0]!;

async function check(payload: JsonValue | Uint8Array, manifest = BYTES, type = STATEMENT_PAYLOAD_TYPE) {
  const bytes = payload instanceof Uint8Array ? payload : bytesOf(payload);
  const envelope = await signEnvelope(KEY, type, bytes);
  return checkBundleStatement(nodeCrypto, openEnvelope(envelope as unknown as JsonValue), manifest);
}

describe("the statement of a bundle", () => {
  it("is an in-toto Statement v1 about the bytes of bundle.json, in canonical JSON", async () => {
    const sha256 = createHash("sha256").update(BYTES).digest("hex");
    const predicate =
      '{"bundle_id":"b1","bundle_version":"5.0.0","job_id":"j1","message_id":"m1","plan_hash":"p1","root_hash":"h1","run_id":"r1"}';
    expect(await formatBundleStatement(nodeCrypto, BYTES)).toBe(
      `{"_type":"https://in-toto.io/Statement/v1","predicate":${predicate},"predicateType":"urn:verbatim:predicate:bundle:v1","subject":[{"digest":{"sha256":"${sha256}"},"name":"bundle.json"}]}`,
    );
  });

  it("cannot be made of a manifest that lacks a value or has another kind there", async () => {
    for (const change of [{ run_id: 5 }, { hashes: {} }, { hashes: "h1" }, { job_id: null }] as JsonObject[]) {
      const manifest = bytesOf({ ...MANIFEST, ...change });
      await expect(formatBundleStatement(nodeCrypto, manifest)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    await expect(formatBundleStatement(nodeCrypto, bytesOf([]))).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(formatBundleStatement(nodeCrypto, encodeUtf8("{"))).rejects.toMatchObject({ code: "JSON_SYNTAX" });
  });
});

describe("a statement checked against a bundle", () => {
  it("fits its own bundle, also when it is not written canonically", async () => {
    expect(await check(STATEMENT)).toBeNull();
    expect(await check(encodeUtf8(JSON.stringify(STATEMENT, null, 2)))).toBeNull();
  });

  it.each<[string, JsonObject]>([
    ["another _type", { _type: "https://in-toto.io/Statement/v0.1" }],
    ["another predicateType", { predicateType: "https://slsa.dev/provenance/v1" }],
    ["a predicateType of another kind", { predicateType: ["urn:verbatim:predicate:bundle:v1"] }],
  ])("is ATTESTATION_TYPE with %s", async (_what, change) => {
    expect(await check({ ...STATEMENT, ...change, subject: [], predicate: {} })).toBe("ATTESTATION_TYPE");
  });

  it("is ATTESTATION_TYPE in an envelope of another type, and when it says nothing", async () => {
    expect(await check(STATEMENT, BYTES, "application/json")).toBe("ATTESTATION_TYPE");
    expect(await check({})).toBe("ATTESTATION_TYPE");
  });

  it.each<[string, JsonValue]>([
    ["no subject", []],
    ["two subjects", [SUBJECT, SUBJECT]],
    ["another name", [{ ...SUBJECT, name: "other.json" }]],
    ["another digest", [{ ...SUBJECT, digest: { sha256: "0".repeat(64) } }]],
    ["an upper-case digest", [{ ...SUBJECT, digest: { sha256: nodeCrypto.sha256(BYTES).toUpperCase() } }]],
    ["a digest of another algorithm", [{ ...SUBJECT, digest: { sha512: nodeCrypto.sha256(BYTES) } }]],
    ["an object", { 0: SUBJECT }],
    ["null", null],
  ])("is ATTESTATION_SUBJECT_MISMATCH with %s", async (_what, subject) => {
    expect(await check({ ...STATEMENT, subject, predicate: {} })).toBe("ATTESTATION_SUBJECT_MISMATCH");
  });

  it("is ATTESTATION_SUBJECT_MISMATCH without a subject and for one byte more", async () => {
    const { subject: _gone, ...rest } = STATEMENT;
    expect(await check(rest)).toBe("ATTESTATION_SUBJECT_MISMATCH");
    expect(await check(STATEMENT, encodeUtf8(`${formatCanonical(MANIFEST)}\n\n`))).toBe("ATTESTATION_SUBJECT_MISMATCH");
  });

  it("is ATTESTATION_PREDICATE_MISMATCH when any member differs, is missing or is extra", async () => {
    const predicate = STATEMENT["predicate"] as JsonObject;
    for (const member of Object.keys(predicate)) {
      const { [member]: _gone, ...rest } = predicate;
      expect(await check({ ...STATEMENT, predicate: rest })).toBe("ATTESTATION_PREDICATE_MISMATCH");
      const changed = { ...predicate, [member]: "other" };
      expect(await check({ ...STATEMENT, predicate: changed })).toBe("ATTESTATION_PREDICATE_MISMATCH");
    }
    expect(await check({ ...STATEMENT, predicate: { ...predicate, note: "x" } })).toBe(
      "ATTESTATION_PREDICATE_MISMATCH",
    );
    expect(await check({ ...STATEMENT, predicate: null })).toBe("ATTESTATION_PREDICATE_MISMATCH");
  });

  it("is ATTESTATION_PREDICATE_MISMATCH about a file that is no manifest", async () => {
    for (const manifest of [encodeUtf8("{"), bytesOf([]), bytesOf({ ...MANIFEST, run_id: new Float(1) })]) {
      const subject = [{ name: "bundle.json", digest: { sha256: nodeCrypto.sha256(manifest) } }];
      expect(await check({ ...STATEMENT, subject }, manifest)).toBe("ATTESTATION_PREDICATE_MISMATCH");
    }
  });

  it("is ATTESTATION_PREDICATE_MISMATCH when manifest and predicate lack the same member", async () => {
    const { run_id: _gone, ...manifest } = MANIFEST;
    const { run_id: _also, ...predicate } = STATEMENT["predicate"] as JsonObject;
    const bytes = bytesOf(manifest);
    const subject = [{ name: "bundle.json", digest: { sha256: nodeCrypto.sha256(bytes) } }];
    expect(await check({ ...STATEMENT, subject, predicate }, bytes)).toBe("ATTESTATION_PREDICATE_MISMATCH");
  });

  it("is ATTESTATION_INVALID when the payload is not a JSON object", async () => {
    for (const text of ["", "{", "[]", "null", '"x"', '{"_type":1,"_type":1}', "\ufeff{}"]) {
      expect(await check(encodeUtf8(text))).toBe("ATTESTATION_INVALID");
    }
  });

  it("never throws, whatever was signed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array(), fc.json().map(encodeUtf8)), fc.json(), async (payload, manifest) => {
        expect(await check(payload, encodeUtf8(manifest))).toMatch(/^ATTESTATION_/);
      }),
    );
  });

  it("of a vector without a readable envelope is ATTESTATION_INVALID", async () => {
    const bundle_json = formatCanonical(MANIFEST);
    for (const envelope of [null, {}, [], "x", { payload: "=", payloadType: "", signatures: [] }] as JsonValue[]) {
      const answer = await TRUST_AREAS["trust.attestation"]({ bundle_json, envelope }, { crypto: nodeCrypto });
      expect(answer).toEqual({ code: "ATTESTATION_INVALID" });
    }
  });
});
