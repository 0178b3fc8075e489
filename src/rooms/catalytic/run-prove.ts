import { sortedByCodePoint } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { closeRun } from "./closing.ts";
import { readJournal } from "./journal.ts";
import type { Layers } from "./layers.ts";
import type { OutputItem } from "./outputs.ts";
import { journalOf } from "./places.ts";
import type { GuardRecord, MemoRecord, Proof } from "./proof.ts";
import { publishOutputs, quarantine, rollBackOutput } from "./publish.ts";
import type { RunContext } from "./run-context.ts";
import { type EndingText, explainEnding } from "./run-message.ts";
import type { Restored } from "./run-restore.ts";
import type { InputHashes } from "./snapshots.ts";
import type { StagedOutputs } from "./staging.ts";
import { formatTrees, type Trees } from "./tree.ts";
import { type CommandResult, decideVerdict, type Verdict, type Violation } from "./verdict.ts";

/** Everything the verdict follows from. */
export interface ProveFacts {
  readonly started: string;
  readonly pre: { readonly trees: Trees; readonly inputs: InputHashes };
  readonly restored: Restored;
  readonly layers: Layers;
  readonly command: CommandResult;
  /** The guard did not start. */
  readonly failure: VerbatimError | null;
  /** What would be published. */
  readonly outputs: readonly OutputItem[];
  readonly staged: StagedOutputs;
  readonly violations: readonly Violation[];
  readonly memo: MemoRecord | null;
  readonly guard: GuardRecord;
}

export interface Proved {
  readonly verdict: Verdict;
  readonly ending: EndingText;
  readonly proof: Proof;
  readonly outputs: readonly OutputItem[];
  readonly quarantined: readonly string[];
}

/** Phase 5: the verdict; outputs are published or kept in quarantine; the proof is written last. */
export async function proveRun(context: RunContext, facts: ProveFacts): Promise<Proved> {
  const { ports, declared, places, record, journal } = context;
  const { jobspec } = declared;
  const { restored, command, violations } = facts;
  const verdict = decideVerdict({
    mismatches: restored.mismatches,
    unreachable: restored.unreachable.size > 0,
    violations,
    command_result: command,
    expected_exit_codes: jobspec.expected_exit_codes,
    recovered: false,
  });
  const isSame = restored.post === facts.pre.trees;
  const postHash = isSame ? record.hashOf("PRE_TREE.json") : ports.crypto.sha256(`${formatTrees(restored.post)}\n`);
  const { domains_identical, condition } = verdict;
  journal.record("COMPARED");
  record.log("COMPARED", { domains_identical, condition, post_tree_sha256: postHash });
  const outputs = verdict.verified ? facts.outputs : [];
  const quarantined = await commit(context, facts, verdict);
  const ending = explainEnding({
    run_id: jobspec.run_id,
    verdict,
    command,
    violations,
    mismatches: restored.mismatches,
    domains: jobspec.catalytic_domains.length,
    quarantined,
    record: places.record_path ?? places.record,
    failure: facts.failure,
  });
  const proof = await close(context, facts, { verdict, ending, outputs });
  journal.record("PROOF_WRITTEN");
  return { verdict, ending, proof, outputs, quarantined };
}

/** Phase 3b, or quarantine. */
async function commit(
  { ports, declared, places, record, journal }: RunContext,
  { layers, staged }: ProveFacts,
  verdict: Verdict,
): Promise<readonly string[]> {
  if (verdict.verified) {
    const { durable_paths: outputs } = declared.jobspec.outputs;
    const makeFolders = (path: string) => layers.makeFolders(path);
    const published = await publishOutputs(ports.disk, journal, places, outputs, makeFolders);
    const removed = published.flatMap((one) => one.removed);
    const paths = sortedByCodePoint(staged.entries.keys());
    record.log("PUBLISHED", removed.length > 0 ? { paths, removed } : { paths });
    return [];
  }
  const kept = await quarantine(ports.disk, places, staged.entries);
  if (kept !== null) record.write("QUARANTINE.json", kept.text);
  record.log("QUARANTINED", { paths: kept?.paths ?? [] });
  return (kept?.paths ?? []).filter((path) => staged.entries.get(path)?.type !== "dir");
}

async function close(
  context: RunContext,
  facts: ProveFacts,
  { verdict, ending, outputs }: Pick<Proved, "verdict" | "ending" | "outputs">,
): Promise<Proof> {
  const { ports, request, declared, places, record, logs } = context;
  const { pre, restored, command, violations } = facts;
  try {
    return await closeRun(ports, record, {
      jobspec: declared.jobspec,
      started: facts.started,
      pre: pre.trees,
      post: restored.post,
      unreachable: restored.unreachable,
      inputs: pre.inputs.hashes,
      guard: facts.guard,
      command_result: command,
      violations,
      outputs,
      memo: facts.memo,
      recovered: false,
      verdict,
      mismatches: restored.mismatches,
      logs: { stdout: logs.stdout.finish(), stderr: logs.stderr.finish() },
      status: {
        ...ending,
        restoration_verified: verdict.verified,
        exit_code: command.exit_code,
        condition: verdict.condition,
        violations,
      },
      sign: request.sign ?? null,
    });
  } catch (thrown) {
    // CMP-01, Failure Handling: a run whose record cannot be written has no outputs.
    const items = readJournal(ports.disk, journalOf(places)).filter(({ op }) => op === "PUBLISH_ITEM");
    for (const item of items.toReversed()) await rollBackOutput(ports.disk, places, item);
    if (isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("ARTIFACT_WRITE_FAILED", { where: places.record, cause: thrown });
  }
}
