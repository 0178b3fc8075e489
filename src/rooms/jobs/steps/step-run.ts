import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import type { ExecutePort, JobFacts, PatchPort, StepRow } from "../ports.ts";
import type { EffectsPort } from "./effect-state.ts";
import { type EffectStepPorts, runEffect } from "./effect-step.ts";
import { toFailure } from "./failure.ts";
import type { Held, QueuePorts } from "./queue.ts";
import { type Outcome, toBreachOutcome, toExecuteOutcome, toFailureOutcome, toReadOutcome } from "./receipt.ts";
import { writeFile } from "./write-step.ts";

export interface StepPorts extends QueuePorts {
  readonly content: ContentStore;
  readonly patch: PatchPort | null;
  readonly execute: ExecutePort | null;
  /** Files in git, for a job of a team; its effects are commits then, and the two ports above are not used. */
  readonly effects?: { readonly port: EffectsPort; readonly crypto: SyncCrypto } | null;
}

/** A claimed step, and the signal that its lease was lost. */
export interface Attempt {
  readonly row: StepRow;
  readonly job: Pick<JobFacts, "run_id" | "breach">;
  readonly held: Held;
  readonly signal: AbortSignal;
}

/** Only these say that the step cannot be done; anything else says that it could not be tried here and now. */
const VERDICT_EXITS: ReadonlySet<number> = new Set([1, 2]);

/**
 * Runs one step and says how it ended; null when its lease was lost on the way and the result must be discarded. What
 * is wrong with the step becomes a FAILURE; what is wrong with this machine or the store is thrown.
 */
export function runStep(ports: StepPorts, attempt: Attempt): Promise<Outcome | null> {
  const { row, job } = attempt;
  return judge(job, row, async () => {
    switch (row.step.op) {
      case "READ_SYMBOL":
      case "READ_SECTION":
        return readPayload(ports, job, row);
      case "WRITE": {
        const patch = await loadText(ports.content, row.step.constraints.patch_sha256);
        const team = toEffectPorts(ports);
        if (team !== null) return runEffect(team, attempt, patch);
        return writeFile(ports, requirePort(ports.patch), attempt, patch);
      }
      case "EXECUTE": {
        const team = toEffectPorts(ports);
        const hash = row.step.constraints.jobspec_sha256;
        if (team !== null) return runEffect(team, attempt, await loadText(ports.content, hash));
        return executeJobSpec(requirePort(ports.execute), ports.content, attempt, hash);
      }
    }
  });
}

/** What effects in git run on; null where files are in this checkout. */
export function toEffectPorts({ store, effects }: StepPorts): EffectStepPorts | null {
  return effects === undefined || effects === null ? null : { store, effects: effects.port, crypto: effects.crypto };
}

// Larger payloads are worth a lease of their own: others can do something else meanwhile.
const SMALL_BYTES = 64 * 1024;

/** How a step will end that takes no time and changes nothing: a short READ, or a breach. Null for all others. */
export async function foreseeStep(ports: StepPorts, job: JobOfStep, row: StepRow): Promise<Outcome | null> {
  const isShort = row.resolved.bytes !== undefined && row.resolved.bytes <= SMALL_BYTES;
  const isBreach = job.breach?.ordinal === row.step.ordinal;
  return isShort || isBreach ? judge(job, row, async () => readPayload(ports, job, row)) : null;
}

type JobOfStep = Attempt["job"];

async function judge<O>(job: JobOfStep, row: StepRow, run: () => Promise<O>): Promise<O | Outcome> {
  // A breach does nothing else, whatever the operation.
  if (job.breach?.ordinal === row.step.ordinal) return toBreachOutcome(job.run_id, row.step, job.breach);
  try {
    return await run();
  } catch (thrown) {
    if (!isVerbatimError(thrown) || !VERDICT_EXITS.has(thrown.exit)) throw thrown;
    return toFailureOutcome(job.run_id, row.step, toFailure(thrown));
  }
}

async function readPayload(ports: StepPorts, job: JobOfStep, row: StepRow): Promise<Outcome> {
  await ports.content.get(row.resolved.content_hash!);
  return toReadOutcome(job.run_id, row);
}

/** Runs the pinned JobSpec under an id of this attempt; attempts that may have crashed are recovered before it. */
async function executeJobSpec(
  execute: ExecutePort,
  content: ContentStore,
  { row, job, held, signal }: Attempt,
  hash: string,
): Promise<Outcome | null> {
  const jobspec = await loadText(content, hash);
  const idOf = (token: number) => `${row.step.step_id}-${token}`;
  const catalytic_run_id = idOf(held.token);
  const earlier = Array.from({ length: held.token - 1 }, (_, i) => idOf(i + 1));
  const ended = await execute.run({ jobspec, run_id: catalytic_run_id, earlier, signal });
  if (ended === null) return null;
  if ("refused" in ended) return toFailureOutcome(job.run_id, row.step, toFailure(ended.refused));
  return toExecuteOutcome(job.run_id, row, { catalytic_run_id, proof_hash: ended.proof_hash });
}

async function loadText(content: ContentStore, hash: string): Promise<string> {
  const text = decodeUtf8(await content.get(hash));
  // It was stored as UTF-8 and still has its hash.
  if (text === null) throw new VerbatimError("INTERNAL", { message: "a stored text is not valid UTF-8" });
  return text;
}

/** Planning refuses what this build cannot do; another build may have planned it. */
function requirePort<P>(port: P | null): P {
  if (port === null) throw new VerbatimError("OP_UNAVAILABLE");
  return port;
}
