import { formatCanonical, hashCanonical } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { ReadTransaction, SyncCrypto } from "../../../core/ports.ts";
import type { Receipt } from "../contracts/receipt-shape.ts";
import { JOB_RECORDS } from "../contracts/records.ts";
import type { JobsReader, StepFailure } from "../ports.ts";
import type { DispatchRow, TeamReader } from "./dispatch.ts";
import type { EffectIntent, EffectPlace, EffectState, EffectsPort, EffectWords, MadeEffect } from "./effect-state.ts";
import { toFailure } from "./failure.ts";
import { requireJob, streamOf } from "./job-state.ts";
import { decideRenewal } from "./lease.ts";
import type { QueuePorts } from "./queue.ts";
import { type Outcome, toExecuteOutcome, toFailureOutcome, toWriteOutcome } from "./receipt.ts";
import type { Attempt } from "./step-run.ts";

export interface EffectStepPorts extends QueuePorts {
  readonly crypto: SyncCrypto;
  readonly effects: EffectsPort;
}

const VERDICT_EXITS: ReadonlySet<number> = new Set([1, 2]);
const FIRST_PAGE = 10;

/** What an effect is decided on: the branch, the commit it follows, and what earlier attempts said. */
interface Situation {
  readonly place: EffectPlace;
  readonly base: string;
  readonly parent: string;
  readonly words: EffectWords;
  readonly intents: readonly EffectIntent[];
}

/**
 * Runs a WRITE or EXECUTE whose files are in git. Its result is one commit on the job's branch, or none: the attempt says
 * what it is about to push, pushes, and writes the receipt only for what the remote has. Null when the attempt was lost.
 */
export async function runEffect(ports: EffectStepPorts, attempt: Attempt, text: string): Promise<Outcome | null> {
  const situation = await readSituation(ports, attempt);
  const found = await ports.effects.read(situation.place);
  if (found.at !== "free") return toOutcome(attempt, situation, found);
  const made = await make(ports, attempt, situation, text);
  if (made === null) return null;
  if ("refused" in made) return sealThen(ports, attempt, situation, made.refused);
  const intent = toIntent(ports.crypto, attempt, situation, made);
  if (!(await recordIntent(ports, attempt, intent))) return null;
  const place = { ...situation.place, intents: [...situation.place.intents, intent.commit_id] };
  const intents = [...situation.intents, intent];
  return toOutcome(attempt, { ...situation, place, intents }, await ports.effects.take(place, intent.commit_id));
}

/** Ends an effect step without its effect, for a job that was cancelled: unless a commit of it is on the branch already. */
export async function endEffect(ports: EffectStepPorts, attempt: Attempt, code: string): Promise<Outcome> {
  const failure = { code, details: {} };
  const { intents } = await ports.store.read((tx) => readTeam(tx, attempt.row.job_id));
  if (!intents.some(({ step_id }) => step_id === attempt.row.step.step_id)) {
    return toFailureOutcome(attempt.job.run_id, attempt.row.step, failure);
  }
  return sealThen(ports, attempt, await readSituation(ports, attempt), failure);
}

async function make(ports: EffectStepPorts, { row, held, signal }: Attempt, situation: Situation, text: string) {
  try {
    return await ports.effects.make({
      op: row.step.op === "EXECUTE" ? "EXECUTE" : "WRITE",
      base: situation.base,
      parent: situation.parent,
      job_id: row.job_id,
      token: held.token,
      step_id: row.step.step_id,
      file_path: row.resolved.file_path,
      text,
      words: situation.words,
      signal,
    });
  } catch (thrown) {
    if (!isVerbatimError(thrown) || !VERDICT_EXITS.has(thrown.exit)) throw thrown;
    return { refused: toFailure(thrown) };
  }
}

/** A failure of a step that has intents is written only when none of their commits can arrive any more. */
async function sealThen(
  ports: EffectStepPorts,
  attempt: Attempt,
  situation: Situation,
  failure: StepFailure,
): Promise<Outcome> {
  const failed = toFailureOutcome(attempt.job.run_id, attempt.row.step, failure);
  if (situation.intents.length === 0) return failed;
  const state = await ports.effects.take(situation.place, situation.place.seal);
  return state.at === "seal" ? failed : toOutcome(attempt, situation, state);
}

/** How the step ended, by what the remote has. */
function toOutcome({ row, job }: Attempt, { place, intents }: Situation, state: EffectState): Outcome {
  switch (state.at) {
    case "effect": {
      const intent = intents.find(({ commit_id }) => commit_id === state.commit)!;
      return { receipt: JSON.parse(intent.receipt) as Receipt, expansion: null };
    }
    case "seal":
      return toFailureOutcome(job.run_id, row.step, { code: "EFFECT_SEALED", details: { ref: place.ref } });
    case "elsewhere":
      return toFailureOutcome(job.run_id, row.step, {
        code: "EFFECT_REF_MOVED",
        details: { ref: place.ref, commit: state.commit },
      });
    case "free":
      throw new VerbatimError("INTERNAL", { message: "the place of an effect is free after it was taken" });
  }
}

