// Who made an exported file: what a signature vouches for, and everything that is not believed without one.
import { createPublicKey, verify as verifyBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { encodeUtf8, formatCanonical, type JsonObject } from "../../src/core/canonical/index.ts";
import {
  checkBundleStatement,
  type Envelope,
  openEnvelope,
  type Scope,
  type SigningKey,
  STATEMENT_PAYLOAD_TYPE,
  signEnvelope,
  type TrustPolicy,
  toSigningKey,
} from "../../src/core/trust/index.ts";
import { signExport } from "../../src/rooms/world/history/export-signature.ts";
import { verifyExport } from "../../src/rooms/world/history/exported-file.ts";
import { exportWorld, importWorld } from "../../src/rooms/world/history/history.ts";
import { formatWorldFile } from "../../src/rooms/world/history/world-file.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { exportView } from "../../src/rooms/world/projection/view-export.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

let worlds: TestWorlds;
let key: SigningKey;
let other: SigningKey;
/** The lines of exports nobody signed. */
let full: readonly string[];
let view: readonly string[];

beforeAll(async () => {
  worlds = await openWorlds({ models: new ListedModel(says("ANA", "Good morning.")) });
  const id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  await worlds.beats.invoke(id, envelope("r1", "Hello."));
  key = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(1));
  other = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(2));
  full = await exportWorld(worlds.ports, id);
  view = await exportView(worlds.ports, id, "ANA");
});

afterAll(async () => worlds[Symbol.asyncDispose]());

const toText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

function trusting(keys: readonly SigningKey[], threshold = 1, scopes: readonly Scope[] = ["BUNDLE"]): TrustPolicy {
  const listed = keys.map(({ key_id, public_key }) => ({ key_id, public_key, name: "ci", scopes, enabled: true }));
  return { policy_version: "1.0.0", threshold, keys: listed };
}

const judge = (lines: readonly string[], policy: TrustPolicy | null) =>
  verifyExport(worlds.ports, toText(lines), policy);

/** The lines with another signature in their manifest. */
function withSignature(lines: readonly string[], signature: unknown): string[] {
  const manifest = { ...(JSON.parse(lines.at(-1)!) as JsonObject), signature } as JsonObject;
  return [...lines.slice(0, -1), formatCanonical(manifest)];
}

const signatureOf = (lines: readonly string[]): Envelope =>
  (JSON.parse(lines.at(-1)!) as { readonly signature: Envelope }).signature;

const codes = async (lines: readonly string[], policy: TrustPolicy | null): Promise<string[]> =>
  (await judge(lines, policy)).findings.map(({ code }) => code);

describe("an export nobody signed", () => {
  it("has the bytes it always had", () => {
    const header = { format: "verbatim.world", version: 1, world_id: "w_small", title: "Small", exported_at: "x" };
    const none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const section = `{"count":0,"sha256":"${none}"}`;
    const lines = formatWorldFile(nodeCrypto, { header, records: [], outcomes: [], blobs: [] });
    expect(lines).toEqual([
      '{"exported_at":"x","format":"verbatim.world","title":"Small","type":"header","version":1,"world_id":"w_small"}',
      `{"file_sha256":"e22aeca23bf86fca065a66ca6774be1a9e9e6a031b6e558c39d229fba878d9e1","head_hash":null,"sections":{"blob":${section},"outcome":${section},"record":${section}},"type":"manifest"}`,
    ]);
  });

  it.each(["full", "view"])("is UNSIGNED, which only a policy minds (%s)", async (kind) => {
    const lines = kind === "full" ? full : view;
    expect(await judge(lines, null)).toMatchObject({ trust: { verdict: "UNSIGNED", code: null }, findings: [] });
    const minded = await judge(lines, trusting([key]));
    expect(minded).toMatchObject({
      trust: { verdict: "UNSIGNED", code: "TRUST_UNSIGNED" },
      findings: [{ code: "TRUST_UNSIGNED" }],
    });
  });
});

