import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { webCrypto } from "../../adapters/crypto/web-crypto.ts";
import { encodeUtf8, Float, type JsonObject, type JsonValue } from "../canonical/index.ts";
import { isVerbatimError } from "../errors/index.ts";
import { TRUST_AREAS } from "./conformance.ts";
import {
  type Envelope,
  encodeBase64,
  evaluateBundleTrust,
  evaluateTrust,
  formatBundleStatement,
  PAYLOAD_TYPES,
  parsePolicy,
  parsePublicKey,
  readAttestation,
  SCOPES,
  type Scope,
  type SigningKey,
  signEnvelope,
  toEnvelopeFile,
  toPublicKey,
  toSigningKey,
} from "./index.ts";

const [A, B, C] = (await Promise.all([1, 2, 3].map((i) => toSigningKey(nodeCrypto, new Uint8Array(32).fill(i))))) as [
  SigningKey,
  SigningKey,
  SigningKey,
];
const PAYLOAD = encodeUtf8("{}");

function pinned(key: SigningKey, change: JsonObject = {}): JsonObject {
  const { key_id, public_key } = key;
  return { key_id, public_key, name: "someone", scopes: ["BUNDLE"], enabled: true, ...change };
}

const policyOf = (keys: readonly JsonValue[], threshold: JsonValue = 1): JsonObject => ({
  policy_version: "1.0.0",
  threshold,
  keys,
});

async function envelopeBy(keys: readonly SigningKey[], type: string = PAYLOAD_TYPES.BUNDLE): Promise<Envelope> {
  const signed = await Promise.all(keys.map((key) => signEnvelope(key, type, PAYLOAD)));
  return { payload: encodeBase64(PAYLOAD), payloadType: type, signatures: signed.flatMap((one) => one.signatures) };
}

async function judge(policy: JsonValue, envelope: Envelope | JsonValue, scope: Scope = "BUNDLE", crypto = nodeCrypto) {
  return evaluateTrust(crypto, await parsePolicy(crypto, policy), scope, readAttestation(envelope as JsonValue));
}

describe("public keys", () => {
  it("are 64 lower-case hex digits and are named by the hash of their bytes", async () => {
    const raw = parsePublicKey(A.public_key);
    expect(await toPublicKey(webCrypto, raw)).toEqual({ key_id: nodeCrypto.sha256(raw), public_key: A.public_key });
    for (const bad of ["", "ab", A.public_key.toUpperCase(), `${A.public_key}00`, "g".repeat(64)]) {
      expect(() => parsePublicKey(bad)).toThrowError(expect.objectContaining({ code: "KEY_INVALID" }));
    }
    await expect(toPublicKey(nodeCrypto, new Uint8Array(31))).rejects.toMatchObject({ code: "KEY_INVALID" });
    await expect(toSigningKey(nodeCrypto, new Uint8Array(33))).rejects.toMatchObject({ code: "KEY_INVALID" });
  });

  it("sign with the seed they were made of, whatever happens to it later", async () => {
    const seed = new Uint8Array(32).fill(1);
    const key = await toSigningKey(nodeCrypto, seed);
    seed.fill(0);
    expect(await key.sign(PAYLOAD)).toEqual(await A.sign(PAYLOAD));
  });
});

