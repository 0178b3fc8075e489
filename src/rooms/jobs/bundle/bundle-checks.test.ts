import { describe, expect, it } from "vitest";
import { sampleBundle } from "../../../../test/support/sample-bundle.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { type JsonObject, toCanonicalFile } from "../../../core/canonical/index.ts";
import { toBundleId, toPlanHash, toRootHash } from "./bundle-hash.ts";
import { verifyBundle } from "./bundle-verify.ts";
import { type MemoryTree, openMemoryBundle } from "./memory-bundle.ts";

// Every edit is sealed again, so that nothing but the edit itself can be found.

interface Manifest extends JsonObject {
  readonly steps: JsonObject[];
  readonly artifacts: (JsonObject & { artifact_id: string; sha256: string; path: string })[];
  readonly inputs: { symbols: string[]; files: string[]; slices: string[] };
}

const decoded = () => JSON.parse(new TextDecoder().decode(sampleBundle().get("bundle.json"))) as Manifest;
const FIRST = decoded().artifacts[0]!;
const utf8 = (text: string) => new TextEncoder().encode(text);

interface Edit {
  manifest?: (manifest: Manifest) => void;
  files?: (files: Map<string, Uint8Array>) => void;
  tree?: Omit<MemoryTree, "files">;
  /** Leaves the ids as they are. */
  unsealed?: boolean;
  bytes?: (bytes: Uint8Array) => Uint8Array;
}

async function find(
  { manifest: edit, files: change, tree, unsealed, bytes = (same) => same }: Edit,
  mode: "default" | "strict",
) {
  const files = sampleBundle();
  const manifest = decoded();
  change?.(files);
  edit?.(manifest);
  if (unsealed !== true) {
    const plan = toPlanHash(nodeCrypto, manifest["run_id"] as string, manifest.steps);
    if (edit !== undefined) (manifest as JsonObject)["plan_hash"] = plan;
    (manifest as JsonObject)["hashes"] = { root_hash: await toRootHash(nodeCrypto, manifest.artifacts) };
    (manifest as JsonObject)["bundle_id"] = await toBundleId(nodeCrypto, manifest);
  }
  files.set("bundle.json", bytes(toCanonicalFile(manifest)));
  const report = await verifyBundle(nodeCrypto, openMemoryBundle(nodeCrypto, { files, ...tree }), { mode });
  expect(report.exit_code).toBe(report.problems.length === 0 ? 0 : 1);
  return report.problems.map(({ code, pointer, path }) => `${code} ${path ?? pointer}`);
}

const step = (index: number, change: JsonObject) => (manifest: Manifest) =>
  void Object.assign(manifest.steps[index]!, change);
const artifact = (index: number, change: JsonObject) => (manifest: Manifest) =>
  void Object.assign(manifest.artifacts[index]!, change);
/** One pair of step and artifact with another slice, as if it had been asked for. */
const sliced = (slice: string) => (manifest: Manifest) => {
  Object.assign(manifest.steps[0]!, { constraints: { slice } });
  Object.assign(manifest.artifacts[0]!, { slice });
};

