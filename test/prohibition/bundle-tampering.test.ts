import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { formatCanonical, type JsonObject, parseJson, toCanonicalFile } from "../../src/core/canonical/index.ts";
import { type PolicyKey, signEnvelope, toEnvelopeFile, toSigningKey } from "../../src/core/trust/index.ts";
import { formatBundleStatement, STATEMENT_PAYLOAD_TYPE } from "../../src/core/trust/statement.ts";
import { toBundleId, toRootHash } from "../../src/rooms/jobs/bundle-hash.ts";
import { verifyBundle } from "../../src/rooms/jobs/bundle-verify.ts";
import { type MemoryTree, openMemoryBundle } from "../../src/rooms/jobs/memory-bundle.ts";
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

const edit = (change: (files: Map<string, Uint8Array>) => void): MemoryTree => {
  const files = sampleBundle();
  change(files);
  return { files };
};

const firstArtifact = [...sampleBundle().keys()].find((path) => path.startsWith("artifacts/"))!;
const manifestText = new TextDecoder().decode(sampleBundle().get("bundle.json"));

describe("tampering with a bundle", () => {
  it("leaves the untouched sample valid in both modes", async () => {
    expect(await judge({ files: sampleBundle() })).toEqual({ lenient: 0, strict: 0 });
  });

  it("finds every single flipped bit-0 and bit-5 of every byte of every file, in both modes", async () => {
    const unnoticed: string[] = [];
    let flips = 0;
    for (const [path, bytes] of sampleBundle()) {
      for (let at = 0; at < bytes.length; at++) {
        for (const mask of [0x01, 0x20]) {
          flips++;
          const { lenient, strict } = await judge(edit((files) => files.set(path, flip(bytes, at, mask))));
          if (lenient === 0 || strict === 0) unnoticed.push(`${path}@${at}^${mask}`);
        }
      }
    }
    expect(flips).toBeGreaterThan(3000);
    expect(unnoticed).toEqual([]);
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
  switch (kind) {
    case "set":
      return Uint8Array.from([...bytes.slice(0, at), byte, ...bytes.slice(at + 1)]);
    case "insert":
      return Uint8Array.from([...bytes.slice(0, at), byte, ...bytes.slice(at)]);
    case "delete":
      return Uint8Array.from([...bytes.slice(0, at), ...bytes.slice(at + 1)]);
    case "truncate":
      return bytes.slice(0, at);
    default:
      return Uint8Array.from([...bytes.slice(at), ...bytes.slice(0, at)]);
  }
}