describe("reading a policy", () => {
  it("takes keys of all scopes, and no keys at all", async () => {
    const policy = policyOf(
      [pinned(A, { scopes: ["PROOF", "BUNDLE", "CHECKPOINT"] }), pinned(B, { enabled: false })],
      2,
    );
    expect(await parsePolicy(nodeCrypto, policy)).toEqual(policy);
    expect(await parsePolicy(webCrypto, policyOf([]))).toEqual(policyOf([]));
  });

  it.each<[string, string, JsonValue]>([
    ["", "a list", []],
    ["", "null", null],
    ["", "a text", "policy"],
    ["/policy_version", "another version", { ...policyOf([]), policy_version: "1.0.1" }],
    ["/policy_version", "a number", { ...policyOf([]), policy_version: 1 }],
    ["/extra", "an extra member", { ...policyOf([]), extra: 1 }],
    ["/threshold", "zero", policyOf([], 0)],
    ["/threshold", "a negative number", policyOf([], -1)],
    ["/threshold", "a negative BigInt", policyOf([], -(2n ** 70n))],
    ["/threshold", "a float", policyOf([], new Float(1))],
    ["/threshold", "a fraction", policyOf([], 1.5)],
    ["/threshold", "a text", policyOf([], "1")],
    ["/threshold", "true", policyOf([], true)],
    ["/threshold", "null", policyOf([], null)],
    ["/keys", "an object", { ...policyOf([]), keys: {} }],
    ["/keys/0", "a text as key", policyOf([A.key_id])],
    ["/keys/0/extra", "an extra member of a key", policyOf([pinned(A, { extra: 1 })])],
    ["/keys/0/name", "a number as name", policyOf([pinned(A, { name: 5 })])],
    ["/keys/0/enabled", "1 as enabled", policyOf([pinned(A, { enabled: 1 })])],
    ["/keys/0/enabled", "a text as enabled", policyOf([pinned(A, { enabled: "true" })])],
    ["/keys/0/scopes", "no scopes", policyOf([pinned(A, { scopes: [] })])],
    ["/keys/0/scopes", "an unknown scope", policyOf([pinned(A, { scopes: ["BUNDLE", "bundle"] })])],
    ["/keys/0/scopes", "a scope twice", policyOf([pinned(A, { scopes: ["BUNDLE", "BUNDLE"] })])],
    ["/keys/0/scopes", "a text as scopes", policyOf([pinned(A, { scopes: "BUNDLE" })])],
    ["/keys/0/scopes", "a list in the scopes", policyOf([pinned(A, { scopes: [["BUNDLE"]] })])],
    ["/keys/0/public_key", "upper-case hex", policyOf([pinned(A, { public_key: A.public_key.toUpperCase() })])],
    ["/keys/0/public_key", "a short key", policyOf([pinned(A, { public_key: A.public_key.slice(2) })])],
    ["/keys/0/public_key", "base64", policyOf([pinned(A, { public_key: encodeBase64(PAYLOAD) })])],
    ["/keys/0/key_id", "another key's id", policyOf([pinned(A, { key_id: B.key_id })])],
    ["/keys/0/key_id", "an upper-case id", policyOf([pinned(A, { key_id: A.key_id.toUpperCase() })])],
    ["/keys/1/key_id", "a key twice", policyOf([pinned(A), pinned(A, { name: "other", scopes: ["PROOF"] })])],
  ])("refuses %s: %s", async (pointer, _what, value) => {
    await expect(parsePolicy(nodeCrypto, value)).rejects.toMatchObject({
      code: "TRUST_POLICY_INVALID",
      exit: 2,
      details: { problems: expect.arrayContaining([expect.objectContaining({ pointer })]) },
    });
  });

  it("refuses a policy or a key without one of its members", async () => {
    for (const member of ["policy_version", "threshold", "keys"]) {
      const { [member]: _gone, ...rest } = policyOf([pinned(A)]);
      await expect(parsePolicy(nodeCrypto, rest)).rejects.toMatchObject({ code: "TRUST_POLICY_INVALID" });
    }
    for (const member of ["key_id", "public_key", "name", "scopes", "enabled"]) {
      const { [member]: _gone, ...rest } = pinned(A);
      await expect(parsePolicy(nodeCrypto, policyOf([rest]))).rejects.toMatchObject({ code: "TRUST_POLICY_INVALID" });
    }
  });

  it("names every problem", async () => {
    const bad = policyOf([pinned(A, { enabled: 0 }), pinned(B, { name: null })], 0);
    await expect(parsePolicy(nodeCrypto, bad)).rejects.toMatchObject({
      details: {
        problems: [
          { code: "FIELD_VALUE", pointer: "/threshold" },
          { code: "FIELD_TYPE", pointer: "/keys/0/enabled" },
          { code: "FIELD_TYPE", pointer: "/keys/1/name" },
        ],
      },
    });
  });

  it("of any kind is a policy or a coded refusal", async () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true });
    const member = fc.oneof(anything, fc.constantFrom(A.key_id, A.public_key, B.public_key), fc.boolean());
    const key = fc.record({ key_id: member, public_key: member, name: member, scopes: member, enabled: member });
    const keys = fc.oneof(anything, fc.array(fc.oneof(anything, key)));
    const shaped = fc.record({ policy_version: fc.constant("1.0.0"), threshold: member, keys }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(fc.oneof(anything, shaped), async (value) => {
        const thrown: unknown = await parsePolicy(nodeCrypto, value as JsonValue).catch((error: unknown) => error);
        if (thrown instanceof Error) expect(isVerbatimError(thrown) && thrown.code).toBe("TRUST_POLICY_INVALID");
      }),
    );
  });
});

