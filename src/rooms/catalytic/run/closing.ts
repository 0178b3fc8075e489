import { compareCodePoints, formatCanonical } from "../../../core/canonical/index.ts";
import { formatTime } from "../../../core/time.ts";
import { signEnvelope } from "../../../core/trust/dsse.ts";
import { NETWORK_FILE, PROOF_PAYLOAD_TYPE, PROOF_VERSION, RULES_VERSION } from "../contracts/constants.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import { formatOutputs, hashOutputs, type OutputItem } from "../outputs/outputs.ts";
import type { CatalyticPorts } from "../ports.ts";
import { type GuardRecord, LISTED_MISMATCHES, type MemoRecord, type Proof, sealProof } from "../record/proof.ts";
import { formatClosing, type RunRecord, type StatusFacts } from "../record/run-record.ts";
import { diffTrees, formatRestoreDiff, type Mismatch } from "../tree/diff.ts";
import {
  type DomainState,
  formatManifests,
  formatSortedMap,
  formatTrees,
  sortedMap,
  stateOf,
  type Trees,
} from "../tree/tree.ts";
import { textsOf, textsOfRun } from "../tree/tree-texts.ts";
import type { CommandResult, Verdict, Violation } from "../verify/verdict.ts";

/** What is known when a run is over. */
interface ClosingFacts {
  readonly jobspec: JobSpec;
  readonly started: string;
  readonly pre: Trees;
  readonly post: Trees;
  /** Why a domain could not be looked at afterwards. */
  readonly unreachable: ReadonlyMap<string, string>;
  /** Path -> hash of everything the run was given to read. */
  readonly inputs: ReadonlyMap<string, string>;
  readonly guard: GuardRecord;
  readonly command_result: CommandResult;
  readonly violations: readonly Violation[];
  readonly outputs: readonly OutputItem[];
  readonly memo: MemoRecord | null;
  readonly recovered: boolean;
  readonly verdict: Verdict;
  readonly mismatches: readonly Mismatch[];
  readonly logs: { readonly stdout: Uint8Array; readonly stderr: Uint8Array };
  /** NETWORK.jsonl; null where there is none. */
  readonly connections: Uint8Array | null;
  readonly status: StatusFacts;
  readonly sign: string | null;
}

type ClosingPorts = Pick<CatalyticPorts, "crypto" | "clock" | "validator" | "host" | "signingKey">;

