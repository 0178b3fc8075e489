import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { AGENT_STATES, AT_WORK, type WorkflowPorts } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readSummary } from "../report/read-summary.ts";
import { withCallSignal } from "../report/show.ts";
import { findAgentRun } from "./find-agent-run.ts";

const LOOK_MS = 200;

export const waited = z.strictObject({
  runs: z.array(z.strictObject({ run_id: z.string(), outcome: z.enum(AGENT_STATES), reason: z.string().nullable() })),
  timed_out: z.boolean().describe("Some were still at work when the time was over."),
});

interface WaitOptions {
  readonly timeoutMs: number | null;
  readonly any: boolean;
  /** Ends the wait, in place of the end of the call. */
  readonly signal?: AbortSignal;
}

/** How a run stands: one of this checkout, or one that is still with the workers of a team. */
async function findRun(outside: AgentPorts, ports: WorkflowPorts, name: string) {
  const open = async () => {
    const run = await findAgentRun(outside, ports, name);
    return async () => {
      const { outcome, reason } = readSummary(outside, run)!;
      return { run_id: run.id, outcome, reason };
    };
  };
  try {
    return await open();
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "RUN_QUEUED") throw thrown;
    const { run_id } = (await outside.queue!.find(name))!;
    let read: Awaited<ReturnType<typeof open>> | null = null;
    return async () => {
      const now = (await outside.queue!.find(run_id))!;
      const isOver = now.duration_ms !== null;
      if (!isOver) return { run_id, outcome: "working" as const, reason: now.state };
      read ??= await open();
      return read();
    };
  }
}

/** Waits until all of some runs have ended, or with `any` one of them. INTERRUPTED when whoever waits goes away. */
export async function waitForRuns(
  outside: AgentPorts,
  names: readonly string[],
  { timeoutMs, any, signal: given }: WaitOptions,
): Promise<z.infer<typeof waited>> {
  const ports = await outside.workflow("read");
  const runs = await Promise.all(names.map((name) => findRun(outside, ports, name)));
  const until = timeoutMs === null ? null : outside.clock.now() + timeoutMs;
  const wait = async (signal: AbortSignal) => {
    for (;;) {
      const found: z.infer<typeof waited>["runs"] = [];
      for (const run of runs) found.push(await run());
      const isOver = ({ outcome }: (typeof found)[number]) => !AT_WORK.includes(outcome);
      if (any ? found.some(isOver) : found.every(isOver)) return { runs: found, timed_out: false };
      if (signal.aborted) throw new VerbatimError("INTERRUPTED", { message: "nobody waits any more; the runs go on" });
      if (until !== null && outside.clock.now() >= until) return { runs: found, timed_out: true };
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  return given === undefined ? await withCallSignal(outside, wait) : await wait(given);
}
