import { isJsonObject, type JsonObject, type JsonValue, sortedUnique } from "../../../core/canonical/index.ts";
import { acceptContract } from "../../../core/contracts/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { OUTPUTS, STATUS } from "../contracts/index.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import { findLexicalCode, isInside } from "../declare/path-rules.ts";
import { hashOutputs, type OutputItem, toDeclared } from "../outputs/outputs.ts";
import type { ArtifactFiles } from "../record/artifact-files.ts";
import { LISTED_MISMATCHES, type Proof } from "../record/proof.ts";
import { checkRunLedger, type RunLedgerCheck } from "../record/run-ledger.ts";
import { diffTrees, formatRestoreDiff, type TreesDiff } from "../tree/diff.ts";
import { contentManifest, type DomainState, stateOf, type Trees } from "../tree/tree.ts";
import { decideVerdict, type Verdict } from "./verdict.ts";
import type { Findings, TreesRead } from "./verify.ts";
import { checkJobSpec, checkPolicy, same } from "./verify-declared.ts";

/** Everything layer B needs, gathered once. */
interface Gathered {
  readonly crypto: SyncCrypto;
  readonly proof: Proof;
  readonly artifacts: ArtifactFiles;
  readonly errors: Findings;
  readonly jobspec: JobSpec;
  readonly pre: Trees;
  readonly post: Trees;
  readonly ledger: RunLedgerCheck;
  readonly diff: TreesDiff;
}

/** Layer B: every artifact follows from the others, and the verdict from all of them. */
export function checkContents(
  crypto: SyncCrypto,
  proof: Proof,
  artifacts: ArtifactFiles,
  { pre, post }: TreesRead,
  policySha256: string | null,
  errors: Findings,
): void {
  for (const file of ["JOBSPEC.json", "STATUS.json", "RUN_INFO.json"]) {
    if (artifacts.object(file)?.["run_id"] !== proof.run_id) {
      errors.file("RUN_ID_MISMATCH", file, `it does not belong to run ${proof.run_id}`);
    }
  }
  const ledger = checkRunLedger(crypto, proof.run_id, artifacts.text("LEDGER.jsonl") ?? "", closingBody(artifacts));
  if (!ledger.ok) errors.file("LEDGER_CHAIN_BROKEN", "LEDGER.jsonl", `the first bad line is ${ledger.first_bad}`);
  const policy = checkPolicy(proof, artifacts, policySha256, errors);
  const jobspec = checkJobSpec(proof, artifacts, policy, errors);
  if (pre === null) errors.file("ARTIFACT_MALFORMED", "PRE_TREE.json", "it contains something that is not an entry");
  if (post === null) errors.file("ARTIFACT_MALFORMED", "POST_TREE.json", "it contains something that is not an entry");
  if (jobspec === null || pre === null || post === null) return;
  if (!haveSameDomains(jobspec, proof, pre, post)) {
    errors.file("CROSS_CHECK_MISMATCH", "PRE_TREE.json", "JobSpec, proof and trees name different domains");
    return;
  }
  const diff = diffTrees(crypto, pre, post);
  const gathered = { crypto, proof, artifacts, errors, jobspec, pre, post, ledger, diff };
  checkTrees(gathered);
  const verdict = recompute(gathered);
  checkOutputs(gathered, verdict);
  checkStatements(gathered, verdict);
  const { mismatches } = diff;
  const listed = mismatches.slice(0, LISTED_MISMATCHES);
  if (!same(proof.restoration_result, { ...verdict, mismatch_count: mismatches.length, mismatches: listed })) {
    errors.file("VERDICT_MISMATCH", "PROOF.json", `the artifacts say ${verdict.condition}`);
  }
}

const CLOSING = ["OUTPUTS", "POST_MANIFEST", "PRE_MANIFEST", "RESTORE_DIFF", "RUN_INFO", "STATUS"];

/** The body the closing entry of the ledger must have: the files, which are canonical by now. */
function closingBody(artifacts: ArtifactFiles): string {
  const members = CLOSING.map((name) => `"${name}":${(artifacts.text(`${name}.json`) ?? "null\n").slice(0, -1)}`);
  return `{${members.join(",")}}`;
}

function haveSameDomains(jobspec: JobSpec, proof: Proof, pre: Trees, post: Trees): boolean {
  const domains = jobspec.catalytic_domains;
  return [proof.catalytic_domains, [...pre.keys()], [...post.keys()]].every((list) => same(list, domains));
}

function checkTrees({ crypto, proof, artifacts, errors, jobspec, pre, post, diff }: Gathered): void {
  for (const [file, tree] of [
    ["PRE_MANIFEST.json", "PRE_TREE.json"],
    ["POST_MANIFEST.json", "POST_TREE.json"],
  ] as const) {
    if (!artifacts.isExpected(file)) errors.file("MANIFEST_MISMATCH", file, `it does not match ${tree}`);
  }
  const before = statesOf(crypto, pre);
  const after = pre === post ? before : statesOf(crypto, post);
  const roots = Object.create(null) as JsonObject;
  for (const [domain, state] of before) roots[domain] = { pre: toRoots(state), post: toRoots(after.get(domain)!) };
  if (!same(artifacts.value("DOMAIN_ROOTS.json"), roots)) {
    errors.file("ROOT_MISMATCH", "DOMAIN_ROOTS.json", "the roots do not match the trees");
  }
  const isStated = (stated: Proof["pre_state"], computed: ReadonlyMap<string, DomainState>) =>
    Object.keys(stated).length === computed.size &&
    [...computed].every(([domain, state]) => {
      const { error: _, ...facts } = stated[domain] ?? {};
      return same(facts, state);
    });
  const preHasError = Object.values(proof.pre_state).some((state) => state.error !== undefined);
  if (preHasError || !isStated(proof.pre_state, before) || !isStated(proof.post_state, after)) {
    errors.file("ROOT_MISMATCH", "PROOF.json", "pre_state or post_state does not match the trees");
  }
  if (artifacts.text("RESTORE_DIFF.json") !== `${formatRestoreDiff(diff.restore_diff)}\n`) {
    errors.file("DIFF_MISMATCH", "RESTORE_DIFF.json", "it does not match the trees");
  }
  if (
    !artifacts.isExpected("INPUT_HASHES.json") &&
    !isInputHashes(artifacts.value("INPUT_HASHES.json"), jobspec, pre)
  ) {
    errors.file("CROSS_CHECK_MISMATCH", "INPUT_HASHES.json", "it does not match PRE_TREE.json");
  }
}

