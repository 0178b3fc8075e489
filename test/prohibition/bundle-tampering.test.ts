import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { formatCanonical, type JsonObject, parseJson, toCanonicalFile } from "../../src/core/canonical/index.ts";
import type { SyncCrypto } from "../../src/core/ports.ts";
import { type PolicyKey, signEnvelope, toEnvelopeFile, toSigningKey } from "../../src/core/trust/index.ts";
import { formatBundleStatement, STATEMENT_PAYLOAD_TYPE } from "../../src/core/trust/statement.ts";
import { toBundleId, toRootHash } from "../../src/rooms/jobs/bundle/bundle-hash.ts";
import { verifyBundle } from "../../src/rooms/jobs/bundle/bundle-verify.ts";
import { type MemoryTree, openMemoryBundle } from "../../src/rooms/jobs/bundle/memory-bundle.ts";
import { sampleBundle } from "../support/sample-bundle.ts";

/**
 * Nobody changes a bundle unnoticed: every flipped byte and every structural change is found, or stands in the list of
 * harmless ones with the reason.
 */

async function judge(tree: MemoryTree) {
  const files = openMemoryBundle(nodeCrypto, tree);
  const [lenient, strict] = [
    await verifyBundle(nodeCrypto, files, { mode: "default" }),
    await verifyBundle(nodeCrypto, files, { mode: "strict" }),
  ];
  return { lenient: lenient.exit_code, strict: strict.exit_code };
}

function flip(bytes: Uint8Array, at: number, mask: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = copy[at]! ^ mask;
  return copy;
}

/** Flips each of the eight bits of each byte and verifies in default mode: strict mode only adds checks. */
async function findUnnoticed(crypto: SyncCrypto, among = /./): Promise<{ flips: number; unnoticed: string[] }> {
  const unnoticed: string[] = [];
  let flips = 0;
  for (const [path, bytes] of sampleBundle()) {
    if (!among.test(path)) continue;
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        flips++;
        const files = sampleBundle().set(path, flip(bytes, at, 1 << bit));
        const { exit_code } = await verifyBundle(crypto, openMemoryBundle(crypto, { files }), { mode: "default" });
        if (exit_code === 0) unnoticed.push(`${path}@${at}.${bit}`);
      }
    }
  }
  return { flips, unnoticed };
}

const edit = (change: (files: Map<string, Uint8Array>) => void): MemoryTree => {
  const files = sampleBundle();
  change(files);
  return { files };
};

type Loose = JsonObject & { steps: JsonObject[]; artifacts: JsonObject[] };

const firstArtifact = [...sampleBundle().keys()].find((path) => path.startsWith("artifacts/"))!;
const manifestText = new TextDecoder().decode(sampleBundle().get("bundle.json"));

function swapArtifacts(files: Map<string, Uint8Array>): void {
  const [one, other] = [...files.keys()].filter((path) => path.startsWith("artifacts/"));
  const bytes = files.get(one!)!;
  files.set(one!, files.get(other!)!).set(other!, bytes);
}

