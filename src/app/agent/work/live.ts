import { z } from "zod";
import { AGENT_STATES, type AgentRecord } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { removeControls } from "../report/logs.ts";
import { readSpent } from "../usage/spending.ts";
import { readRecorded } from "./recorded-output.ts";

const TAIL = 4096;
const WIDEST_LINE = 120;

/** What can be said of a run while it is at work. */
export const liveRun = z.strictObject({
  phase: z.enum(AGENT_STATES).describe("Where the run stands."),
  since: z.string().describe("Since when it stands there."),
  last_line: z.string().describe("The last line the agent printed, without control characters, at most 120 of them."),
  cost: z.number().nullable().describe("What the attempts so far cost in USD; null: nobody can tell."),
});

/** What the folder of a run says of it: the same whoever asks, in the process that is at work or in another one. */
export function readLive(outside: AgentPorts, record: AgentRecord): z.infer<typeof liveRun> {
  const { state, updated_at } = record.now;
  return {
    phase: state,
    since: updated_at,
    last_line: readLastLine(outside, record),
    cost: readSpent(record)?.usd ?? null,
  };
}

export function readLastLine(outside: AgentPorts, { run, now }: AgentRecord): string {
  if (now.attempts === 0) return "";
  const read = (from: number) => readRecorded(outside, run, now.attempts, "stdout", from, TAIL);
  const size = read(Number.MAX_SAFE_INTEGER)?.size ?? 0;
  const tail = read(Math.max(0, size - TAIL));
  const lines = tail === null ? [] : removeControls(tail.bytes.toString("utf8")).split("\n");
  const last = lines.map((line) => line.trim()).findLast((line) => line !== "") ?? "";
  return [...last].slice(0, WIDEST_LINE).join("");
}
