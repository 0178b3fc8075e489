import { z } from "zod";
import { AGENT_STATES, AT_WORK, type Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readSummary } from "../report/read-summary.ts";
import { findOwnAgentRun } from "../runs/find-agent-run.ts";
import { readControl, readHeldBy } from "./agent-process.ts";
import { notRunning } from "./not-running.ts";

export const stopped = z.strictObject({
  run_id: z.string(),
  outcome: z.enum(AGENT_STATES).describe("Where the run stood when it was asked."),
  asked: z.enum(["end", "kill"]).describe("To end by itself within twelve seconds, or to be ended at once."),
});

/** Asks a run that is at work to end. What the agent did until then is captured. RUN_NOT_RUNNING. */
export async function stopAgentRun(outside: AgentPorts, name: string, now: boolean): Promise<z.infer<typeof stopped>> {
  const run = await findOwnAgentRun(outside, await outside.workflow("read"), name);
  const outcome = readSummary(outside, run)?.outcome;
  if (outcome === undefined || !AT_WORK.includes(outcome)) throw notRunning(run, outcome);
  const isAsked = (await askBySocket(outside, run, now ? "KILL" : "STOP")) || askBySignal(outside, run, now);
  if (!isAsked) throw notRunning(run, readSummary(outside, run)?.outcome);
  return { run_id: run.id, outcome, asked: now ? "kill" : "end" };
}

async function askBySocket(outside: AgentPorts, run: Run, word: "STOP" | "KILL"): Promise<boolean> {
  const place = readControl(run, outside);
  if (place === null) return false;
  const hello = { token: place.token, read_only: false, bytes: false };
  const line = await outside.control.join(place.socket, hello, {});
  line?.signal(word);
  line?.close();
  return line !== null;
}

/** A run without a socket hears signals as from a terminal: the first asks, the second ends. */
function askBySignal(outside: AgentPorts, run: Run, now: boolean): boolean {
  const pid = readHeldBy(run, outside);
  if (pid === null || !outside.control.signal(pid, "SIGINT")) return false;
  return now ? outside.control.signal(pid, "SIGTERM") : true;
}
