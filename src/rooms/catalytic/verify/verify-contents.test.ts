// A forger who makes every hash fit again is caught by what no longer follows from the rest. One change, one finding.
import { describe, expect, it } from "vitest";
import {
  DOMAIN,
  forgeRecord,
  listProblems,
  OTHER_DOMAIN,
  OUTPUT,
  type RecordParts,
  verifyFiles,
} from "../../../../test/support/forged-record.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { JsonValue } from "../../../core/canonical/index.ts";
import { hashOutputs, type OutputItem } from "../outputs/outputs.ts";

const ZEROS = "0".repeat(64);
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const GENERATED = "NAVIGATION/CORTEX/_generated";

type Keys = readonly (string | number)[];

async function problems(change: (parts: RecordParts) => void): Promise<string[]> {
  return listProblems(await verifyFiles(forgeRecord(change)));
}

/** What is found when one thing is changed, as codes; the file is the changed one unless another is named. */
async function codesOf(file: string, keys: Keys, value: JsonValue | undefined): Promise<string[]> {
  return problems((parts) => parts.set(file, keys, value));
}

it("a record that was only written anew is accepted", async () => {
  expect(await verifyFiles(forgeRecord(() => undefined))).toMatchObject({
    run_id: "run-a",
    accepted: true,
    genuine: true,
    verified: true,
    condition: "RESTORED_IDENTICAL",
    signature: { state: "absent", keyid: null },
    tree: "skipped",
    errors: [],
    warnings: [],
  });
});

describe("what was declared", () => {
  it.each<[string, Keys, JsonValue | undefined, string]>([
    ["JOBSPEC.json", ["run_id"], "run-b", "RUN_ID_MISMATCH"],
    ["STATUS.json", ["run_id"], "run-b", "RUN_ID_MISMATCH"],
    ["RUN_INFO.json", ["run_id"], "run-b", "RUN_ID_MISMATCH"],
    ["POLICY.json", ["profile"], "own", "ARTIFACT_MALFORMED"],
    ["POLICY.json", ["forbidden_roots", 0], undefined, "POLICY_WEAKENED"],
    ["POLICY.json", ["forbidden_roots", 4], undefined, "POLICY_WEAKENED"],
    ["POLICY.json", ["durable_roots", 1], undefined, "POLICY_WEAKENED"],
    ["POLICY.json", ["catalytic_roots", 0], undefined, "POLICY_WEAKENED"],
    ["POLICY.json", ["runs_root"], "MEMORY/LLM_PACKER/_packs", "POLICY_WEAKENED"],
    ["JOBSPEC.json", ["catalytic_domains"], [OTHER_DOMAIN, DOMAIN], "ARTIFACT_MALFORMED"],
    ["JOBSPEC.json", ["colour"], "red", "ARTIFACT_MALFORMED"],
    ["JOBSPEC.json", ["durable_output_roots"], [GENERATED, "src"], "PREFLIGHT_VIOLATION"],
    ["PRE_TREE.json", [OTHER_DOMAIN], undefined, "CROSS_CHECK_MISMATCH"],
    ["PRE_TREE.json", [DOMAIN, "a.txt", "size"], -1, "ARTIFACT_MALFORMED"],
    ["POST_TREE.json", [DOMAIN, "a.txt", "size"], -1, "ARTIFACT_MALFORMED"],
  ])("%s %j %j", async (file, keys, value, code) => {
    expect(await codesOf(file, keys, value)).toEqual([`${code} ${file}`]);
  });

  it("names the same domains everywhere", async () => {
    const differ = ["CROSS_CHECK_MISMATCH PRE_TREE.json"];
    expect(await codesOf("PROOF.json", ["catalytic_domains", 1], undefined)).toEqual(differ);
    expect(await codesOf("POST_TREE.json", [OTHER_DOMAIN], undefined)).toEqual(differ);
  });

  it("does not write beside the records of others in place", async () => {
    const shared = (method: string) => (parts: RecordParts) => {
      parts.set("JOBSPEC.json", ["durable_output_roots"], ["LAW/CONTRACTS/_runs", GENERATED]);
      parts.set("JOBSPEC.json", ["outputs", "durable_paths", 0], "LAW/CONTRACTS/_runs/new.json");
      parts.set("PROOF.json", ["guard", "restore_method"], method);
    };
    expect(await problems(shared("swap-back"))).toContain("PREFLIGHT_VIOLATION JOBSPEC.json");
    expect(await problems(shared("discard-upper"))).not.toContain("PREFLIGHT_VIOLATION JOBSPEC.json");
  });

  it("is the policy that was asked for", async () => {
    const files = forgeRecord(() => undefined);
    const right = "6528e8c384ff7502c470f05a4bcf8e4c83c5548b1e06024af0acf91468d37218";
    expect(listProblems(await verifyFiles(files, { policy_sha256: right }))).toEqual([]);
    expect(listProblems(await verifyFiles(files, { policy_sha256: ZEROS }))).toEqual(["POLICY_MISMATCH POLICY.json"]);
  });
});