describe("judging trust", () => {
  it("trusts when enough distinct keys signed", async () => {
    const both = [A.key_id, B.key_id].sort();
    const policy = policyOf([pinned(A), pinned(B)], 2);
    const expected = { verdict: "TRUSTED", code: null, exit: 0, valid_keys: both, threshold: 2 };
    expect(await judge(policy, await envelopeBy([B, A]))).toEqual(expected);
    expect(await judge(policy, await envelopeBy([A, B, C]))).toEqual(expected);
    const attestation = readAttestation(toEnvelopeFile(await envelopeBy([A, B])));
    expect(await evaluateTrust(webCrypto, await parsePolicy(webCrypto, policy), "BUNDLE", attestation)).toEqual(
      expected,
    );
  });

  it.each(SCOPES)("wants the payload type of the scope %s", async (scope) => {
    const policy = policyOf([pinned(A, { scopes: [...SCOPES] })]);
    for (const other of SCOPES) {
      const result = await judge(policy, await envelopeBy([A], PAYLOAD_TYPES[other]), scope);
      // Statements about bundles and about commits differ in what they say they are.
      expect(result.code).toBe(PAYLOAD_TYPES[other] === PAYLOAD_TYPES[scope] ? null : "ATTESTATION_TYPE");
    }
  });

  it("says which rule failed first, in the order of the rules", async () => {
    const untrusted = (code: string) =>
      expect.objectContaining({ verdict: "UNTRUSTED", code, exit: 1, valid_keys: [] });
    const one = policyOf([pinned(A)]);
    const signed = await envelopeBy([A]);
    for (const envelope of [null, signed, "garbage"]) {
      expect(await judge(policyOf([]), envelope)).toEqual(untrusted("TRUST_NO_KEYS"));
      expect(await judge(policyOf([], 2n ** 80n), envelope)).toEqual(untrusted("TRUST_NO_KEYS"));
      expect(await judge(policyOf([pinned(A, { enabled: false })]), envelope)).toEqual(untrusted("TRUST_NO_KEYS"));
      expect(await judge(one, envelope, "PROOF")).toEqual(untrusted("TRUST_NO_KEYS"));
      expect(await judge(policyOf([pinned(A)], 2), envelope)).toEqual(untrusted("TRUST_THRESHOLD_UNREACHABLE"));
      const huge = await judge(policyOf([pinned(A)], 2n ** 80n), envelope);
      expect(huge).toEqual(untrusted("TRUST_THRESHOLD_UNREACHABLE"));
      expect(huge.threshold).toBe(Number.MAX_SAFE_INTEGER);
    }
    expect(await judge(one, null)).toMatchObject({
      verdict: "UNSIGNED",
      code: "TRUST_UNSIGNED",
      exit: 1,
      threshold: 1,
    });
    for (const bad of ["garbage", [], {}, { ...signed, extra: 1 }, { ...signed, payloadType: "x", payload: "=" }]) {
      expect(await judge(one, bad)).toEqual(untrusted("ATTESTATION_INVALID"));
    }
    expect(await judge(one, { ...signed, payloadType: "x" })).toEqual(untrusted("ATTESTATION_TYPE"));
    expect(await judge(one, { ...signed, signatures: [] })).toEqual(untrusted("TRUST_THRESHOLD_NOT_MET"));
  });

  it("counts keys with the scope that are enabled, when it asks whether the threshold can be met", async () => {
    const policy = policyOf([pinned(A), pinned(B, { enabled: false }), pinned(C, { scopes: ["PROOF"] })], 2);
    expect(await judge(policy, await envelopeBy([A, B, C]))).toMatchObject({ code: "TRUST_THRESHOLD_UNREACHABLE" });
  });

  it("never counts a key twice", async () => {
    const policy = policyOf([pinned(A), pinned(B)], 2);
    const { signatures, ...rest } = await envelopeBy([A]);
    const { sig } = signatures[0]!;
    const copies = [
      [{ sig }, { sig }, { keyid: "", sig }],
      [
        { keyid: A.key_id, sig },
        { keyid: B.key_id, sig },
      ],
      [{ keyid: A.key_id, sig }, { sig }],
    ];
    for (const repeated of copies) {
      const result = await judge(policy, { ...rest, signatures: repeated });
      expect(result).toMatchObject({ code: "TRUST_THRESHOLD_NOT_MET", valid_keys: [A.key_id] });
    }
  });

  it("takes a keyid as a hint: absent or empty means any key, another key's name means that key", async () => {
    const policy = policyOf([pinned(A), pinned(B)]);
    const { signatures, ...rest } = await envelopeBy([A]);
    const { sig } = signatures[0]!;
    const codeFor = async (signature: JsonObject) =>
      (await judge(policy, { ...rest, signatures: [signature] } as unknown as JsonValue)).code;
    expect(await codeFor({ sig })).toBeNull();
    expect(await codeFor({ keyid: "", sig })).toBeNull();
    for (const keyid of [B.key_id, C.key_id, A.key_id.toUpperCase(), ` ${A.key_id}`, A.public_key, "__proto__"]) {
      expect(await codeFor({ keyid, sig })).toBe("TRUST_THRESHOLD_NOT_MET");
    }
  });

  it("lets bad signatures count for nothing and spoil nothing", async () => {
    const policy = policyOf([pinned(A)]);
    const { signatures, ...rest } = await envelopeBy([A]);
    const { sig } = signatures[0]!;
    const bad = [
      { keyid: A.key_id, sig: "" },
      { keyid: A.key_id, sig: "!!!" },
      { keyid: A.key_id, sig: sig.slice(0, -4) },
      { keyid: A.key_id, sig: sig.replace("==", "") },
      { keyid: A.key_id, sig: encodeBase64(new Uint8Array(64)) },
      { sig: encodeBase64(new Uint8Array(65)) },
      { keyid: "nobody", sig },
    ];
    const none = await judge(policy, { ...rest, signatures: bad });
    expect(none).toMatchObject({ code: "TRUST_THRESHOLD_NOT_MET", valid_keys: [] });
    const one = await judge(policy, { ...rest, signatures: [...bad, ...signatures] });
    expect(one).toMatchObject({ verdict: "TRUSTED", valid_keys: [A.key_id] });
  });

  it("fails when payload or type was changed after signing", async () => {
    const policy = policyOf([pinned(A, { scopes: [...SCOPES] })]);
    const signed = await envelopeBy([A]);
    const payload = encodeBase64(encodeUtf8("[]"));
    expect(await judge(policy, { ...signed, payload })).toMatchObject({ code: "TRUST_THRESHOLD_NOT_MET" });
    const relabelled = { ...signed, payloadType: PAYLOAD_TYPES.PROOF };
    expect(await judge(policy, relabelled, "PROOF")).toMatchObject({ code: "TRUST_THRESHOLD_NOT_MET" });
  });

  it("says without a policy that nobody's signature was checked", async () => {
    const none = { code: null, exit: 0, valid_keys: [], threshold: null };
    const attestation = readAttestation((await envelopeBy([A])) as unknown as JsonValue);
    expect(await evaluateTrust(nodeCrypto, null, "BUNDLE", attestation)).toEqual({ verdict: "UNCHECKED", ...none });
    expect(await evaluateTrust(nodeCrypto, null, "BUNDLE", "MALFORMED")).toEqual({ verdict: "UNCHECKED", ...none });
    expect(await evaluateTrust(nodeCrypto, null, "BUNDLE", null)).toEqual({ verdict: "UNSIGNED", ...none });
  });
});

