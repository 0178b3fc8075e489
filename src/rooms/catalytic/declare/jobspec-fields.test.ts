// Every field of a JobSpec at its borders: the last value that fits and the first that does not, by its pointer.
import { describe, expect, it } from "vitest";
import { Float, type JsonValue } from "../../../core/canonical/index.ts";
import { DEFAULT_ALLOWED, normalizeJobSpec, normalizeOutput, parseJobSpec } from "./jobspec.ts";
import { isEnvName, isRunId, REQUIRED } from "./jobspec-fields.ts";

const HASH = "0123456789abcdef".repeat(4);
const spec: Record<string, JsonValue> = {
  schema_version: "cmp01-jobspec-1",
  run_id: "run-1",
  job_id: "job-1",
  intent: "try",
  determinism: "deterministic",
  catalytic_domains: ["work"],
  durable_output_roots: [],
  outputs: { durable_paths: [] },
  command: ["true"],
};
const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i}`);
const pointers = (more: Record<string, JsonValue>) =>
  parseJobSpec({ ...spec, ...more }).errors.map((one) => one.pointer);

describe("a field that fits", () => {
  it.each<[string, JsonValue]>([
    ["run_id", `a${"_".repeat(63)}`],
    ["job_id", `0${"-".repeat(127)}`],
    ["intent", "x".repeat(500)],
    ["intent", "\u{1f600}".repeat(500)],
    ["determinism", "nondeterministic"],
    ["catalytic_domains", texts(1)],
    ["catalytic_domains", texts(64)],
    ["durable_output_roots", texts(64)],
    ["outputs", { durable_paths: texts(1024) }],
    ["command", texts(4096)],
    ["command", ["a", ""]],
    ["command", ["a".repeat(1024 * 1024 - 1)]],
    ["command", ["a".repeat(1024 * 1024 - 2), ""]],
    ["cwd", "a/b"],
    ["env", {}],
    ["env", { allow: ["_A", "a1"], set: { B: "" } }],
    ["inputs", texts(1024)],
    ["inputs", []],
    ["timeout_ms", 1],
    ["timeout_ms", 86_400_000],
    ["expected_exit_codes", [0, 255]],
    ["expected_exit_codes", Array.from({ length: 256 }, (_, i) => i)],
    ["guard", "require"],
    ["network", "none"],
    ["network", "inherit"],
    ["memo", true],
    ["strict_mtime", false],
    ["view", true],
    ["skill", null],
    ["skill", { path: "s", declaration: "read_only", manifest_sha256: HASH }],
    ["skill", { declaration: "catalytic" }],
    ["skill", { declaration: "writer" }],
    ["previous_proof_hash", null],
    ["previous_proof_hash", HASH],
    ["metadata", { a: [1, "b", null, true, { c: -1 }] }],
    ["metadata", { a: "x".repeat(16 * 1024 - 8) }],
  ])("%s", (field, value) => {
    expect(pointers({ [field]: value })).toEqual([]);
  });
});

describe("a field that does not fit", () => {
  it.each<[string, JsonValue, string?]>([
    ["schema_version", "cmp01-jobspec-2"],
    ["run_id", 1],
    ["run_id", ""],
    ["run_id", `a${"_".repeat(64)}`],
    ["run_id", "a\n"],
    ["run_id", "-a"],
    ["job_id", null],
    ["job_id", `0${"-".repeat(128)}`],
    ["job_id", "A"],
    ["intent", 1],
    ["intent", " "],
    ["intent", "a\nb"],
    ["intent", "a\u2028b"],
    ["intent", "\ud800"],
    ["intent", "x".repeat(501)],
    ["determinism", "sometimes"],
    ["catalytic_domains", []],
    ["catalytic_domains", texts(65)],
    ["catalytic_domains", "work"],
    ["catalytic_domains", ["a", 1], "/catalytic_domains/1"],
    ["durable_output_roots", texts(65)],
    ["outputs", []],
    ["outputs", {}, "/outputs/durable_paths"],
    ["outputs", { durable_paths: texts(1025) }, "/outputs/durable_paths"],
    ["outputs", { durable_paths: [], "a/b": 1 }, "/outputs/a~1b"],
    ["command", "true"],
    ["command", []],
    ["command", texts(4097)],
    ["command", [""], "/command/0"],
    ["command", ["a", "b\0"], "/command/1"],
    ["command", ["a", 1], "/command/1"],
    ["command", ["a".repeat(1024 * 1024)]],
    ["command", ["a".repeat(1024 * 1024 - 1), ""]],
    ["cwd", 1],
    ["cwd", "\ud800"],
    ["env", []],
    ["env", { deny: [] }, "/env/deny"],
    ["env", { allow: "A" }, "/env/allow"],
    ["env", { allow: ["A", "1A"] }, "/env/allow/1"],
    ["env", { set: [] }, "/env/set"],
    ["env", { set: { VERBATIM_X: "1" } }, "/env/set/VERBATIM_X"],
    ["env", { set: { "A/B": "1" } }, "/env/set/A~1B"],
    ["env", { set: { A: 1 } }, "/env/set/A"],
    ["env", { set: { A: "\0" } }, "/env/set/A"],
    ["inputs", texts(1025)],
    ["inputs", [null], "/inputs/0"],
    ["timeout_ms", 0],
    ["timeout_ms", 86_400_001],
    ["timeout_ms", 1.5],
    ["timeout_ms", "1"],
    ["expected_exit_codes", []],
    ["expected_exit_codes", 0],
    ["expected_exit_codes", Array.from({ length: 257 }, () => 0)],
    ["expected_exit_codes", [0, -1], "/expected_exit_codes/1"],
    ["expected_exit_codes", [256], "/expected_exit_codes/0"],
    ["guard", "strong"],
    ["network", "some"],
    ["memo", 1],
    ["strict_mtime", "no"],
    ["view", null],
    ["skill", "s"],
    ["skill", {}, "/skill/declaration"],
    ["skill", { declaration: "reader" }, "/skill/declaration"],
    ["skill", { declaration: "writer", path: 1 }, "/skill/path"],
    ["skill", { declaration: "writer", manifest_sha256: "x" }, "/skill/manifest_sha256"],
    ["skill", { declaration: "writer", manifest_sha256: 1 }, "/skill/manifest_sha256"],
    ["skill", { declaration: "writer", more: 1 }, "/skill/more"],
    ["previous_proof_hash", "x"],
    ["previous_proof_hash", 1],
    ["metadata", []],
    ["metadata", { a: 1.5 }],
    ["metadata", { a: new Float(1) }],
    ["metadata", { a: 2n ** 60n }],
    ["metadata", { a: 2 ** 53 }],
    ["metadata", { a: ["b", "\ud800"] }],
    ["metadata", { "\ud800": 1 }],
    ["metadata", { a: { b: 1, c: "\udc00" } }],
    ["metadata", { a: "x".repeat(16 * 1024 - 7) }],
    ["colour", "red"],
    ["a/b", 1, "/a~1b"],
  ])("%s", (field, value, pointer = `/${field}`) => {
    expect(pointers({ [field]: value })).toEqual([pointer]);
  });

  it("is missing", () => {
    for (const field of REQUIRED) {
      const { [field]: _, ...rest } = spec;
      expect(parseJobSpec(rest).errors).toEqual([{ code: "JOBSPEC_INVALID", pointer: `/${field}` }]);
    }
    expect(REQUIRED).toHaveLength(9);
  });

  it("is the whole, where there is no object", () => {
    expect(parseJobSpec([])).toEqual({ ok: false, errors: [{ code: "JOBSPEC_INVALID", pointer: "" }], jobspec: null });
  });

  it("is a memo of what may come out differently", () => {
    expect(pointers({ memo: true, determinism: "nondeterministic" })).toEqual(["/memo"]);
    expect(pointers({ memo: false, determinism: "nondeterministic" })).toEqual([]);
  });
});

describe("names", () => {
  it("of runs and variables are judged as a whole", () => {
    expect(["a", "a.b", "a\n", ""].map(isRunId)).toEqual([true, false, false, false]);
    expect(["A", "VERBATIM_", "XVERBATIM_", "A=B", 1].map((name) => isEnvName(name as JsonValue))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });
});

describe("a JobSpec", () => {
  it("has a value for everything that was not given", () => {
    expect(parseJobSpec(spec).jobspec).toEqual({
      ...spec,
      cwd: ".",
      env: { allow: [...DEFAULT_ALLOWED], set: {} },
      inputs: [],
      timeout_ms: 3_600_000,
      expected_exit_codes: [0],
      guard: "auto",
      network: "inherit",
      memo: false,
      strict_mtime: false,
      view: false,
      skill: null,
      previous_proof_hash: null,
      metadata: {},
    });
  });

  it("keeps what was given, lists in order and without repetition", () => {
    const given = {
      cwd: "./a//b/",
      env: { allow: ["B", "A", "B"], set: { C: "1" } },
      inputs: ["b/", "a", "./b", "../c"],
      timeout_ms: 5,
      expected_exit_codes: [10, 2, 10],
      guard: "audit",
      network: "none",
      memo: true,
      strict_mtime: true,
      view: true,
      skill: { declaration: "writer" },
      previous_proof_hash: HASH,
      metadata: { a: 1 },
    };
    expect(parseJobSpec({ ...spec, ...given }).jobspec).toMatchObject({
      ...given,
      cwd: "a/b",
      env: { allow: ["A", "B"], set: { C: "1" } },
      inputs: ["../c", "a", "b"],
      expected_exit_codes: [2, 10],
    });
  });

  it("takes guard, network and memo from the configuration, the memo only where it may", () => {
    const defaults = { guard: "landlock", network: "none", memo: true } as const;
    expect(parseJobSpec(spec, defaults).jobspec).toMatchObject(defaults);
    expect(parseJobSpec({ ...spec, determinism: "nondeterministic" }, defaults)).toMatchObject({
      ok: true,
      jobspec: { memo: false },
    });
    expect(parseJobSpec({ ...spec, memo: false }, defaults).jobspec).toMatchObject({ memo: false });
  });

  it("is kept with its paths normalised; a slash at the end still declares a folder", () => {
    const { jobspec } = parseJobSpec({
      ...spec,
      catalytic_domains: ["b/", "./a", "a", "./"],
      durable_output_roots: ["out//x"],
      outputs: { durable_paths: ["out/d//", "out/./f"] },
    });
    expect(normalizeJobSpec(jobspec!)).toMatchObject({
      catalytic_domains: [".", "a", "b"],
      durable_output_roots: ["out/x"],
      outputs: { durable_paths: ["out/d/", "out/f"] },
    });
    expect([normalizeOutput("a//b/"), normalizeOutput("./a")]).toEqual(["a/b/", "a"]);
  });
});