describe("both modes", () => {
  it.each<[string, Edit, readonly string[]]>([
    ["nothing", {}, []],
    ["steps out of order", { manifest: ({ steps }) => void steps.reverse() }, ["STEPS_NOT_ORDERED /steps"]],
    [
      "steps of one ordinal out of order",
      { manifest: ({ steps }) => void steps.map((one) => Object.assign(one, { ordinal: 1 })) },
      ["STEPS_NOT_ORDERED /steps"],
    ],
    [
      "artifacts out of order",
      { manifest: ({ artifacts }) => void artifacts.reverse() },
      ["ARTIFACTS_NOT_ORDERED /artifacts"],
    ],
    [
      "two artifacts out of order",
      { manifest: ({ artifacts }) => void artifacts.splice(0, 2, artifacts[1]!, artifacts[0]!) },
      ["ARTIFACTS_NOT_ORDERED /artifacts"],
    ],
    [
      "a file that is gone",
      { files: (files) => void files.delete(FIRST.path) },
      ["ARTIFACT_MISSING /artifacts/0/path"],
    ],
    ["a file that is a link", { tree: { links: new Set([FIRST.path]) } }, ["ARTIFACT_NOT_REGULAR /artifacts/0/path"]],
    [
      "other bytes of the same length",
      { files: (files) => void files.set(FIRST.path, utf8(`${"x".repeat(15)}\n`)) },
      ["ARTIFACT_HASH_MISMATCH /artifacts/0/sha256"],
    ],
    ["another size", { manifest: artifact(0, { bytes: 17 }) }, ["ARTIFACT_SIZE_MISMATCH /artifacts/0/bytes"]],
    [
      "bytes that are no text and end nowhere",
      {
        files: (files) => void files.set(FIRST.path, new Uint8Array([0xff])),
        manifest: artifact(0, { bytes: 1, sha256: nodeCrypto.sha256(new Uint8Array([0xff])) }),
      },
      ["ARTIFACT_NO_NEWLINE /artifacts/0", "ARTIFACT_NOT_UTF8 /artifacts/0"],
    ],
    [
      "another root",
      {
        unsealed: true,
        manifest: (manifest) => void Object.assign(manifest["hashes"] as object, { root_hash: "0".repeat(64) }),
      },
      ["ROOT_HASH_MISMATCH /hashes/root_hash"],
    ],
    [
      "another id",
      { unsealed: true, manifest: (manifest) => void Object.assign(manifest, { bundle_id: "0".repeat(64) }) },
      ["BUNDLE_ID_MISMATCH /bundle_id"],
    ],
    [
      "a forbidden field",
      { manifest: (manifest) => void Object.assign(manifest, { cwd: "/home" }) },
      ["FORBIDDEN_FIELD /cwd"],
    ],
  ])("find %s", async (_what, edit, expected) => {
    const seen = await find(edit, "default");
    expect(seen).toEqual(expected);
    const strict = await find(edit, "strict");
    expect(strict.slice(0, expected.length)).toEqual(expected);
  });

  it("find slices without bounds on both sides", async () => {
    expect(await find({ manifest: sliced("all") }, "default")).toEqual([
      "SLICE_UNBOUNDED /artifacts/0/slice",
      "SLICE_UNBOUNDED /steps/0/constraints/slice",
    ]);
  });

  it.each<[string, (manifest: Manifest) => void]>([
    ["another slice", step(0, { constraints: { slice: "head(2)" } })],
    ["another symbol", step(0, { refs: { symbol_id: "@SKILLS/OTHER" } })],
    ["no slice", step(0, { constraints: {} })],
  ])("find an artifact that no step asked for: %s", async (_what, edit) => {
    expect(await find({ manifest: edit }, "default")).toEqual(["ARTIFACT_UNREFERENCED /artifacts/0"]);
  });

  it.each<[string, string]>([
    ["../x", "PATH_TRAVERSAL"],
    ["/x", "PATH_ABSOLUTE"],
    ["a\\x", "PATH_BACKSLASH"],
    ["", "PATH_INVALID"],
    [".", "ARTIFACT_NOT_REGULAR"],
    ["artifacts/none.txt", "ARTIFACT_MISSING"],
  ])("open nothing at the path %j", async (path, code) => {
    expect(await find({ manifest: artifact(0, { path }) }, "default")).toEqual([`${code} /artifacts/0/path`]);
  });

  it("read a path with harmless parts", async () => {
    expect(await find({ manifest: artifact(0, { path: `./artifacts//${FIRST.artifact_id}.txt` }) }, "default")).toEqual(
      [],
    );
  });
});