describe("judging a bundle", () => {
  const manifest = encodeUtf8(
    '{"bundle_id":"b","bundle_version":"5.0.0","hashes":{"root_hash":"h"},"job_id":"j","message_id":"m","plan_hash":"p","run_id":"r"}\n',
  );

  it("trusts it when the policy is met and the statement fits", async () => {
    const policy = await parsePolicy(nodeCrypto, policyOf([pinned(A)]));
    const statement = encodeUtf8(await formatBundleStatement(nodeCrypto, manifest));
    const signed = await signEnvelope(A, PAYLOAD_TYPES.BUNDLE, statement);
    const attestation = readAttestation(signed as unknown as JsonValue);
    const judged = (bytes: Uint8Array) => evaluateBundleTrust(nodeCrypto, policy, attestation, bytes);
    expect(await judged(manifest)).toMatchObject({ verdict: "TRUSTED", code: null, exit: 0 });
    expect(await judged(encodeUtf8("{}"))).toEqual({
      verdict: "UNTRUSTED",
      code: "ATTESTATION_SUBJECT_MISMATCH",
      exit: 1,
      valid_keys: [A.key_id],
      threshold: 1,
    });
    expect(await evaluateBundleTrust(nodeCrypto, policy, null, manifest)).toMatchObject({ verdict: "UNSIGNED" });
    expect(await evaluateBundleTrust(nodeCrypto, null, attestation, manifest)).toMatchObject({ verdict: "UNCHECKED" });
  });
});

