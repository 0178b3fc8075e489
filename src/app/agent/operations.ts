import { z } from "zod";
import { VerbatimError } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_DOORS } from "../../core/operation.ts";
import { GUARD_REQUESTS } from "../../rooms/catalytic/index.ts";
import { runAgent } from "./agent.ts";
import { applyAgentRun, discardAgentRun, listAgentRuns, showAgentRun } from "./agent-runs.ts";
import { agentSummary } from "./agent-summary.ts";
import type { AgentPorts } from "./ports.ts";
import { planVerification, type VerifyPlan } from "./request.ts";

const texts = z.array(z.string().min(1)).default([]);
const run = z
  .string()
  .min(1)
  .describe("Run id, a unique beginning or the last six digits of one, @ (newest), @2, or a run directory.");

const start = defineOperation({
  name: "agent.run",
  summary: "Runs any command as an agent under contract: isolated, captured, gated, verified, proved.",
  effect: "mutate",
  doors: LOCAL_DOORS,
  input: z.strictObject({
    goal: z.string().min(1).describe("What the agent should do; this goes into the record, not to the agent."),
    verify: texts.describe("A command that must succeed on the result, run without a shell; repeatable."),
    verify_sh: texts.describe("A shell command that must succeed on the result, run by /bin/sh -c; repeatable."),
    no_verify: z.boolean().default(false).describe("Do not verify the change; it is reported as unverified."),
    setup: texts.describe("A command to run before the verify commands; repeatable (default: found when needed)."),
    no_setup: z.boolean().default(false).describe("Do not run set-up commands before the verify commands."),
    no_baseline: z.boolean().default(false).describe("Do not try a failed verify command without the change."),
    files: texts.describe("A file for the context pack at VERBATIM_PACK; repeatable."),
    allow: texts.describe("A path that may change; repeatable (default: everything)."),
    deny: texts.describe("A path that may not change; repeatable."),
    max_files: z.int().min(1).optional().describe("Maximum number of files a change may touch."),
    max_added_lines: z.int().min(0).optional().describe("Maximum number of lines a change may add."),
    apply: z
      .enum(["ask", "auto", "never"])
      .default("never")
      .describe("What to do with a change that passes its gates."),
    guard: z.enum(GUARD_REQUESTS).optional().describe("How the agent is confined."),
    timeout: z.string().optional().describe("How long the agent may take: 90s, 30m, 2h."),
    keep: texts.describe(
      "A path outside the repository, such as ~/.claude, that stays writable and is not covered by the proof; repeatable.",
    ),
    leave_out: texts.describe("A path whose changes are dropped before the gate; repeatable."),
    hash_all: z.boolean().default(false).describe("Read and hash every file before and after."),
    command: z.array(z.string()).min(1).describe("The agent and its arguments."),
  }),
  output: agentSummary,
  async run(outside: AgentPorts, input) {
    const summary = await runAgent(outside, {
      goal: input.goal,
      ...toVerifyPlan(planVerification(outside, input)),
      noVerify: input.no_verify,
      baseline: !input.no_baseline,
      files: input.files,
      allow: input.allow,
      deny: input.deny,
      leaveOut: input.leave_out,
      maxFiles: input.max_files ?? null,
      maxAddedLines: input.max_added_lines ?? null,
      command: input.command,
      guard: input.guard ?? null,
      timeoutMs: input.timeout === undefined ? null : parseTimeout(input.timeout),
      keep: input.keep,
      hashAll: input.hash_all,
    });
    // It is unverified only because the caller asked for that in this run.
    const wanted = input.apply === "auto" && (summary.outcome === "verified" || summary.outcome === "unverified");
    return wanted ? await applyAgentRun(outside, summary.run_id) : summary;
  },
});

function toVerifyPlan({ commands, setup }: VerifyPlan) {
  return { verify: commands.map(({ argv }) => argv), setup };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function parseTimeout(text: string): number {
  const [, count, unit = "s"] = /^([1-9][0-9]{0,8})(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (ms >= 1 && ms <= 86_400_000) return ms;
  throw new VerbatimError("USAGE", {
    message: `--timeout must be a time like 90s, 30m or 2h, at most one day: ${JSON.stringify(text)}`,
  });
}

const list = defineOperation({
  name: "agent.list",
  summary: "Lists the agent runs of this repository, newest first.",
  effect: "read",
  doors: LOCAL_DOORS,
  input: z.strictObject({ limit: z.int().min(1).default(20).describe("Maximum number of runs to show.") }),
  output: z.strictObject({ runs: z.array(agentSummary), total: z.int() }),
  async run(outside: AgentPorts, { limit }) {
    const runs = await listAgentRuns(outside);
    return { runs: runs.slice(0, limit), total: runs.length };
  },
});

const show = defineOperation({
  name: "agent.show",
  summary: "Shows one agent run: what changed, the gates, the proof, the patch.",
  effect: "read",
  doors: LOCAL_DOORS,
  input: z.strictObject({ run }),
  output: z.strictObject({ summary: agentSummary, patch: z.string() }),
  run: (outside: AgentPorts, input) => showAgentRun(outside, input.run),
});

const apply = defineOperation({
  name: "agent.apply",
  summary: "Applies the change of an agent run that passed its gates to your tree.",
  effect: "mutate",
  doors: LOCAL_DOORS,
  input: z.strictObject({ run }),
  output: agentSummary,
  run: (outside: AgentPorts, input) => applyAgentRun(outside, input.run),
});

const discard = defineOperation({
  name: "agent.discard",
  summary: "Throws away the change of an agent run; the record is kept.",
  effect: "mutate",
  doors: LOCAL_DOORS,
  input: z.strictObject({ run }),
  output: agentSummary,
  run: (outside: AgentPorts, input) => discardAgentRun(outside, input.run),
});

/** Everything under `agent.` */
export const AGENT_OPERATIONS = [start, list, show, apply, discard] as const;
