import { encodeUtf8, isJsonObject, type JsonObject, type JsonValue, toJson } from "../../core/canonical/index.ts";
import { given } from "../../core/conformance-input.ts";
import type { GuardClass, GuardRequest } from "../../core/contracts/guards.ts";
import { exitOfCondition } from "../../core/exits.ts";
import { fromHex, toHex } from "../../core/hex.ts";
import type { Awaitable, SyncCrypto } from "../../core/ports.ts";
import { encodeBase64 } from "../../core/trust/base64.ts";
import { encodePae } from "../../core/trust/dsse.ts";
import type { NetworkMode } from "./contracts/constants.ts";
import { parseJobSpec } from "./declare/jobspec.ts";
import { effectivePolicy } from "./declare/policy.ts";
import { checkPaths, type DeclaredPaths } from "./declare/preflight.ts";
import { checkSkill, type SkillFacts } from "./declare/skill.ts";
import { chooseGuard } from "./guard/guard-choice.ts";
import { compareTripwire, type Fingerprint } from "./guard/tripwire.ts";
import { sealOutputs } from "./outputs/outputs.ts";
import { type ProofBody, proofHash, sealProof } from "./record/proof.ts";
import { checkRunLedger } from "./record/run-ledger.ts";
import { planRecovery, type RecoveryFacts } from "./recover/recovery.ts";
import { type Lock, lockState } from "./run/lock-state.ts";
import { diffTrees, formatRestoreDiff } from "./tree/diff.ts";
import { type MemoParts, memoKey } from "./tree/memo.ts";
import { type Entry, merkleRoot, readTree, sortedMap, type Tree } from "./tree/tree.ts";
import { decideVerdict, type VerdictFacts } from "./verify/verdict.ts";

interface AreaPorts {
  readonly crypto: SyncCrypto;
}

type Area = (input: JsonObject, ports: AreaPorts) => Awaitable<JsonValue>;

const asObject = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The areas that need nothing but the input. Those on real disks and with real guards live in the app. */
export const CATALYTIC_AREAS: Readonly<Record<string, Area>> = {
  "catalytic.merkle": (input, { crypto }) => ({
    root: merkleRoot(crypto, new Map(Object.entries(asObject(input["manifest"])) as [string, string][])),
  }),
  "catalytic.diff": (input, { crypto }) => {
    const read = (name: string) =>
      sortedMap(Object.entries(asObject(input[name])).map(([domain, tree]) => [domain, readTree(tree)] as const));
    const diff = diffTrees(crypto, read("pre") as ReadonlyMap<string, Tree>, read("post"));
    return {
      restore_diff: JSON.parse(formatRestoreDiff(diff.restore_diff)) as JsonObject,
      empty: diff.empty,
      mismatches: toJson(diff.mismatches),
      condition: diff.condition,
    };
  },
  "catalytic.verdict": (input) => {
    const verdict = decideVerdict(given<VerdictFacts>(input));
    return { ...verdict, exit: exitOfCondition(verdict.condition) };
  },
  "catalytic.config": (input) => {
    const { policy, errors } = effectivePolicy(input["catalytic"] === undefined ? {} : input["catalytic"]);
    return { policy: toJson(policy), errors: toJson(errors) };
  },
  "catalytic.jobspec": (input) => {
    const { ok, errors, jobspec } = parseJobSpec(input["jobspec"] ?? null);
    return { ok, errors: toJson(errors), normalized: toJson(jobspec) };
  },
  "catalytic.guard": (input) =>
    toJson(
      chooseGuard(
        String(input["platform"]),
        input["requested"] as GuardRequest,
        given<Parameters<typeof chooseGuard>[2]>(asObject(input["probes"])),
        (input["network"] ?? "inherit") as NetworkMode,
      ),
    ),
  "catalytic.tripwire": (input) => {
    const { policy, settings } = effectivePolicy(input["config"] ?? {});
    const read = (name: string) => given<Map<string, Fingerprint>>(new Map(Object.entries(asObject(input[name]))));
    return toJson(
      compareTripwire({
        policy: policy!,
        settings: settings.tripwire,
        guard_class: input["guard_class"] as GuardClass,
        before: read("before"),
        after: read("after"),
        tool_touched: (input["tool_touched"] ?? []) as string[],
      }),
    );
  },
  "catalytic.lock": (input) => {
    const now = asObject(input["now"]);
    const processes = asObject(now["processes"]);
    const startOf = (pid: number) => (processes[String(pid)] as string | undefined) ?? null;
    return { state: lockState(given<Lock>(input["lock"]), { ...given<Lock>(now), startOf }) };
  },
  "catalytic.recover": (input) => toJson(planRecovery(given<RecoveryFacts>(input))),
  "catalytic.outputs": (input, { crypto }) => {
    const entries = given<Map<string, Entry | null>>(new Map(Object.entries(asObject(input["staged"]))));
    const sealed = sealOutputs(crypto, input["durable_paths"] as string[], { entries }, String(input["runs_root"]));
    return {
      violations: toJson(sealed.violations),
      outputs: toJson(sealed.outputs),
      output_hashes: Object.fromEntries(sealed.output_hashes),
      outputs_root: sealed.outputs_root,
    };
  },
  "catalytic.ledger": (input, { crypto }) => {
    const { ok, first_bad, head } = checkRunLedger(crypto, String(input["run_id"]), String(input["text"]));
    return { ok, first_bad, head };
  },
  "catalytic.proof": (input, { crypto }) => {
    const body = given<ProofBody>(input["proof"]);
    return { proof_hash: proofHash(crypto, body), file_sha256: crypto.sha256(sealProof(crypto, body).bytes) };
  },
  "catalytic.dsse": (input, { crypto }) => {
    const seed = fromHex(String(input["seed_hex"]))!;
    const signed = encodePae(String(input["payload_type"]), encodeUtf8(String(input["payload"])));
    const key = crypto.ed25519PublicKey(seed);
    return {
      pae_hex: toHex(signed),
      keyid: crypto.sha256(key),
      public_key_hex: toHex(key),
      sig_b64: encodeBase64(crypto.ed25519Sign(seed, signed)),
    };
  },
  "catalytic.memo": (input, { crypto }) => ({ key: memoKey(crypto, given<MemoParts>(input)) }),
  "catalytic.skill": (input) => toJson(checkSkill(given<SkillFacts>(input))),
};

/** The rules of preflight that need no disk. */
export function preflightArea(input: JsonObject): JsonValue {
  const { policy, errors } = effectivePolicy(input["config"] ?? {});
  if (policy === null) return { ok: false, errors: toJson(errors), normalized: null };
  return toJson(checkPaths(policy, given<DeclaredPaths>(input["jobspec"]), null));
}
