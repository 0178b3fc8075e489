import { describe, expect, it } from "vitest";
import { sampleBundle } from "../../../../test/support/sample-bundle.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import {
  formatBundleStatement,
  STATEMENT_PAYLOAD_TYPE,
  signEnvelope,
  type TrustPolicy,
  toEnvelopeFile,
  toSigningKey,
} from "../../../core/trust/index.ts";
import type { BundleFiles, ManifestRead } from "./bundle-files.ts";
import { loadManifest, toInvalidReport, verifyBundle } from "./bundle-verify.ts";
import { openMemoryBundle } from "./memory-bundle.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const open = (files = sampleBundle()) => openMemoryBundle(nodeCrypto, { files });
const INTACT = "these files are exactly the ones this manifest lists, and the manifest matches its own bundle_id";
const BOUNDED = "every artifact is bounded and belongs to a step";
const WHOLE = "every step has its artifact, and nothing else is in the folder";
const ORIGIN = "that the text came from any particular repository, or is current";
const RAN = "that the job ran, or that nothing else was shown to the agent";

describe("a manifest", () => {
  const withRead = (read: ManifestRead): BundleFiles => ({ ...open(), readManifest: async () => read });

  it.each([
    ["missing", "MANIFEST_MISSING"],
    ["not-regular", "MANIFEST_NOT_REGULAR"],
    ["unreadable", "MANIFEST_UNREADABLE"],
    ["too-large", "MANIFEST_TOO_LARGE"],
  ] as const)("that is %s is invalid input", async (problem, code) => {
    const report = await verifyBundle(nodeCrypto, withRead({ problem }), { mode: "default" });
    expect(report).toMatchObject({ ok: false, exit_code: 2, problems: [{ code, pointer: "" }] });
  });

  it.each(["", "{", '{"a":1,"a":2}', "[1,]"])("that is the text %j is invalid input", async (text) => {
    const loaded = await loadManifest(withRead({ bytes: utf8(text) }), "default");
    expect(loaded).toMatchObject({
      problems: [{ code: "MANIFEST_JSON", pointer: "", json_code: expect.stringMatching(/^JSON_/) }],
    });
  });

  it("may have 64 MiB", async () => {
    const limits: number[] = [];
    const files: BundleFiles = {
      ...open(),
      readManifest: async (limit) => {
        limits.push(limit);
        return { problem: "too-large" };
      },
    };
    await loadManifest(files, "default");
    expect(limits).toEqual([67_108_864]);
  });

  it("with one problem of shape is invalid input", async () => {
    const text = new TextDecoder().decode(sampleBundle().get("bundle.json"));
    const wrong = withRead({ bytes: utf8(text.replace(/"job_id":"[^"]*"/, '"job_id":7')) });
    expect(await verifyBundle(nodeCrypto, wrong, { mode: "default" })).toMatchObject({
      ok: false,
      exit_code: 2,
      bundle_id: null,
      problems: [{ pointer: "/job_id" }],
    });
  });

  it("that was not read proves nothing", () => {
    expect(toInvalidReport("strict", [])).toEqual({
      ok: false,
      exit_code: 2,
      mode: "strict",
      bundle_id: null,
      root_hash: null,
      computed: { bundle_id: null, root_hash: null, plan_hash: null },
      counts: { steps: 0, artifacts: 0, bytes: 0 },
      problems: [],
      trust: { verdict: "UNSIGNED", code: null, valid_keys: [], threshold: null },
      proves: [],
      does_not_prove: ["anything: this is not a bundle"],
    });
  });
});

describe("a bundle", () => {
  it.each([
    ["missing", "ARTIFACT_MISSING"],
    ["not-regular", "ARTIFACT_NOT_REGULAR"],
    ["unreadable", "ARTIFACT_UNREADABLE"],
  ] as const)("with an artifact that is %s proves nothing", async (problem, code) => {
    const files: BundleFiles = { ...open(), inspect: async () => ({ problem }) };
    const report = await verifyBundle(nodeCrypto, files, { mode: "default" });
    expect(report).toMatchObject({
      ok: false,
      exit_code: 1,
      problems: expect.arrayContaining([expect.objectContaining({ code })]),
    });
  });

  it("that is intact proves that, and nothing about who made it", async () => {
    expect(await verifyBundle(nodeCrypto, open(), { mode: "default" })).toMatchObject({
      ok: true,
      exit_code: 0,
      problems: [],
      trust: { verdict: "UNSIGNED", code: null },
      proves: [INTACT, BOUNDED],
      does_not_prove: ["who made it: anyone can edit a bundle and compute new ids", ORIGIN, RAN],
    });
    expect((await verifyBundle(nodeCrypto, open(), { mode: "strict" })).proves).toEqual([INTACT, BOUNDED, WHOLE]);
  });

  it("that was changed proves nothing", async () => {
    const files = sampleBundle();
    files.delete([...files.keys()].find((path) => path.startsWith("artifacts/"))!);
    for (const mode of ["default", "strict"] as const) {
      expect(await verifyBundle(nodeCrypto, open(files), { mode })).toMatchObject({
        ok: false,
        exit_code: 1,
        proves: [],
      });
    }
  });

  it("is vouched for only by keys that a policy names, and only while it is intact", async () => {
    const key = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(7));
    const manifest = sampleBundle().get("bundle.json")!;
    const statement = utf8(await formatBundleStatement(nodeCrypto, manifest));
    const attestation = toEnvelopeFile(await signEnvelope(key, STATEMENT_PAYLOAD_TYPE, statement));
    const { key_id, public_key } = key;
    const policy: TrustPolicy = {
      policy_version: "1.0.0",
      threshold: 1,
      keys: [{ key_id, public_key, name: "mira", scopes: ["BUNDLE"], enabled: true }],
    };
    const mode = "default";
    expect(await verifyBundle(nodeCrypto, open(), { mode, attestation })).toMatchObject({
      ok: true,
      trust: { verdict: "UNCHECKED" },
      does_not_prove: [expect.stringContaining("no signature was checked"), ORIGIN, RAN],
    });
    expect(await verifyBundle(nodeCrypto, open(), { mode, attestation, policy })).toMatchObject({
      ok: true,
      exit_code: 0,
      trust: { verdict: "TRUSTED", code: null, valid_keys: [key_id], threshold: 1 },
      proves: [INTACT, BOUNDED, `the holders of the keys ${key_id} vouch for this bundle`],
      does_not_prove: ["that the text is true or current"],
    });
    expect(await verifyBundle(nodeCrypto, open(), { mode, policy })).toMatchObject({
      ok: false,
      exit_code: 1,
      problems: [],
      trust: { verdict: "UNSIGNED", code: "TRUST_UNSIGNED" },
      proves: [INTACT, BOUNDED],
    });
    const files = sampleBundle();
    files.delete([...files.keys()].find((path) => path.startsWith("artifacts/"))!);
    expect(await verifyBundle(nodeCrypto, open(files), { mode, attestation, policy })).toMatchObject({
      ok: false,
      trust: { verdict: "TRUSTED" },
      proves: [],
    });
  });
});