describe("vectors nobody published", () => {
  const ask = TRUST_AREAS["trust.policy"];

  it("get an answer for a bad policy and without a policy", async () => {
    const envelope = (await envelopeBy([A])) as unknown as JsonValue;
    const invalid = { verdict: "UNTRUSTED", code: "TRUST_POLICY_INVALID", exit: 2, valid_keys: [] };
    for (const policy of [[], {}, "none", policyOf([pinned(A)], new Float(1))] as JsonValue[]) {
      expect(await ask({ envelope, policy, scope: "BUNDLE" }, { crypto: nodeCrypto })).toEqual(invalid);
      expect(await ask({ envelope: null, policy, scope: "BUNDLE" }, { crypto: nodeCrypto })).toEqual(invalid);
    }
    for (const nothing of [{}, { policy: null }]) {
      const answer = await ask({ envelope, scope: "BUNDLE", ...nothing }, { crypto: nodeCrypto });
      expect(answer).toMatchObject({ verdict: "UNCHECKED", exit: 0 });
    }
    const policy = policyOf([pinned(A)]);
    const answer = await ask({ envelope, policy, scope: "WORLD" }, { crypto: nodeCrypto });
    expect(answer).toMatchObject({ code: "TRUST_NO_KEYS" });
  });

  it("of the other areas refuse what they cannot read", async () => {
    const ports = { crypto: nodeCrypto };
    const codeOf = async (run: () => unknown): Promise<unknown> => {
      try {
        return await run();
      } catch (thrown) {
        return isVerbatimError(thrown) ? thrown.code : thrown;
      }
    };
    expect(await codeOf(() => TRUST_AREAS["trust.key-id"]({ public_key: "AB" }, ports))).toBe("KEY_INVALID");
    expect(await codeOf(() => TRUST_AREAS["trust.policy"]({ scope: 7 }, ports))).toBe("INPUT_INVALID");
    expect(await TRUST_AREAS["trust.policy"]({ scope: "BUNDLE" }, ports)).toMatchObject({ verdict: "UNSIGNED" });
    expect(await TRUST_AREAS["trust.attestation"]({}, ports)).toEqual({ code: "ATTESTATION_INVALID" });
    const unreadable: JsonObject[] = [
      {},
      { payload_type: "x", payload_b64: "e30" },
      { payload_type: 1, payload_b64: "" },
    ];
    for (const input of unreadable) expect(await codeOf(() => TRUST_AREAS["trust.pae"](input))).toBe("INPUT_INVALID");
    const sign = (seed_hex: string) =>
      TRUST_AREAS["trust.sign"]({ payload_type: "x", payload_b64: "", seed_hex }, ports);
    expect(await codeOf(() => sign("zz"))).toBe("INPUT_INVALID");
    expect(await codeOf(() => sign("00"))).toBe("KEY_INVALID");
  });
});
