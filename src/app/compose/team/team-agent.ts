import { z } from "zod";
import { buildCommit } from "../../../adapters/git/effect-commit.ts";
import { readJobChanges } from "../../../adapters/git/job-tree.ts";
import type { Mirror } from "../../../adapters/git/mirror.ts";
import { parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import type { Pauses, QueuedResult, QueuedRow, WorkItem } from "../../../rooms/jobs/index.ts";
import { AgentRecord, streamOf } from "../../../rooms/workflow/index.ts";
import { runAgent } from "../../agent/agent.ts";
import { LAND_ALL } from "../../agent/landing/landable.ts";
import type { AgentPorts } from "../../agent/ports.ts";
import { queueRequest } from "../../agent/queue/queue-request.ts";
import type { AgentSummary } from "../../agent/report/agent-summary.ts";
import { runFields, toRequest } from "../../agent/request/run-fields.ts";
import { findAgentRun } from "../../agent/runs/find-agent-run.ts";
import { applyAgentRun } from "../../agent/runs/runs.ts";
import { packRun } from "../../agent/storage/run-package.ts";
import { QUEUE_RECORDS } from "../../team/queue-records.ts";
import type { Composition } from "../compose.ts";
import type { AppStore } from "../store/store.ts";
import { withAgentPlace } from "./team-attempt.ts";
import { holdItem, type ItemEnd } from "./team-item.ts";

export interface RunOptions {
  readonly composition: Composition;
  readonly store: AppStore;
  readonly content: ContentStore;
  readonly pauses: Pauses;
  /** The mirror of a repository that this worker serves; undefined for any other. */
  mirror(repositoryId: string): Mirror | undefined;
  readonly folder: string;
  readonly incarnation: string;
  readonly worker: string;
  readonly stop: AbortSignal;
  /** Variables of the worker that agents get, and hosts that they may reach besides those of their profile. */
  readonly env: readonly string[];
  readonly hosts: readonly string[];
}

const fields = z.strictObject(runFields);

/**
 * Works on a run that was asked for: one start of its command. What becomes of it is written only while this attempt is the
 * newest one; a start that was lost is counted, and after as many as were allowed the run is.
 */
export async function runQueued(options: RunOptions, item: WorkItem): Promise<ItemEnd> {
  const { store, worker } = options;
  const row = await store.read(({ team }) => team!.queued.run(item.job_id));
  if (row === null) throw new VerbatimError("INTERNAL", { message: `there is no request of the run ${item.job_id}` });
  return holdItem(options, item, async (hold) => {
    if (row.result !== null) return hold.end(async () => undefined);
    if (row.starts >= row.tries) return hold.end((tx) => record(tx, toLost(row, worker), worker));
    const mirror = options.mirror(row.repository_id);
    if (mirror === undefined) throw new VerbatimError("REPOSITORY_UNKNOWN", { details: { id: row.repository_id } });
    const n = await hold.write(async ({ team, ledger }) => {
      const start = await team!.queued.addStart(row.run_id, worker);
      const entry = QUEUE_RECORDS.make("AGENT_TAKEN", worker, { run_id: row.run_id, n: start });
      await ledger.append(streamOf(row.run_id), "next", [entry]);
      return start;
    });
    if (!(await mirror.hasCommit(row.base_commit))) await mirror.fetch();
    const made = await workOn(options, row, mirror, n, hold.lost).catch((thrown: unknown) => {
      if (!isRefusal(thrown)) throw thrown;
      return thrown;
    });
    if (made instanceof VerbatimError) {
      const reason = `${made.code}: ${made.message}`;
      return hold.end((tx) => record(tx, { ...toLost(row, worker), state: "not_started", reason }, worker));
    }
    if (options.stop.aborted || hold.lost.aborted) return "RELEASED";
    const result = { ...made.result, package: await options.content.put(made.bytes) };
    if (result.ref !== null) await pushRun(mirror, result.ref, result.commit_id!);
    return hold.end((tx) => record(tx, result, worker));
  });
}

/** What is missing on this machine, and not wrong with what was asked: another worker may have it. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set([
  "NETWORK_NOT_ENFORCEABLE",
  "GUARD_UNAVAILABLE",
  "PATCH_ENV_INVALID",
]);

/** Whether the request itself cannot be carried out, on whatever machine: it would be refused again. */
function isRefusal(thrown: unknown): thrown is VerbatimError {
  return isVerbatimError(thrown) && (thrown.exit === 1 || thrown.exit === 2) && !OF_THE_MACHINE.has(thrown.code);
}

type Tx = Parameters<Parameters<AppStore["transact"]>[0]>[0];

async function record({ team, ledger }: Tx, result: QueuedResult, worker: string): Promise<void> {
  await team!.queued.addResult(result);
  const { run_id, state: outcome, candidate, commit_id: commit, tree, ref } = result;
  const body = { run_id, outcome, candidate, commit, tree, ref, package: result.package };
  await ledger.append(streamOf(run_id), "next", [QUEUE_RECORDS.make("AGENT_FINISHED", worker, body)]);
}

function toLost({ run_id, starts }: QueuedRow, worker: string): QueuedResult {
  return {
    run_id,
    state: "lost",
    reason: `it was started ${starts} times, and each time its worker was lost`,
    worker,
    files: 0,
    added: 0,
    deleted: 0,
    candidate: null,
    commit_id: null,
    tree: null,
    ref: null,
    package: null,
    duration_ms: 0,
  };
}

/** A start of a run and its branch have one name, so whoever pushes late moves nothing that a result names. */
function refOf(incarnation: string, runId: string, n: number): string {
  const plain = `refs/verbatim/agent/${incarnation.slice(0, 8)}-${runId}`;
  return n === 1 ? plain : `${plain}-${n}`;
}

async function workOn(options: RunOptions, row: QueuedRow, mirror: Mirror, n: number, lost: AbortSignal) {
  const { composition, folder, incarnation, worker, env, hosts } = options;
  const { run_id, base_commit: commit } = row;
  const stop = AbortSignal.any([options.stop, lost]);
  const begun = performance.now();
  return withAgentPlace(
    { composition, mirror, folder, name: `${run_id}-${n}`, commit, runId: run_id, stop },
    async (outside, tree) => {
      const summary = await runRequest(outside, row.request, env, hosts);
      const run = await findAgentRun(outside, await outside.workflow("mutate"), run_id);
      const { candidate: c } = AgentRecord.load(run)!.now;
      const candidate = c === null ? null : AgentRecord.load(run)!.candidate(c)!.sha256;
      const bytes = await packRun(run, await outside.content("read"));
      const isReady = summary.outcome === "verified" || summary.outcome === "unverified";
      const words = {
        time: formatTime(row.asked_ms),
        subject: row.goal,
        trailers: [`Verbatim-Run: ${run_id}`, `Verbatim-Candidate: ${candidate ?? "none"}`],
      };
      let built: { readonly commit: string; readonly tree: string } | null = null;
      if (isReady && !stop.aborted) {
        // In a tree that is thrown away: what the candidate makes of the base is what is committed.
        await applyAgentRun(outside, run_id, LAND_ALL);
        built = await buildCommit(mirror, [commit], await readJobChanges(mirror, commit, tree), words);
      }
      const { files, added_lines, deleted_lines } = summary.changes;
      const result: Omit<QueuedResult, "package"> = {
        run_id,
        state: summary.outcome,
        reason: summary.reason,
        worker,
        files: files.length,
        added: added_lines,
        deleted: deleted_lines,
        candidate,
        commit_id: built?.commit ?? null,
        tree: built?.tree ?? null,
        ref: built === null ? null : refOf(incarnation, run_id, n),
        duration_ms: Math.round(performance.now() - begun),
      };
      return { bytes, result };
    },
  );
}

/** The run as it was asked for, with what this worker adds; nothing but that. */
async function runRequest(
  outside: AgentPorts,
  text: string,
  env: readonly string[],
  hosts: readonly string[],
): Promise<AgentSummary> {
  const { command, network, ...asked } = queueRequest.parse(parseJson(text));
  const host = network === "allow" ? [...hosts] : [];
  const given = { ...asked, network, host, env: [...env], guard: "ns-overlay" };
  return runAgent(outside, toRequest(outside, fields.parse(given), command));
}

async function pushRun(mirror: Mirror, ref: string, commit: string): Promise<void> {
  const at = await mirror.readRef(ref);
  if (at === commit) return;
  const pushed = await mirror.push(ref, at, commit);
  if (pushed.moved || (await mirror.readRef(ref)) === commit) return;
  throw new VerbatimError("REMOTE_UNAVAILABLE", { message: `the remote did not take ${ref}: ${pushed.says}` });
}