function toIntent(crypto: SyncCrypto, attempt: Attempt, situation: Situation, made: MadeEffect): EffectIntent {
  const { row, job, held } = attempt;
  const { commit, tree, proof_hash } = made;
  const where = { commit, ref: situation.place.ref, tree };
  const { receipt } =
    proof_hash === null
      ? toWriteOutcome(job.run_id, row, where)
      : toExecuteOutcome(job.run_id, row, {
          catalytic_run_id: `${row.step.step_id}-${held.token}`,
          proof_hash,
          ...where,
        });
  const text = formatCanonical(receipt);
  return {
    step_id: row.step.step_id,
    job_id: row.job_id,
    ordinal: row.step.ordinal,
    attempt: held.token,
    ref: situation.place.ref,
    parent: situation.parent,
    commit_id: commit,
    tree,
    receipt: text,
    receipt_hash: hashCanonical(crypto, receipt),
  };
}

/** Says what is about to be pushed, while the step is held; false when it is not any more. */
async function recordIntent(ports: EffectStepPorts, { held }: Attempt, intent: EffectIntent): Promise<boolean> {
  const { job_id, step_id, attempt, ref, parent, commit_id: commit, tree, receipt_hash } = intent;
  const entry = JOB_RECORDS.make("EFFECT_INTENT", held.worker, {
    step_id,
    attempt,
    ref,
    parent,
    commit,
    tree,
    receipt_hash,
  });
  return ports.store.transact(async (tx) => {
    await tx.jobs.hold(streamOf(job_id));
    const view = await tx.jobs.viewForChange(held);
    if (view === null || decideRenewal(view.step, held, view.now) !== null) return false;
    const team = requireTeam(tx.team);
    const known = (await team.intents(job_id)).some((one) => one.step_id === step_id && one.commit_id === commit);
    // A WRITE is the same commit in every attempt, and so is its receipt.
    if (known) return true;
    await tx.ledger.append(streamOf(job_id), "next", [entry]);
    await team.addIntent(intent);
    await team.setRef(job_id, ref);
    return true;
  });
}

async function readSituation(ports: EffectStepPorts, { row }: Attempt): Promise<Situation> {
  const { job_id, step } = row;
  const found = await ports.store.read(async (tx) => {
    const job = await requireJob(tx.jobs, job_id);
    const receipts = new Set((await tx.jobs.receipts(job_id)).map(({ receipt_hash }) => receipt_hash));
    const plan = (await tx.ledger.readStream(streamOf(job_id), 0, FIRST_PAGE)).find(({ kind }) => kind === "PLAN");
    return { ...(await readTeam(tx, job_id)), job, receipts, time: plan?.time };
  });
  const { dispatch, incarnation, intents, job, receipts, time } = found;
  if (dispatch === null || dispatch.base_commit === null || time === undefined) {
    throw new VerbatimError("INTERNAL", { message: "a job with effects was sent without a repository" });
  }
  // The commit of the effect before this one: of several intents, the one whose receipt was written.
  const last = intents.findLast((one) => one.ordinal < step.ordinal && receipts.has(one.receipt_hash));
  const parent = last?.commit_id ?? dispatch.base_commit;
  const ref = dispatch.ref ?? `refs/verbatim/job/${incarnation.slice(0, 8)}-${job_id}`;
  // After a restore the job goes on under another name, where nothing of an attempt before it is or will ever be.
  const isMoved = intents.some((one) => one.ref !== ref);
  const words = {
    time,
    subject: job.message.intent,
    job: job_id,
    step: step.step_id,
    plan: job.plan_hash,
    ...(isMoved ? { incarnation } : {}),
  };
  const own = intents.filter((one) => one.step_id === step.step_id && one.ref === ref);
  return {
    base: dispatch.base_commit,
    parent,
    words,
    intents: own,
    place: {
      ref,
      before: last?.ref === ref ? last.commit_id : null,
      intents: own.map(({ commit_id }) => commit_id),
      seal: await ports.effects.seal(parent, words),
    },
  };
}

type TeamTransaction = ReadTransaction & { readonly jobs: JobsReader; readonly team?: TeamReader | null };

async function readTeam(tx: TeamTransaction, jobId: string) {
  const team = requireTeam(tx.team);
  const dispatch: DispatchRow | null = await team.dispatch(jobId);
  return { dispatch, incarnation: await team.incarnation(), intents: await team.intents(jobId) };
}

/** The tables of a team; a store in a file has none and never comes here. */
export function requireTeam<T>(team: T | null | undefined): T {
  if (team !== null && team !== undefined) return team;
  throw new VerbatimError("INTERNAL", { message: "this store has no team" });
}