describe("tampering with a bundle", () => {
  it("leaves the untouched sample valid in both modes", async () => {
    expect(await judge({ files: sampleBundle() })).toEqual({ lenient: 0, strict: 0 });
  });

  it("finds every flipped bit of every byte of every file, in default mode and so in strict mode", async () => {
    expect(await findUnnoticed(nodeCrypto)).toEqual({ flips: expect.any(Number) as number, unnoticed: [] });
  });

  it("is a campaign that can fail: a verifier that does not hash finds nothing in the artifacts", async () => {
    const declared = new Map(
      (JSON.parse(manifestText) as { artifacts: { path: string; sha256: string }[] }).artifacts.map(
        ({ path, sha256 }) => [sampleBundle().get(path)!.length, sha256],
      ),
    );
    // Says what the manifest says about anything that has the length of an artifact.
    const blind: SyncCrypto = {
      ...nodeCrypto,
      sha256: (data) => (typeof data === "string" ? undefined : declared.get(data.length)) ?? nodeCrypto.sha256(data),
    };
    const { unnoticed } = await findUnnoticed(blind, /^artifacts/);
    expect(unnoticed.length).toBeGreaterThan(100);
  });

  it.each<[string, MemoryTree, 0 | 1 | 2, 1 | 2]>([
    ["an artifact is dropped", edit((files) => files.delete(firstArtifact)), 1, 1],
    ["an artifact is emptied", edit((files) => files.set(firstArtifact, new Uint8Array())), 1, 1],
    [
      "an artifact is renamed",
      edit((files) => {
        files.set("artifacts/0000000000000000.txt", files.get(firstArtifact)!);
        files.delete(firstArtifact);
      }),
      1,
      1,
    ],
    [
      "an artifact gets Windows line ends",
      edit((files) => {
        const text = new TextDecoder().decode(files.get(firstArtifact)).replaceAll("\n", "\r\n");
        files.set(firstArtifact, new TextEncoder().encode(text));
      }),
      1,
      1,
    ],
    [
      "an artifact becomes a link",
      { files: edit((files) => files.delete(firstArtifact)).files, links: new Set([firstArtifact]) },
      1,
      1,
    ],
    ["the artifacts folder becomes a link", { files: sampleBundle(), links: new Set(["artifacts"]) }, 1, 1],
    ["the manifest becomes a link", { files: sampleBundle(), links: new Set(["bundle.json"]) }, 2, 2],
    ["the manifest is dropped", edit((files) => files.delete("bundle.json")), 2, 2],
    [
      "the manifest gets Windows line ends",
      edit((files) => files.set("bundle.json", new TextEncoder().encode(`${manifestText.trimEnd()}\r\n`))),
      0,
      1,
    ],
    ["a file is added", edit((files) => files.set("artifacts/extra.txt", new Uint8Array([10]))), 0, 1],
    ["an artifact is there twice", edit((files) => files.set("artifacts/copy.txt", files.get(firstArtifact)!)), 0, 1],
    ["a link is added", { files: sampleBundle(), links: new Set(["artifacts/link"]) }, 0, 1],
    ["two artifacts change places", edit(swapArtifacts), 1, 1],
    ["a folder is added", { files: sampleBundle(), folders: new Set(["notes"]) }, 0, 1],
    [
      "the manifest is pretty-printed",
      edit((files) =>
        files.set("bundle.json", new TextEncoder().encode(`${JSON.stringify(JSON.parse(manifestText), null, 1)}\n`)),
      ),
      0,
      1,
    ],
  ])("when %s: default %s", async (_, tree, lenient, strict) => {
    // Default mode is the protocol's ten steps: files it does not name and other spellings of the same manifest are
    // harmless to it, because every id is over the canonical form. Strict mode refuses them.
    expect(await judge(tree)).toEqual({ lenient, strict });
  });

  it.each<[string, (manifest: JsonObject) => void]>([
    ["steps are reordered", (manifest) => (manifest["steps"] as unknown[]).reverse()],
    ["a step is dropped", (manifest) => (manifest["steps"] as unknown[]).pop()],
    ["a step is doubled", (manifest) => (manifest["steps"] as unknown[]).push((manifest["steps"] as unknown[])[0])],
    ["artifacts are reordered", (manifest) => (manifest["artifacts"] as unknown[]).reverse()],
    ["an artifact is dropped", (manifest) => (manifest["artifacts"] as unknown[]).shift()],
    ["a field is added", (manifest) => Object.assign(manifest, { note: "x" })],
    ["a forbidden field is added", (manifest) => Object.assign(manifest, { cwd: "/home/mira" })],
  ])("when %s in the manifest and its ids are not recomputed, both modes refuse it", async (_, change) => {
    const manifest = JSON.parse(manifestText) as JsonObject;
    change(manifest);
    const verdict = await judge(edit((files) => files.set("bundle.json", toCanonicalFile(manifest))));
    expect(verdict.lenient).not.toBe(0);
    expect(verdict.strict).not.toBe(0);
  });

  /**
   * Whoever edits a bundle can compute new ids, so these are changed and sealed again. What default mode lets pass is
   * harmless to what it promises (the files are those the manifest names) and refused in strict mode, or it is another
   * good bundle: only a trusted signature tells those apart.
   */
  it.each<[string, (manifest: Loose) => void, 0 | 1 | 2, 0 | 1 | 2, string]>([
    ["steps are reordered", ({ steps }) => steps.reverse(), 1, 1, "order is checked"],
    ["artifacts are reordered", ({ artifacts }) => artifacts.reverse(), 1, 1, "order is checked"],
    ["a step is dropped", ({ steps }) => steps.pop(), 1, 1, "its artifact belongs to no step any more"],
    ["a step is doubled", ({ steps }) => steps.splice(1, 0, steps[0]!), 0, 1, "the doubled step reads the same text"],
    ["an artifact is dropped", ({ artifacts }) => artifacts.shift(), 0, 1, "no file is claimed that is not there"],
    ["an artifact is doubled", ({ artifacts }) => artifacts.splice(1, 0, artifacts[0]!), 0, 1, "the same file twice"],
    ["an artifact is renamed", ({ artifacts }) => (artifacts[0]!["path"] = "artifacts/x.txt"), 1, 1, "no such file"],
    ["an artifact gets another id", ({ artifacts }) => (artifacts[0]!["artifact_id"] = "0"), 0, 2, "an id is a name"],
    ["a slice is unbounded", ({ artifacts }) => (artifacts[0]!["slice"] = " all "), 1, 1, "boundedness is checked"],
    ["a size is changed", ({ artifacts }) => (artifacts[0]!["bytes"] = 1), 1, 1, "sizes are checked"],
    ["the plan hash is changed", (manifest) => (manifest["plan_hash"] = "0".repeat(64)), 0, 1, "not one of the ten"],
    [
      "inputs are emptied",
      (manifest) => (manifest["inputs"] = { files: [], slices: [], symbols: [] }),
      0,
      1,
      "a summary",
    ],
    ["a field is added", (manifest) => (manifest["note"] = "x"), 0, 2, "unknown fields are hashed, not judged"],
    ["a forbidden field is added", (manifest) => (manifest["cwd"] = "/home/mira"), 1, 1, "forbidden"],
    ["the run is another", (manifest) => (manifest["run_id"] = "other"), 0, 1, "plan_hash is over the run"],
    ["the job is another", (manifest) => (manifest["job_id"] = "job_other"), 0, 0, "another good bundle"],
  ])("when %s and the ids are computed anew", async (_, change, lenient, strict, _reason) => {
    const manifest = JSON.parse(manifestText) as Loose;
    change(manifest);
    const artifacts = manifest.artifacts as unknown as { artifact_id: string; sha256: string }[];
    manifest["hashes"] = { root_hash: await toRootHash(nodeCrypto, artifacts) };
    manifest["bundle_id"] = await toBundleId(nodeCrypto, manifest);
    const verdict = await judge(edit((files) => files.set("bundle.json", toCanonicalFile(manifest))));
    expect(verdict).toEqual({ lenient, strict });
  });

  it("finds ten thousand random mutations of the files", async () => {
    const paths = [...sampleBundle().keys()];
    const mutation = fc.record({
      path: fc.constantFrom(...paths),
      at: fc.nat(5000),
      kind: fc.constantFrom("set", "insert", "delete", "truncate", "swap"),
      byte: fc.nat(255),
    });
    let unnoticed = 0;
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
        const files = sampleBundle();
        for (const { path, at, kind, byte } of mutations) files.set(path, mutate(files.get(path)!, at, kind, byte));
        const same = [...sampleBundle()].every(([path, bytes]) => Buffer.from(bytes).equals(files.get(path)!));
        if (same) return;
        changed++;
        const { exit_code } = await verifyBundle(nodeCrypto, openMemoryBundle(nodeCrypto, { files }), {
          mode: "strict",
        });
        if (exit_code === 0) unnoticed++;
      }),
      { numRuns: 10_000, seed: 20250102 },
    );
    expect(unnoticed).toBe(0);
    expect(changed).toBeGreaterThan(9000);
  });

  it("an edited bundle with recomputed ids passes integrity but not trust", async () => {
    const key = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(7));
    const original = sampleBundle().get("bundle.json")!;
    const statement = new TextEncoder().encode(await formatBundleStatement(nodeCrypto, original));
    const attestation = toEnvelopeFile(await signEnvelope(key, STATEMENT_PAYLOAD_TYPE, statement));
    const { key_id, public_key } = key;
    const keys: PolicyKey[] = [{ key_id, public_key, name: "mira", scopes: ["BUNDLE"], enabled: true }];
    const policy = { policy_version: "1.0.0", threshold: 1, keys } as const;
    const forged = edit((files) => {
      files.set(firstArtifact, new TextEncoder().encode("something else entirely\n"));
    });
    const manifest = parseJson(manifestText) as JsonObject;
    const artifacts = manifest["artifacts"] as { path: string; sha256: string; bytes: number; artifact_id: string }[];
    const changed = artifacts.find(({ path }) => path === firstArtifact)!;
    changed.sha256 = nodeCrypto.sha256(forged.files.get(firstArtifact)!);
    changed.bytes = forged.files.get(firstArtifact)!.length;
    (manifest["hashes"] as { root_hash: string }).root_hash = await toRootHash(nodeCrypto, artifacts);
    manifest["bundle_id"] = await toBundleId(nodeCrypto, manifest);
    const files = new Map(forged.files).set("bundle.json", new TextEncoder().encode(`${formatCanonical(manifest)}\n`));
    const open = (tree: MemoryTree) => openMemoryBundle(nodeCrypto, tree);
    const alone = await verifyBundle(nodeCrypto, open({ files }), { mode: "strict" });
    expect([alone.ok, alone.trust.verdict]).toEqual([true, "UNSIGNED"]);
    const judged = await verifyBundle(nodeCrypto, open({ files }), { mode: "strict", attestation, policy });
    expect([judged.exit_code, judged.trust.verdict, judged.trust.code]).toEqual([
      1,
      "UNTRUSTED",
      "ATTESTATION_SUBJECT_MISMATCH",
    ]);
    const honest = await verifyBundle(nodeCrypto, open({ files: sampleBundle() }), {
      mode: "strict",
      attestation,
      policy,
    });
    expect([honest.exit_code, honest.trust.verdict]).toEqual([0, "TRUSTED"]);
  });
});

function mutate(bytes: Uint8Array, place: number, kind: string, byte: number): Uint8Array {
  const at = bytes.length === 0 ? 0 : place % bytes.length;
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (kind) {
    case "set":
      return Buffer.concat([before, Buffer.of(byte), after.subarray(1)]);
    case "insert":
      return Buffer.concat([before, Buffer.of(byte), after]);
    case "delete":
      return Buffer.concat([before, after.subarray(1)]);
    case "truncate":
      return before;
    default:
      return Buffer.concat([after, before]);
  }
}