describe("strict mode", () => {
  it.each<[string, Edit, readonly string[]]>([
    ["nothing", {}, []],
    ["a manifest without its newline", { bytes: (bytes) => bytes.subarray(0, -1) }, ["MANIFEST_NOT_CANONICAL "]],
    [
      "a manifest with spaces",
      { bytes: (bytes) => utf8(new TextDecoder().decode(bytes).replace("{", "{ ")) },
      ["MANIFEST_NOT_CANONICAL "],
    ],
    [
      "another plan",
      { manifest: (manifest) => void Object.assign(manifest, { run_id: "other" }), unsealed: true },
      ["BUNDLE_ID_MISMATCH /bundle_id", "PLAN_HASH_MISMATCH /plan_hash"],
    ],
    [
      "a bundle of nothing",
      {
        manifest: (manifest) => {
          manifest.steps.length = 0;
          manifest.artifacts.length = 0;
          Object.assign(manifest.inputs, { symbols: [], slices: [], files: [] });
        },
        files: (files) => files.clear(),
      },
      ["BUNDLE_EMPTY /steps"],
    ],
    [
      "an id that is not that of its pair",
      {
        manifest: artifact(0, { artifact_id: "0000000000000000", path: "artifacts/0000000000000000.txt" }),
        files: (files) => {
          files.set("artifacts/0000000000000000.txt", files.get(FIRST.path)!);
          files.delete(FIRST.path);
        },
      },
      ["ARTIFACT_ID_MISMATCH /artifacts/0/artifact_id"],
    ],
    [
      "a path that is not that of its id",
      {
        manifest: artifact(0, { path: "artifacts/x.txt" }),
        files: (files) => {
          files.set("artifacts/x.txt", files.get(FIRST.path)!);
          files.delete(FIRST.path);
        },
      },
      ["ARTIFACT_PATH_NAME /artifacts/0/path"],
    ],
    [
      "an artifact twice",
      { manifest: ({ artifacts }) => void artifacts.splice(1, 0, artifacts[0]!) },
      ["ARTIFACT_DUPLICATE /artifacts/1"],
    ],
    [
      "a symbol called a section",
      { manifest: artifact(0, { kind: "SECTION_SLICE" }) },
      ["ARTIFACT_KIND_MISMATCH /artifacts/0/kind", "STEP_WITHOUT_ARTIFACT /steps/0"],
    ],
    [
      "a section called a symbol",
      { manifest: artifact(1, { kind: "SYMBOL_SLICE" }) },
      ["ARTIFACT_KIND_MISMATCH /artifacts/1/kind", "STEP_WITHOUT_ARTIFACT /steps/2"],
    ],
    [
      "a step id twice",
      { manifest: ({ steps }) => void Object.assign(steps[2]!, { step_id: steps[0]!["step_id"]! }) },
      ["STEP_DUPLICATE /steps/2/step_id"],
    ],
    [
      "a step without its artifact",
      {
        manifest: ({ artifacts }) => void artifacts.shift(),
        files: (files) => void files.delete(FIRST.path),
      },
      ["STEP_WITHOUT_ARTIFACT /steps/0"],
    ],
    [
      "symbols that no step reads",
      { manifest: ({ inputs }) => void inputs.symbols.push("@X/Y") },
      ["INPUTS_MISMATCH /inputs/symbols"],
    ],
    [
      "slices that no step reads",
      { manifest: ({ inputs }) => void inputs.slices.pop() },
      ["INPUTS_MISMATCH /inputs/slices"],
    ],
    [
      "files out of order",
      { manifest: ({ inputs }) => void inputs.files.reverse() },
      ["INPUTS_MISMATCH /inputs/files"],
    ],
    [
      "files, links and folders that do not belong there, in order",
      {
        files: (files) => void files.set("b.txt", utf8("\n")).set("a.txt", utf8("\n")),
        tree: { links: new Set(["c"]), folders: new Set(["d"]) },
      },
      ["EXTRA_FILE a.txt", "EXTRA_FILE b.txt", "EXTRA_FILE c", "EXTRA_FILE d/"],
    ],
    [
      "a file beside an artifact whose path leads outside",
      { manifest: artifact(0, { path: "../x" }) },
      ["PATH_TRAVERSAL /artifacts/0/path", "ARTIFACT_PATH_NAME /artifacts/0/path", `EXTRA_FILE ${FIRST.path}`],
    ],
  ])("finds %s", async (_what, edit, expected) => {
    expect(await find(edit, "strict")).toEqual(expected);
  });

  it.each<[string, string]>([
    ["lines[4:0]", "SLICE_EMPTY"],
    ["line 4", "SLICE_SYNTAX"],
  ])("finds the slice %s on both sides", async (slice, code) => {
    const found = await find({ manifest: sliced(slice) }, "strict");
    expect(found.filter((one) => one.startsWith("SLICE"))).toEqual([
      `${code} /artifacts/0/slice`,
      `${code} /steps/0/constraints/slice`,
    ]);
  });
});

it("sums the bytes of what could be read, and says what it expected and found", async () => {
  const files = sampleBundle();
  const good = await verifyBundle(nodeCrypto, openMemoryBundle(nodeCrypto, { files }), { mode: "default" });
  expect(good.counts).toEqual({ steps: 3, artifacts: 3, bytes: 70 });
  files.set(FIRST.path, utf8("x\n"));
  const { counts, problems } = await verifyBundle(nodeCrypto, openMemoryBundle(nodeCrypto, { files }), {
    mode: "default",
  });
  expect(counts.bytes).toBe(56);
  expect(problems.map(({ expected, actual }) => [expected, actual])).toEqual([
    [FIRST.sha256, nodeCrypto.sha256(utf8("x\n"))],
    ["16", "2"],
  ]);
  expect(problems[0]!.message).not.toContain("CRLF");
  files.delete(FIRST.path);
  const gone = await verifyBundle(nodeCrypto, openMemoryBundle(nodeCrypto, { files }), { mode: "default" });
  expect([gone.counts.bytes, Object.keys(gone.problems[0]!)]).toEqual([54, ["code", "pointer", "message"]]);
});