describe("what follows from the trees", () => {
  it.each<[string, Keys, JsonValue | undefined, string]>([
    ["PRE_MANIFEST.json", [DOMAIN, "a.txt"], ZEROS, "MANIFEST_MISMATCH"],
    ["POST_MANIFEST.json", [DOMAIN, "a.txt"], undefined, "MANIFEST_MISMATCH"],
    ["DOMAIN_ROOTS.json", [DOMAIN, "post", "tree_root"], ZEROS, "ROOT_MISMATCH"],
    ["DOMAIN_ROOTS.json", [OTHER_DOMAIN], undefined, "ROOT_MISMATCH"],
    ["PROOF.json", ["pre_state", DOMAIN, "bytes"], 23, "ROOT_MISMATCH"],
    ["PROOF.json", ["post_state", OTHER_DOMAIN, "entries"], 9, "ROOT_MISMATCH"],
    ["PROOF.json", ["post_state", DOMAIN], undefined, "ROOT_MISMATCH"],
    ["PROOF.json", ["pre_state", DOMAIN, "error"], "EIO", "ROOT_MISMATCH"],
    ["RESTORE_DIFF.json", [DOMAIN, "added", "z"], { mode: "0755", type: "dir" }, "DIFF_MISMATCH"],
    ["INPUT_HASHES.json", [`${DOMAIN}/a.txt`], ZEROS, "CROSS_CHECK_MISMATCH"],
    ["INPUT_HASHES.json", [`${DOMAIN}/a.txt`], undefined, "CROSS_CHECK_MISMATCH"],
    ["INPUT_HASHES.json", ["lib/x"], ZEROS, "CROSS_CHECK_MISMATCH"],
    ["INPUT_HASHES.json", ["srcx"], ZEROS, "CROSS_CHECK_MISMATCH"],
    ["INPUT_HASHES.json", ["src/b"], "x", "CROSS_CHECK_MISMATCH"],
    ["INPUT_HASHES.json", ["src/b"], 1, "CROSS_CHECK_MISMATCH"],
    ["INPUT_HASHES.json", [], [], "CROSS_CHECK_MISMATCH"],
  ])("%s %j %j", async (file, keys, value, code) => {
    expect(await codesOf(file, keys, value)).toEqual([`${code} ${file}`]);
  });

  it("has a state for every domain and for nothing else", async () => {
    const more = (parts: RecordParts) =>
      parts.set("PROOF.json", ["pre_state", "z"], parts.get("PROOF.json", "pre_state", DOMAIN));
    expect(await problems(more)).toEqual(["ROOT_MISMATCH PROOF.json"]);
  });

  it("may list inputs that were declared, or only the domains", async () => {
    expect(await codesOf("INPUT_HASHES.json", ["src/b"], ZEROS)).toEqual([]);
    expect(await codesOf("INPUT_HASHES.json", ["src/app.txt"], undefined)).toEqual([]);
    const whole = (parts: RecordParts) => {
      parts.set("JOBSPEC.json", ["inputs"], ["."]);
      parts.set("INPUT_HASHES.json", ["lib/x"], ZEROS);
    };
    expect(await problems(whole)).toEqual([]);
  });
});

/** A run whose command failed, told everywhere in the same way. */
function fail(parts: RecordParts, code: number): void {
  const ended = { exit_code: code, restoration_verified: false };
  const change = (file: string, keys: Keys, more: object) =>
    parts.set(file, keys, { ...(parts.get(file, ...keys) as object), ...more });
  parts.set("PROOF.json", ["command_result", "exit_code"], code);
  change("PROOF.json", ["restoration_result"], { verified: false, condition: "COMMAND_FAILED" });
  change("STATUS.json", [], { ...ended, status: "failed", condition: "COMMAND_FAILED" });
  change("RUN_INFO.json", [], ended);
}

describe("outputs", () => {
  const wrong = "OUTPUTS_INCONSISTENT OUTPUTS.json";

  it.each<[string, Keys, JsonValue, string]>([
    ["OUTPUTS.json", [], {}, "it is not a list of outputs"],
    ["OUTPUT_HASHES.json", [OUTPUT], ZEROS, "OUTPUT_HASHES.json does not match it"],
    ["PROOF.json", ["outputs_root"], ZEROS, "outputs_root does not match it"],
  ])("%s %j %j", async (file, keys, value, message) => {
    const result = await verifyFiles(forgeRecord((parts) => parts.set(file, keys, value)));
    expect(listProblems(result)).toEqual([wrong]);
    expect(result.errors[0]!.message).toBe(message);
  });

  it.each<[string, (outputs: OutputItem[]) => OutputItem[]]>([
    ["nobody declared", (all) => [...all, { ...all[0]!, path: `${GENERATED}/z.json` }]],
    ["outside", (all) => [...all, { ...all[0]!, path: `${GENERATED}/pack/../../../z` }]],
    ["in another order", ([first, ...rest]) => [...rest, first!]],
    ["twice", (all) => [all[0]!, ...all]],
    ["of which one is missing", (all) => all.slice(1)],
    ["of which the folder is missing", (all) => all.toSpliced(1, 1)],
  ])("%s", async (_, change) => {
    const found = await problems((parts) => {
      const outputs = change(parts.get("OUTPUTS.json") as unknown as OutputItem[]);
      // The hashes and the root fit again, so that only the list itself is wrong.
      const { output_hashes, outputs_root } = hashOutputs(nodeCrypto, outputs);
      parts.set("OUTPUTS.json", [], outputs as unknown as JsonValue);
      parts.set("OUTPUT_HASHES.json", [], Object.fromEntries(output_hashes));
      parts.set("PROOF.json", ["outputs_root"], outputs_root);
    });
    expect(found).toEqual([wrong]);
  });

  it("of a run that was not accepted", async () => {
    const result = await verifyFiles(forgeRecord((parts) => fail(parts, 1)));
    expect(listProblems(result)).toEqual([wrong]);
    expect(result.errors[0]!.message).toBe("a run that is not verified has outputs");
  });
});

