import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { OutputItem } from "../outputs/outputs.ts";
import { publishOutputs, quarantine, rollBackOutput } from "../outputs/publish.ts";
import type { StagedOutputs } from "../outputs/staging.ts";
import { readJournal } from "../record/journal.ts";
import type { GuardRecord, MemoRecord, Proof } from "../record/proof.ts";
import type { Layers } from "../tree/layers.ts";
import type { InputHashes } from "../tree/snapshots.ts";
import { formatTrees, type Trees } from "../tree/tree.ts";
import { type CommandResult, decideVerdict, type Verdict, type Violation } from "../verify/verdict.ts";
import { closeRun } from "./closing.ts";
import { journalOf } from "./places.ts";
import type { RunContext } from "./run-context.ts";
import { type EndingText, explainEnding } from "./run-message.ts";
import type { Restored } from "./run-restore.ts";

/** Everything the verdict follows from. */
interface ProveFacts {
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
  /** What is known of the guard when everything was looked at. */
  guard(): GuardRecord;
  /** Looks at the real tree once more, and says what was not known yet. */
  lookAtLast(): Promise<readonly Violation[]>;
}

interface Proved {
  readonly verdict: Verdict;
  readonly ending: EndingText;
  readonly proof: Proof;
  readonly outputs: readonly OutputItem[];
  readonly quarantined: readonly string[];
  readonly violations: readonly Violation[];
}

/**
 * Phase 5: the verdict; outputs are published or kept in quarantine; the proof is written last. The last look at the
 * real tree comes after the outputs are in place, and what it finds takes them back.
 */
export async function proveRun(context: RunContext, facts: ProveFacts): Promise<Proved> {
  const { ports, declared, places, record, journal, view } = context;
  const { jobspec } = declared;
  const { restored, command } = facts;
  const decide = (violations: readonly Violation[]) =>
    decideVerdict({
      mismatches: restored.mismatches,
      unreachable: restored.unreachable.size > 0,
      violations,
      command_result: command,
      expected_exit_codes: jobspec.expected_exit_codes,
      recovered: false,
    });
  journal.record("COMPARED");
  const published = decide(facts.violations).verified ? await publish(context, facts) : null;
  const late = await facts.lookAtLast();
  view?.writeChanges(record);
  const violations = [...facts.violations, ...late];
  const verdict = decide(violations);
  if (published !== null && !verdict.verified) await takeBack(context);
  for (const violation of late) record.log("VIOLATION", violation);
  const isSame = restored.post === facts.pre.trees;
  const postHash = isSame ? record.hashOf("PRE_TREE.json") : ports.crypto.sha256(`${formatTrees(restored.post)}\n`);
  const { domains_identical, condition } = verdict;
  record.log("COMPARED", { domains_identical, condition, post_tree_sha256: postHash });
  const outputs = verdict.verified ? facts.outputs : [];
  if (verdict.verified) record.log("PUBLISHED", published!);
  const quarantined = verdict.verified ? [] : await setAside(context, facts);
  const ending = explainEnding({
    run_id: jobspec.run_id,
    verdict,
    command,
    violations,
    mismatches: restored.mismatches,
    pre: facts.pre.trees,
    post: restored.post,
    domains: jobspec.catalytic_domains.length,
    quarantined,
    record: places.record_path ?? places.record,
    failure: facts.failure,
  });
  const proof = await close(context, facts, { verdict, ending, outputs, violations });
  journal.record("PROOF_WRITTEN");
  return { verdict, ending, proof, outputs, quarantined, violations };
}

/** Phase 3b: what the ledger says about it. */
async function publish(
  { ports, declared, places, journal }: RunContext,
  { layers, staged }: ProveFacts,
): Promise<{ readonly paths: readonly string[]; readonly removed?: readonly string[] }> {
  const { durable_paths: outputs } = declared.jobspec.outputs;
  const makeFolders = (path: string) => layers.makeFolders(path);
  const published = await publishOutputs(ports.disk, journal, places, outputs, makeFolders);
  const removed = published.flatMap((one) => one.removed);
  const paths = sortedByCodePoint(staged.entries.keys());
  return removed.length > 0 ? { paths, removed } : { paths };
}

async function takeBack({ ports, places }: RunContext): Promise<void> {
  const items = readJournal(ports.disk, journalOf(places)).filter(({ op }) => op === "PUBLISH_ITEM");
  for (const item of items.toReversed()) await rollBackOutput(ports.disk, places, item);
}

async function setAside(
  { ports, places, record }: RunContext,
  { staged }: Pick<ProveFacts, "staged">,
): Promise<readonly string[]> {
  const kept = await quarantine(ports.disk, places, staged.entries);
  if (kept !== null) record.write("QUARANTINE.json", kept.text);
  record.log("QUARANTINED", { paths: kept?.paths ?? [] });
  return (kept?.paths ?? []).filter((path) => staged.entries.get(path)?.type !== "dir");
}

async function close(
  context: RunContext,
  facts: ProveFacts,
  { verdict, ending, outputs, violations }: Pick<Proved, "verdict" | "ending" | "outputs" | "violations">,
): Promise<Proof> {
  const { ports, request, declared, places, record, logs, connections } = context;
  const { pre, restored, command } = facts;
  try {
    return await closeRun(ports, record, {
      jobspec: declared.jobspec,
      started: facts.started,
      pre: pre.trees,
      post: restored.post,
      unreachable: restored.unreachable,
      inputs: pre.inputs.hashes,
      guard: facts.guard(),
      command_result: command,
      violations,
      outputs,
      memo: facts.memo,
      recovered: false,
      verdict,
      mismatches: restored.mismatches,
      logs: { stdout: logs.stdout.finish(), stderr: logs.stderr.finish() },
      connections: connections?.finish() ?? null,
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
    await takeBack(context);
    if (isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("ARTIFACT_WRITE_FAILED", { where: places.record, cause: thrown });
  }
}
