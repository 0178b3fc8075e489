import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { checkManifest, type ManifestMode } from "./manifest.ts";

const MODES = ["default", "strict"] as const;

interface Vector extends JsonObject {
  id: string;
  area: string;
  name: string;
  input: JsonObject;
  expected: JsonObject & Record<ManifestMode, JsonObject & { problems: string[][] }>;
}

const vectors = (parseJson(readFileSync(new URL("../../../../test/vectors/bundle.json", import.meta.url))) as Vector[])
  .filter(({ area }) => area === "jobs.bundle-verify")
  .flatMap((vector) => {
    const manifest = readManifest(vector.input);
    return manifest === undefined ? [] : [{ vector, manifest }];
  });

/** The manifest of a vector, or undefined when phase A ends the verification. */
function readManifest({ files }: JsonObject): JsonValue | undefined {
  const text = files !== undefined && isJsonObject(files) ? files["bundle.json"] : undefined;
  if (typeof text !== "string") return undefined;
  try {
    return parseJson(text);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}

const judge = (value: JsonValue, mode: ManifestMode) =>
  checkManifest(value, mode).map(({ code, pointer }) => `${code} ${pointer}`);

describe("the vectors of jobs.bundle-verify", () => {
  it("have enough manifests to judge", () => {
    expect(vectors.length).toBeGreaterThanOrEqual(55);
  });

  describe.each(MODES)("in %s mode", (mode) => {
    it.each(vectors.map((one) => [one.vector.id, one.vector.name, one] as const))(
      "%s %s: exactly the schema problems it names",
      (_id, _name, { vector, manifest }) => {
        const expected = vector.expected[mode].problems.filter(([code]) => code?.startsWith("SCHEMA_"));
        expect(judge(manifest, mode).sort()).toEqual(expected.map((pair) => pair.join(" ")).sort());
      },
    );
  });
});

describe("a manifest", () => {
  const hash = "0".repeat(64);
  const step = {
    step_id: "s",
    ordinal: 1,
    op: "READ_SYMBOL",
    refs: { symbol_id: "@CANON/LIGHTS" },
    constraints: { slice: "head(1)" },
    expected_outputs: {},
  };
  const artifact = {
    artifact_id: "0123456789abcdef",
    kind: "SYMBOL_SLICE",
    ref: "@CANON/LIGHTS",
    slice: "head(1)",
    path: "artifacts/0123456789abcdef.txt",
    sha256: hash,
    bytes: 1,
  };
  const manifest = {
    bundle_version: "5.0.0",
    bundle_id: hash,
    run_id: "r",
    job_id: "j",
    message_id: "m",
    plan_hash: hash,
    steps: [step],
    inputs: { symbols: [], files: [], slices: [] },
    artifacts: [artifact],
    hashes: { root_hash: hash },
    provenance: {},
  };

  it("of a build passes in both modes", () => {
    for (const mode of MODES) expect(judge(manifest, mode)).toEqual([]);
  });

  it("with what other builds write passes in default mode only", () => {
    const { expected_outputs: _, ...loose } = { ...step, ordinal: 36893488147419103232n, constraints: {}, note: 1 };
    const value = {
      ...manifest,
      bundle_id: "b",
      plan_hash: "p",
      steps: [{ ...loose, refs: { symbol_id: "x", more: 1 } }],
      artifacts: [{ ...artifact, artifact_id: "a", sha256: "s", mtime: 1 }],
      hashes: { root_hash: "r", sha512: "x" },
      inputs: { ...manifest.inputs, urls: [] },
      provenance: { host: "harbour", receipts: 7 },
      note: "x",
    };
    expect(judge(value, "default")).toEqual([]);
    expect(judge(value, "strict")).toEqual([
      "SCHEMA_VALUE /artifacts/0/artifact_id",
      "SCHEMA_UNKNOWN_FIELD /artifacts/0/mtime",
      "SCHEMA_VALUE /artifacts/0/sha256",
      "SCHEMA_VALUE /bundle_id",
      "SCHEMA_VALUE /hashes/root_hash",
      "SCHEMA_UNKNOWN_FIELD /hashes/sha512",
      "SCHEMA_UNKNOWN_FIELD /inputs/urls",
      "SCHEMA_UNKNOWN_FIELD /note",
      "SCHEMA_VALUE /plan_hash",
      "SCHEMA_UNKNOWN_FIELD /provenance/host",
      "SCHEMA_TYPE /provenance/receipts",
      "SCHEMA_MISSING_FIELD /steps/0/constraints/slice",
      "SCHEMA_MISSING_FIELD /steps/0/expected_outputs",
      "SCHEMA_UNKNOWN_FIELD /steps/0/note",
      "SCHEMA_UNKNOWN_FIELD /steps/0/refs/more",
    ]);
  });

  it("whose parts have the wrong type is judged part by part, in both modes", () => {
    const value = {
      ...manifest,
      run_id: 1,
      steps: [7, { ...step, ordinal: 1.5, constraints: [], refs: "x" }, { ...step, constraints: { slice: 3 } }],
      inputs: { symbols: "x", files: [1], slices: [] },
      artifacts: {},
      hashes: [],
      provenance: null,
    };
    for (const mode of MODES) {
      expect(judge(value, mode)).toEqual([
        "SCHEMA_TYPE /artifacts",
        "SCHEMA_TYPE /hashes",
        "SCHEMA_TYPE /inputs/files/0",
        "SCHEMA_TYPE /inputs/symbols",
        "SCHEMA_TYPE /provenance",
        "SCHEMA_TYPE /run_id",
        "SCHEMA_TYPE /steps/0",
        "SCHEMA_TYPE /steps/1/constraints",
        "SCHEMA_TYPE /steps/1/ordinal",
        "SCHEMA_TYPE /steps/1/refs",
        "SCHEMA_TYPE /steps/2/constraints/slice",
      ]);
    }
  });

  it("needs the reference its operation names", () => {
    const steps = [{ ...step, op: "READ_SECTION" }];
    expect(judge({ ...manifest, steps }, "default")).toEqual(["SCHEMA_MISSING_FIELD /steps/0/refs/section_id"]);
    expect(judge({ ...manifest, steps }, "strict")).toEqual([
      "SCHEMA_MISSING_FIELD /steps/0/refs/section_id",
      "SCHEMA_UNKNOWN_FIELD /steps/0/refs/symbol_id",
    ]);
  });

  it("leaves the six forbidden names to the checks that follow", () => {
    const forbidden = { timestamp: 1, created_at: 1, updated_at: 1, cwd: 1, os: 1, locale: 1 };
    expect(judge({ ...manifest, ...forbidden }, "strict")).toEqual([]);
  });

  it("does not hide a key that objects inherit", () => {
    const value = parseJson(`{"__proto__":1,"constructor":2,${JSON.stringify(manifest).slice(1)}`);
    expect(judge(value, "strict")).toEqual(["SCHEMA_UNKNOWN_FIELD /__proto__", "SCHEMA_UNKNOWN_FIELD /constructor"]);
  });
});
