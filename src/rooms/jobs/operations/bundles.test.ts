import { describe, expect, it } from "vitest";
import { sampleBundle } from "../../../../test/support/sample-bundle.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { type JsonObject, toCanonicalFile } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { verifyBundle } from "../bundle/bundle-verify.ts";
import { openMemoryBundle } from "../bundle/memory-bundle.ts";
import { type BundlePorts, bundleDiff, bundleInspect, bundleVerify } from "./bundles.ts";

/** Bundles in memory under the names of their folders. Whatever is read is written down. */
function openPorts(bundles: Readonly<Record<string, Map<string, Uint8Array>>>) {
  const read: string[] = [];
  const ports = {
    crypto: nodeCrypto,
    openBundle(path: string) {
      const files = openMemoryBundle(nodeCrypto, { files: bundles[path]! });
      const readText = (one: string) => {
        read.push(one);
        return files.readText(one);
      };
      return { files: { ...files, readText }, attestation: "" };
    },
    diffLines: (name: string, a: string, b: string) => `${name}: ${a} / ${b}`,
  } as unknown as BundlePorts;
  return { ports, read };
}

const [artifact] = [...sampleBundle().keys()].filter((path) => path.startsWith("artifacts/"));
const artifactId = artifact!.slice("artifacts/".length, -".txt".length);
const utf8 = (text: string) => new TextEncoder().encode(text);

function withPath(path: string): Map<string, Uint8Array> {
  const files = sampleBundle();
  const manifest = JSON.parse(new TextDecoder().decode(files.get("bundle.json"))) as JsonObject;
  const artifacts = manifest["artifacts"] as { artifact_id: string; path: string }[];
  artifacts.find(({ artifact_id }) => artifact_id === artifactId)!.path = path;
  return files.set("bundle.json", toCanonicalFile(manifest));
}

describe("looking at one artifact", () => {
  it("gives its text", async () => {
    const { ports } = openPorts({ a: sampleBundle() });
    const { content, verifies } = await bundleInspect.run(ports, { path: "a", artifact: artifactId });
    expect([content, verifies]).toEqual([new TextDecoder().decode(sampleBundle().get(artifact!)), true]);
  });

  it.each([
    ["../secret.txt", "PATH_TRAVERSAL"],
    ["artifacts/../../secret.txt", "PATH_TRAVERSAL"],
    ["/etc/hostname", "PATH_ABSOLUTE"],
    ["C:/secret.txt", "PATH_ABSOLUTE"],
    ["..\\secret.txt", "PATH_BACKSLASH"],
    ["", "PATH_INVALID"],
    ["artifacts", "ARTIFACT_NOT_REGULAR"],
    ["artifacts/none.txt", "ARTIFACT_MISSING"],
  ])("never opens what a manifest calls %j", async (path, code) => {
    const { ports, read } = openPorts({ a: withPath(path) });
    const thrown: unknown = await bundleInspect
      .run(ports, { path: "a", artifact: artifactId })
      .catch((e: unknown) => e);
    expect(isVerbatimError(thrown) && [thrown.code, thrown.exit, thrown.details?.["code"]]).toEqual([
      "FILE_UNREADABLE",
      2,
      code,
    ]);
    expect(read).toEqual([]);
  });
});

describe("comparing two bundles", () => {
  it("finds them equal when they are, and looks into no artifact twice", async () => {
    const { ports, read } = openPorts({ a: sampleBundle(), b: sampleBundle() });
    expect((await bundleDiff.run(ports, { a: "a", b: "b" })).equal).toBe(true);
    expect(read).toEqual([]);
  });

  it("finds an artifact whose bytes differ although both manifests say the same", async () => {
    const { ports } = openPorts({ a: sampleBundle(), b: sampleBundle().set(artifact!, utf8("other\n")) });
    const diff = await bundleDiff.run(ports, { a: "a", b: "b" });
    expect([diff.equal, diff.fields, diff.artifacts.changed]).toEqual([false, [], [artifactId]]);
    expect(diff.lines).toEqual([{ artifact_id: artifactId, diff: expect.stringContaining("other\n") as string }]);
  });

  it("finds an artifact that one of them lacks, and opens nothing outside", async () => {
    const without = sampleBundle();
    without.delete(artifact!);
    for (const b of [without, withPath("../secret.txt")]) {
      const { ports, read } = openPorts({ a: sampleBundle(), b });
      const diff = await bundleDiff.run(ports, { a: "a", b: "b" });
      expect([diff.equal, diff.artifacts.changed]).toEqual([false, [artifactId]]);
      expect(read).toEqual([artifact]);
    }
  });
});

describe("an artifact whose line ends a checkout changed", () => {
  it("fails on hash and size, and says what may have happened", async () => {
    const text = new TextDecoder().decode(sampleBundle().get(artifact!)).replaceAll("\n", "\r\n");
    const files = openMemoryBundle(nodeCrypto, { files: sampleBundle().set(artifact!, utf8(text)) });
    const { problems } = await verifyBundle(nodeCrypto, files, { mode: "default" });
    expect(problems.map(({ code }) => code)).toEqual(["ARTIFACT_HASH_MISMATCH", "ARTIFACT_SIZE_MISMATCH"]);
    expect(problems[0]!.message).toContain(".gitattributes");
  });
});

describe("a step and an artifact that only look alike when they are joined", () => {
  it("do not belong together", async () => {
    const files = sampleBundle();
    const manifest = JSON.parse(new TextDecoder().decode(files.get("bundle.json"))) as JsonObject;
    const step = (manifest["steps"] as { refs: JsonObject; constraints: JsonObject }[])[0]!;
    const one = (manifest["artifacts"] as { ref: string; slice: string }[]).find(
      ({ ref }) => ref === step.refs["symbol_id"],
    )!;
    step.refs["symbol_id"] = "@A/B\nhead(1)";
    step.constraints["slice"] = "x";
    one.ref = "@A/B";
    one.slice = "head(1)\nx";
    const changed = openMemoryBundle(nodeCrypto, { files: files.set("bundle.json", toCanonicalFile(manifest)) });
    const { problems } = await verifyBundle(nodeCrypto, changed, { mode: "default" });
    expect(problems.map(({ code }) => code)).toContain("ARTIFACT_UNREFERENCED");
  });
});

describe("verifying under a policy that is none", () => {
  it("says in which file and where the policy is wrong", async () => {
    const files = { read: async () => utf8('{"policy_version":"1.0.0","threshold":0,"keys":[]}') };
    const ports = { ...openPorts({ a: sampleBundle() }).ports, files } as unknown as BundlePorts;
    await expect(bundleVerify.run(ports, { path: "a", strict: false, trust: "trust.json" })).rejects.toMatchObject({
      code: "TRUST_POLICY_INVALID",
      where: "trust.json#/threshold",
    });
  });
});