function statesOf(crypto: SyncCrypto, trees: Trees): Map<string, DomainState> {
  return new Map([...trees].map(([domain, tree]) => [domain, stateOf(crypto, tree)]));
}

function toRoots({ content_root, tree_root }: DomainState): JsonObject {
  return { content_root, tree_root };
}

/** Every file of the domains with its hash; whatever else is there is in a declared input. */
function isInputHashes(value: JsonValue | undefined, jobspec: JobSpec, pre: Trees): boolean {
  if (!isJsonObject(value)) return false;
  const expected = new Map<string, string>();
  for (const [domain, tree] of pre) {
    for (const [path, hash] of contentManifest(tree)) expected.set(`${domain}/${path}`, hash);
  }
  for (const [path, hash] of expected) if (value[path] !== hash) return false;
  const inputs = jobspec.inputs.map((input) => (input === "." ? "" : input));
  return Object.keys(value).every((path) => {
    const hash = value[path];
    if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash)) return false;
    return expected.has(path) || inputs.some((input) => isInside(path, input));
  });
}

function recompute({ proof, jobspec, diff }: Gathered): Verdict {
  const unreachable = Object.values(proof.post_state).some((state) => state.error !== undefined);
  const { violations, command_result, recovered } = proof;
  const { expected_exit_codes } = jobspec;
  return decideVerdict({
    mismatches: diff.mismatches,
    unreachable,
    violations,
    command_result,
    expected_exit_codes,
    recovered,
  });
}

function checkOutputs({ crypto, proof, artifacts, errors, jobspec }: Gathered, verdict: Verdict): void {
  const value = artifacts.value("OUTPUTS.json")!;
  const fail = (why: string) => errors.file("OUTPUTS_INCONSISTENT", "OUTPUTS.json", why);
  const outputs = acceptContract(OUTPUTS, value);
  if (outputs === null) {
    fail("it is not a list of outputs");
    return;
  }
  const { output_hashes, outputs_root } = hashOutputs(crypto, outputs);
  const hashes = Object.create(null) as JsonObject;
  for (const [path, hash] of output_hashes) hashes[path] = hash;
  if (!same(artifacts.value("OUTPUT_HASHES.json"), hashes)) fail("OUTPUT_HASHES.json does not match it");
  if (proof.outputs_root !== outputs_root) fail("outputs_root does not match it");
  const declared = jobspec.outputs.durable_paths.map(toDeclared);
  const isDeclared = ({ path }: OutputItem) =>
    findLexicalCode(path) === null && declared.some((one) => isInside(path, one.path));
  if (!outputs.every(isDeclared)) fail("it lists something that was not declared");
  if (
    !same(
      outputs.map(({ path }) => path),
      sortedUnique(outputs.map(({ path }) => path)),
    )
  )
    fail("it is not sorted");
  if (!verdict.verified) {
    if (outputs.length > 0) fail("a run that is not verified has outputs");
    return;
  }
  for (const { path, folder } of declared) {
    const found = outputs.find((one) => one.path === path);
    if (found?.type !== (folder ? "dir" : "file")) fail(`the declared output ${path} is missing or of the wrong kind`);
  }
}

function checkStatements({ proof, artifacts, errors, jobspec, ledger }: Gathered, verdict: Verdict): void {
  const differ = (file: string, why: string) => errors.file("CROSS_CHECK_MISMATCH", file, why);
  const status = artifacts.value("STATUS.json");
  const exitCode = proof.command_result.exit_code;
  const final = verdict.verified ? "succeeded" : verdict.domains_identical ? "failed" : "halted";
  const expectedStatus = {
    status: final,
    exit_code: exitCode,
    restoration_verified: verdict.verified,
    condition: verdict.condition,
  };
  if (STATUS.check(status!).length > 0 || !holds(status, expectedStatus))
    differ("STATUS.json", "it does not agree with the verdict");
  const info = artifacts.value("RUN_INFO.json");
  const expectedInfo = {
    exit_code: exitCode,
    restoration_verified: verdict.verified,
    catalytic_domains: jobspec.catalytic_domains,
    intent: jobspec.intent,
  };
  if (!holds(info, expectedInfo)) differ("RUN_INFO.json", "it does not agree with the verdict");
  if (ledger.ok) {
    const bodies = ledger.bodies.filter((_, i) => ledger.entries[i]!.kind === "VIOLATION");
    if (!ledger.closed_as_known) differ("LEDGER.jsonl", "its RUN entry does not match the files");
    if (!same(bodies, proof.violations)) differ("LEDGER.jsonl", "its violations are not those of the proof");
  }
  if (!holds(artifacts.value("VALIDATOR_ID.json"), proof.validator))
    differ("VALIDATOR_ID.json", "it is not the validator of the proof");
}

function holds(value: JsonValue | undefined, members: object): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(members).every(([key, member]) => same(value[key], member));
}