describe.each(["full", "view"] as const)("a signed export (%s)", (kind) => {
  const unsigned = (): readonly string[] => (kind === "full" ? full : view);
  const signed = (by: SigningKey = key) => signExport(unsigned(), by);

  it("differs from the unsigned one in its manifest only, by the signature only", async () => {
    const lines = await signed();
    expect(lines.slice(0, -1)).toEqual(unsigned().slice(0, -1));
    const { signature: _, ...manifest } = JSON.parse(lines.at(-1)!) as JsonObject;
    expect(formatCanonical(manifest)).toBe(unsigned().at(-1));
  });

  it("carries a DSSE envelope over a statement that anybody can check", async () => {
    const lines = await signed();
    const { payload, payloadType, signatures } = signatureOf(lines);
    const body = Buffer.from(payload, "base64");
    const message = Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${body.length} ${body.toString("utf8")}`);
    const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(key.public_key, "hex").toString("base64url") };
    const publicKey = createPublicKey({ key: jwk, format: "jwk" });
    expect(payloadType).toBe("application/vnd.in-toto+json");
    expect(signatures).toHaveLength(1);
    expect(verifyBytes(null, message, publicKey, Buffer.from(signatures[0]!.sig, "base64"))).toBe(true);
    const statement = JSON.parse(body.toString("utf8")) as JsonObject;
    expect(statement).toEqual({
      _type: "https://in-toto.io/Statement/v1",
      subject: [
        { name: "w_harbour.vworld.jsonl", digest: { sha256: nodeCrypto.sha256(toText(unsigned().slice(0, -1))) } },
      ],
      predicateType: "urn:verbatim:predicate:world-export:v1",
      predicate: {
        format: kind === "full" ? "verbatim.world" : "verbatim.world-view",
        world_id: "w_harbour",
        viewer: kind === "full" ? null : "ANA",
        manifest: JSON.parse(unsigned().at(-1)!) as JsonObject,
      },
    });
  });

  it("is TRUSTED by a policy with its key, UNCHECKED without one, UNTRUSTED by others", async () => {
    const lines = await signed();
    const trusted = await judge(lines, trusting([key]));
    expect(trusted).toMatchObject({ findings: [], trust: { verdict: "TRUSTED", valid_keys: [key.key_id] } });
    const unchecked = await judge(lines, null);
    expect(unchecked).toMatchObject({
      findings: [],
      trust: { verdict: "UNCHECKED", code: null, named_keys: [key.key_id], valid_keys: [] },
    });
    expect(await judge(lines, trusting([other]))).toMatchObject({
      trust: { verdict: "UNTRUSTED", code: "TRUST_THRESHOLD_NOT_MET", valid_keys: [] },
      findings: [{ code: "TRUST_THRESHOLD_NOT_MET" }],
    });
    expect(await codes(lines, trusting([key, other], 2))).toEqual(["TRUST_THRESHOLD_NOT_MET"]);
    expect(await codes(lines, trusting([key], 1, ["CHECKPOINT"]))).toEqual(["TRUST_NO_KEYS"]);
  });

  it("is not believed when a signature in a trusted name is somebody else's", async () => {
    const forged = await signed(other);
    const { signatures, ...rest } = signatureOf(forged);
    const lines = withSignature(forged, { ...rest, signatures: [{ ...signatures[0]!, keyid: key.key_id }] });
    expect(await codes(lines, trusting([key]))).toEqual(["TRUST_THRESHOLD_NOT_MET", "WORLD_SIGNATURE_INVALID"]);
    // With enough good signatures a bad one spoils nothing.
    const good = signatureOf(await signed());
    const both = withSignature(lines, { ...good, signatures: [...signatureOf(lines).signatures, ...good.signatures] });
    expect(await judge(both, trusting([key]))).toMatchObject({ findings: [], trust: { verdict: "TRUSTED" } });
  });

  it.each([
    ["about another file", "ATTESTATION_SUBJECT_MISMATCH"],
    ["of a bundle", "ATTESTATION_TYPE"],
    ["of another payload type", "ATTESTATION_TYPE"],
    ["that says more than the manifest", "ATTESTATION_PREDICATE_MISMATCH"],
    ["over something that is no statement", "ATTESTATION_INVALID"],
    ["by nobody", "ATTESTATION_INVALID"],
    ["that is no envelope", "ATTESTATION_INVALID"],
  ])("is refused with a signature %s, also without a policy", async (what, code) => {
    const statement = JSON.parse(Buffer.from(signatureOf(await signed()).payload, "base64").toString()) as JsonObject;
    const sign = (body: object | string, type = STATEMENT_PAYLOAD_TYPE) =>
      signEnvelope(key, type, encodeUtf8(typeof body === "string" ? body : formatCanonical(body as JsonObject)));
    const made: Readonly<Record<string, () => Promise<unknown>>> = {
      "about another file": async () => signatureOf(await signExport(kind === "full" ? view : full, key)),
      "of a bundle": () => sign({ ...statement, predicateType: "urn:verbatim:predicate:bundle:v1" }),
      "of another payload type": () => sign(statement, "application/vnd.verbatim.checkpoint.v1+json"),
      "that says more than the manifest": () =>
        sign({ ...statement, predicate: { ...(statement["predicate"] as JsonObject), approved: true } }),
      "over something that is no statement": () => sign("hello"),
      "by nobody": async () => ({ ...(await sign(statement)), signatures: [] }),
      "that is no envelope": async () => "c2lnbmVk",
    };
    const lines = withSignature(unsigned(), await made[what]!());
    for (const policy of [null, trusting([key])]) {
      expect((await codes(lines, policy))[0]).toBe(code);
      expect((await judge(lines, policy)).trust?.verdict).toBe("UNTRUSTED");
    }
  });

  it("is not trusted any more when a line was changed, whoever signed it", async () => {
    const lines = (await signed()).map((line) => line.replace("Good morning.", "Good evening."));
    const report = await judge(lines, trusting([key]));
    expect(report.trust).toMatchObject({ verdict: "UNTRUSTED", code: "ATTESTATION_SUBJECT_MISMATCH" });
    expect(report.findings.map(({ code }) => code)).toContain("WORLD_FILE_HASH_MISMATCH");
  });

  it("is no attestation of a bundle", async () => {
    const attestation = openEnvelope(signatureOf(await signed()) as unknown as JsonObject);
    const code = await checkBundleStatement(nodeCrypto, attestation, encodeUtf8(unsigned().at(-1)!));
    expect(code).toBe("ATTESTATION_TYPE");
  });

  it("shows every changed byte to whoever has the key", async () => {
    const bytes = encodeUtf8(toText(await signed()));
    const policy = trusting([key]);
    const missed: number[] = [];
    // Many bytes before the manifest and more of the manifest; a world is replayed each time and has to do with fewer.
    const manifest = bytes.lastIndexOf(10, bytes.length - 2) + 1;
    for (let i = 0; i < bytes.length; i += (i < manifest ? 19 : 1) * (kind === "view" ? 1 : 5)) {
      const changed = Uint8Array.from(bytes);
      changed[i]! ^= 1;
      const text = new TextDecoder().decode(changed);
      if ((await verifyExport(worlds.ports, text, policy)).findings.length === 0) missed.push(i);
    }
    expect(missed).toEqual([]);
  });
});

describe("the import of a signed world", () => {
  it("takes what the policy trusts, and a file nobody checked without one", async () => {
    const text = toText(await signExport(full, key));
    await using here = await openWorlds();
    expect((await importWorld(here.ports, text, null, false, trusting([key]))).world_id).toBe("w_harbour");
    expect((await importWorld(here.ports, text, "w_second")).world_id).toBe("w_second");
  });

  it.each([
    ["unsigned", async () => full, true],
    ["signed by a stranger", () => signExport(full, other), true],
    [
      "with the signature of another file",
      async () => withSignature(full, signatureOf(await signExport(view, key))),
      false,
    ],
    [
      "with a signature that is none",
      async () => withSignature(full, { payload: "", payloadType: "", signatures: [] }),
      false,
    ],
  ])("refuses a file %s and writes nothing", async (_, make, needsPolicy) => {
    const text = toText(await make());
    await using here = await openWorlds();
    for (const policy of needsPolicy ? [trusting([key])] : [trusting([key]), null]) {
      const refused = importWorld(here.ports, text, null, false, policy);
      await expect(refused).rejects.toMatchObject({ code: "IMPORT_VERIFY_FAILED" });
    }
    expect(await here.ports.store.read((tx) => tx.ledger.size())).toBe(0);
    expect(await here.ports.store.read((tx) => tx.world.list())).toEqual([]);
  });
});