/** Writes every remaining artifact, the closing ledger entry and, last, the proof (CMP-01, Phase 5). */
export async function closeRun(ports: ClosingPorts, record: RunRecord, facts: ClosingFacts): Promise<Proof> {
  const { crypto, clock, validator, host } = ports;
  const { jobspec, pre, post, verdict, command_result: command } = facts;
  const same = pre === post;
  const ready = textsOfRun(pre)?.files;
  if (same) record.writeSame("POST_TREE.json", "PRE_TREE.json");
  else record.write("POST_TREE.json", formatTrees(post));
  record.write("PRE_MANIFEST.json", ready?.manifests ?? formatManifests(pre));
  if (same) record.writeSame("POST_MANIFEST.json", "PRE_MANIFEST.json");
  else record.write("POST_MANIFEST.json", formatManifests(post));
  const { restore_diff: diff } = diffTrees(crypto, pre, post);
  const diffText = formatRestoreDiff(diff);
  record.write("RESTORE_DIFF.json", diffText);
  const before = statesOf(ports, pre);
  const after = same ? before : statesOf(ports, post);
  const roots = sortedMap(
    [...before].map(([domain, state]) => [domain, { pre: toRoots(state), post: toRoots(after.get(domain)!) }]),
  );
  record.write("DOMAIN_ROOTS.json", formatSortedMap(roots, formatCanonical));
  const isReady = ready !== undefined && facts.inputs.size === 0;
  record.write("INPUT_HASHES.json", isReady ? ready.inputs : formatInputHashes(pre, facts.inputs));
  const outputsText = formatOutputs(facts.outputs);
  record.write("OUTPUTS.json", outputsText);
  const { output_hashes, outputs_root } = hashOutputs(crypto, facts.outputs);
  record.write(
    "OUTPUT_HASHES.json",
    formatSortedMap(output_hashes, (hash) => `"${hash}"`),
  );
  record.write("STDOUT.log", facts.logs.stdout);
  record.write("STDERR.log", facts.logs.stderr);
  if (facts.connections !== null) record.write(NETWORK_FILE, facts.connections);
  const platform = `${host.platform}-${host.arch}`;
  record.write(
    "VALIDATOR_ID.json",
    formatCanonical({ ...validator, rules: RULES_VERSION, runtime: host.runtime, platform }),
  );
  const now = formatTime(clock.now());
  const infoText = formatCanonical({
    run_id: jobspec.run_id,
    job_id: jobspec.job_id,
    timestamp: facts.started,
    ended_at: now,
    intent: jobspec.intent,
    catalytic_domains: jobspec.catalytic_domains,
    determinism: jobspec.determinism,
    exit_code: command.exit_code,
    restoration_verified: verdict.verified,
    guard: facts.guard.name,
    network: facts.guard.network,
    tool_version: validator.validator_semver,
  });
  record.write("RUN_INFO.json", infoText);
  const statusText = formatCanonical(record.toStatus(facts.status));
  record.write("STATUS.json", statusText);
  const rest = `,"RESTORE_DIFF":${diffText},"RUN_INFO":${infoText},"STATUS":${statusText}}`;
  const [postPiece, prePiece] = [record.pieceOf("POST_MANIFEST.json"), record.pieceOf("PRE_MANIFEST.json")];
  const logged = record.logClosing("RUN", formatClosing(outputsText, postPiece, prePiece, rest));
  const artifacts = await beside(logged, () => record.artifacts());
  const { proof, bytes } = sealProof(crypto, {
    proof_version: PROOF_VERSION,
    run_id: jobspec.run_id,
    job_id: jobspec.job_id,
    timestamp: now,
    catalytic_domains: jobspec.catalytic_domains,
    pre_state: toObject(before),
    post_state: toObject(withErrors(after, facts.unreachable)),
    artifacts,
    validator,
    guard: facts.guard,
    command_result: command,
    violations: facts.violations,
    outputs_root,
    memo: facts.memo,
    recovered: facts.recovered,
    restoration_result: {
      ...verdict,
      mismatch_count: facts.mismatches.length,
      mismatches: facts.mismatches.slice(0, LISTED_MISMATCHES),
    },
    previous_proof_hash: jobspec.previous_proof_hash,
  });
  const signature =
    facts.sign === null ? null : await signEnvelope(await ports.signingKey(facts.sign), PROOF_PAYLOAD_TYPE, bytes);
  record.finish(bytes, signature);
  return proof;
}

/** Does something while something else is under way, and gives its result when both are done. */
async function beside<T>(other: Promise<void>, act: () => T): Promise<T> {
  const [made] = await Promise.all([Promise.resolve().then(act), other]);
  return made;
}

function statesOf({ crypto }: ClosingPorts, trees: Trees): Map<string, DomainState> {
  return new Map([...trees].map(([domain, tree]) => [domain, textsOf(tree)?.state ?? stateOf(crypto, tree)]));
}

function toRoots({ content_root, tree_root }: DomainState) {
  return { content_root, tree_root };
}

function withErrors(
  states: ReadonlyMap<string, DomainState>,
  errors: ReadonlyMap<string, string>,
): Map<string, DomainState> {
  return new Map(
    [...states].map(([domain, state]) => {
      const error = errors.get(domain);
      return [domain, error === undefined ? state : { ...state, error }];
    }),
  );
}

function toObject(states: ReadonlyMap<string, DomainState>): Record<string, DomainState> {
  const object = Object.create(null) as Record<string, DomainState>;
  for (const [domain, state] of states) object[domain] = state;
  return object;
}

/** Every file of the domains and of the declared inputs. */
export function formatInputHashes(pre: Trees, inputs: ReadonlyMap<string, string>): string {
  const made = inputs.size === 0 ? textsOfRun(pre) : undefined;
  if (made !== undefined) return made.inputs;
  const all: [string, string][] = [];
  for (const [domain, tree] of pre) {
    for (const [path, entry] of tree) if (entry.type === "file") all.push([`${domain}/${path}`, entry.sha256]);
  }
  if (inputs.size > 0) {
    const known = new Set(all.map(([path]) => path));
    for (const [path, hash] of inputs) if (!known.has(path)) all.push([path, hash]);
  }
  all.sort(([a], [b]) => compareCodePoints(a, b));
  return formatSortedMap(all, (hash) => `"${hash}"`);
}