describe("what is said about the end", () => {
  it.each<[string, Keys, JsonValue, string]>([
    ["STATUS.json", ["status"], "failed", "CROSS_CHECK_MISMATCH"],
    ["STATUS.json", ["exit_code"], 1, "CROSS_CHECK_MISMATCH"],
    ["STATUS.json", ["restoration_verified"], false, "CROSS_CHECK_MISMATCH"],
    ["STATUS.json", ["condition"], "INTERRUPTED", "CROSS_CHECK_MISMATCH"],
    ["STATUS.json", ["colour"], "red", "CROSS_CHECK_MISMATCH"],
    ["RUN_INFO.json", ["exit_code"], 1, "CROSS_CHECK_MISMATCH"],
    ["RUN_INFO.json", ["restoration_verified"], false, "CROSS_CHECK_MISMATCH"],
    ["RUN_INFO.json", ["catalytic_domains"], [], "CROSS_CHECK_MISMATCH"],
    ["RUN_INFO.json", ["intent"], "other", "CROSS_CHECK_MISMATCH"],
    ["VALIDATOR_ID.json", ["validator_semver"], "9.9.9", "CROSS_CHECK_MISMATCH"],
    ["VALIDATOR_ID.json", [], 1, "CROSS_CHECK_MISMATCH"],
    ["PROOF.json", ["restoration_result", "mismatch_count"], 1, "VERDICT_MISMATCH"],
    ["PROOF.json", ["restoration_result", "condition"], "INTERRUPTED", "VERDICT_MISMATCH"],
  ])("%s %j %j", async (file, keys, value, code) => {
    expect(await codesOf(file, keys, value)).toEqual([`${code} ${file}`]);
  });

  it.each<[string, (parts: RecordParts) => unknown, string]>([
    [
      "closes with something else",
      (parts) => Object.assign(parts, { closed: false }).ledger.push({ ...parts.ledger.pop()!, body: {} }),
      "CROSS_CHECK_MISMATCH",
    ],
    [
      "tells of a violation alone",
      ({ ledger }) => ledger.splice(1, 0, { kind: "VIOLATION", body: { code: "OUTSIDE_ADDED", path: "x" } }),
      "CROSS_CHECK_MISMATCH",
    ],
    ["has no end", ({ ledger }) => ledger.pop(), "LEDGER_CHAIN_BROKEN"],
  ])("a ledger that %s", async (_, change, code) => {
    expect(await problems((parts) => void change(parts))).toEqual([`${code} LEDGER.jsonl`]);
  });

  it("changes all of it when the proof alone tells of something bad", async () => {
    const told = [
      "OUTPUTS_INCONSISTENT OUTPUTS.json",
      "CROSS_CHECK_MISMATCH STATUS.json",
      "CROSS_CHECK_MISMATCH RUN_INFO.json",
    ];
    const verdict = "VERDICT_MISMATCH PROOF.json";
    expect(await codesOf("PROOF.json", ["post_state", DOMAIN, "error"], "EIO")).toEqual([...told, verdict]);
    const violation = { code: "OUTSIDE_ADDED", path: "x" };
    expect(await codesOf("PROOF.json", ["violations", 0], violation)).toEqual([
      ...told,
      "CROSS_CHECK_MISMATCH LEDGER.jsonl",
      verdict,
    ]);
  });

  it("of a run that failed is genuine when everything says so, and not accepted", async () => {
    const failed = forgeRecord((parts) => {
      fail(parts, 3);
      parts.set("OUTPUTS.json", [], []);
      parts.set("OUTPUT_HASHES.json", [], {});
      parts.set("PROOF.json", ["outputs_root"], EMPTY);
    });
    expect(await verifyFiles(failed)).toMatchObject({
      accepted: false,
      genuine: true,
      verified: false,
      condition: "COMMAND_FAILED",
      errors: [{ code: "NOT_VERIFIED" }],
    });
  });
});
