import { z } from "zod";
import { defineOperation, LOCAL_SURFACES, OWNER, type Surface } from "../../../core/operation.ts";
import type { AgentPorts } from "../ports.ts";
import { compareRuns, comparison } from "../report/compare.ts";
import { parseTimeout } from "../request/request.ts";
import { listProcesses, processList } from "../runs/processes.ts";
import { waited, waitForRuns } from "../runs/wait.ts";
import { attach, attached } from "../work/attach.ts";
import { stopAgentRun, stopped } from "../work/stop.ts";

const WITH_HTTP: readonly Surface[] = [...LOCAL_SURFACES, "http"];
const name = z.string().min(1).max(200);
const run = name.describe("Run id, a unique beginning or the last six digits of one, @ or @2.");

const ps = defineOperation({
  name: "agent.ps",
  summary: "Lists the agent runs at work, and repairs those whose process is gone.",
  effect: "mutate",
  who: OWNER,
  surfaces: WITH_HTTP,
  localFields: ["all_repos"],
  input: z.strictObject({
    all_repos: z.boolean().default(false).describe("Also the runs of your other repositories on this machine."),
  }),
  output: processList,
  run: (outside: AgentPorts, { all_repos }) => listProcesses(outside, all_repos),
});

const wait = defineOperation({
  name: "agent.wait",
  summary: "Waits until agent runs have ended.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    runs: z.array(name).min(1).max(1000).describe("The runs to wait for."),
    timeout: z.string().optional().describe("How long to wait at most: 90s, 30m, 2h."),
    any: z.boolean().default(false).describe("Wait until one of them has ended."),
  }),
  output: waited,
  run: (outside: AgentPorts, { runs, timeout, any }) =>
    waitForRuns(outside, runs, { timeoutMs: timeout === undefined ? null : parseTimeout(timeout), any }),
});

const stop = defineOperation({
  name: "agent.stop",
  summary: "Asks an agent run at work to end; what the agent did until then is captured.",
  effect: "mutate",
  who: OWNER,
  surfaces: WITH_HTTP,
  input: z.strictObject({
    run,
    now: z.boolean().default(false).describe("End it at once, without asking."),
  }),
  output: stopped,
  run: (outside: AgentPorts, input) => stopAgentRun(outside, input.run, input.now),
});

const join = defineOperation({
  name: "agent.attach",
  summary: "Joins the terminal of an agent at work.",
  effect: "read",
  // What somebody types reaches an agent from a terminal of this machine only.
  surfaces: ["cli"],
  input: z.strictObject({
    run,
    read_only: z.boolean().default(false).describe("Watch only; nothing you type reaches the agent."),
  }),
  output: attached,
  run: (outside: AgentPorts, input) => attach(outside, input.run, input.read_only),
});

const compare = defineOperation({
  name: "agent.compare",
  summary: "Compares two to six agent runs, by file and by hunk.",
  effect: "read",
  who: OWNER,
  surfaces: WITH_HTTP,
  input: z.strictObject({ runs: z.array(name).min(2).max(6).describe("The runs, in the order of the columns.") }),
  output: comparison,
  run: (outside: AgentPorts, { runs }) => compareRuns(outside, runs),
});

/** For runs that work while nobody waits for them. */
export const BACKGROUND_OPERATIONS = [ps, wait, stop, join, compare] as const;
