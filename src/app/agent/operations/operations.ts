import { z } from "zod";
import { defineOperation, LOCAL_SURFACES, OWNER, type Surface } from "../../../core/operation.ts";
import { AGENT_STATES } from "../../../rooms/workflow/index.ts";
import { runAgent } from "../agent.ts";
import { commitFlags, toCommitWish } from "../landing/commit-flags.ts";
import { LAND_ALL } from "../landing/landable.ts";
import type { AgentPorts } from "../ports.ts";
import { agentSummary } from "../report/agent-summary.ts";
import { agentLogs } from "../report/logs.ts";
import { agentReport, showAgentRun, showLogs } from "../report/show.ts";
import { planCaps } from "../request/caps.ts";
import { planNetwork } from "../request/network.ts";
import { planVerification } from "../request/request.ts";
import {
  capFlags,
  hasCaps,
  isSaid,
  maskFlags,
  networkFlags,
  policyFlags,
  runFields,
  texts,
  toLimits,
  toRequest,
  verifyFlags,
} from "../request/run-fields.ts";
import { agentList, listAgentRuns } from "../runs/list.ts";
import { applyAgentRun, discardAgentRun, foreseeAgentRun, undoAgent, verifyAgentRun } from "../runs/runs.ts";
import { startInBackground } from "../work/background.ts";
import { BACKGROUND_OPERATIONS } from "./background-operations.ts";
import { CONTINUE_OPERATIONS } from "./continue-operations.ts";
import { EVIDENCE_OPERATIONS } from "./evidence-operations.ts";
import { LIVE_OPERATIONS } from "./live-operations.ts";
import { PROFILE_OPERATIONS } from "./profile-operations.ts";
import { QUEUE_OPERATIONS } from "./queue-operations.ts";
import { defineRace } from "./race-operation.ts";
import { REVIEW_OPERATIONS } from "./review-operations.ts";
import { SCREEN_OPERATIONS } from "./screen-operations.ts";
import { START_OPERATIONS } from "./start-operations.ts";

/** Everywhere but over MCP: an agent does not judge its own work. */
const WITH_HTTP: readonly Surface[] = [...LOCAL_SURFACES, "http"];

/** MCP shows runs to whoever owns the workspace, as resources; the server of an agent in its cage leaves them out. */
const READ_BY_ALL: readonly Surface[] = [...WITH_HTTP, "mcp"];

const run = z
  .string()
  .min(1)
  .describe("Run id, a unique beginning or the last six digits of one, @ (newest), @2, or a run directory.");

const here = z
  .boolean()
  .default(false)
  .describe("In this work tree, also when the run belongs to another work tree of the same repository.");

const start = defineOperation({
  name: "agent.run",
  summary: "Runs any command as an agent under contract: isolated, captured, gated, verified, proved.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    ...runFields,
    apply: z
      .enum(["ask", "auto", "never"])
      .optional()
      .describe("What to do with a change that passes its gates (default: agent.apply, else never)."),
    detach: z
      .boolean()
      .default(false)
      .describe("Let it work in the background; returns once the agent has started (see: ps, attach, wait, stop)."),
    command: z.array(z.string()).min(1).describe("The agent and its arguments."),
  }),
  output: agentSummary,
  async run(outside: AgentPorts, { detach, ...input }) {
    if (detach) return await startInBackground(outside, input);
    const summary = await runAgent(outside, toRequest(outside, input, input.command));
    // It is unverified only because the caller asked for that in this run.
    const isReady = summary.outcome === "verified" || summary.outcome === "unverified";
    // What somebody should look at first is not applied behind anybody's back.
    const isQuiet = summary.changes.files.every(
      ({ path, notices }) => notices.length === 0 || input.permit.includes(path),
    );
    const asked = input.apply ?? outside.config().agent.apply;
    const wanted = asked === "auto" && isReady && isQuiet;
    return wanted ? await applyAgentRun(outside, summary.run_id, LAND_ALL) : summary;
  },
});

const list = defineOperation({
  name: "agent.list",
  summary: "Lists the agent runs of this repository, newest first.",
  effect: "read",
  who: OWNER,
  surfaces: READ_BY_ALL,
  localFields: ["all"],
  input: z.strictObject({
    limit: z.int().min(1).default(20).describe("Maximum number of runs to show."),
    outcome: z.enum(AGENT_STATES).optional().describe("Only runs that stand there, such as verified."),
    q: z.string().min(1).max(200).optional().describe("Only runs with this text in their goal, or whose id begins so."),
    since: z.iso.datetime().optional().describe("Only runs that began then or later, such as 2026-11-01T00:00:00Z."),
    race: z.string().min(1).max(64).optional().describe("Only the members of this race."),
    after: z
      .string()
      .regex(/^[^~]{1,40}~.{1,200}$/)
      .optional()
      .describe("The next of the page before."),
    all: z.boolean().default(false).describe("Also the runs of the other work trees of this repository."),
  }),
  output: agentList,
  run: listAgentRuns,
});

const show = defineOperation({
  name: "agent.show",
  summary: "Shows one agent run in plain words, its change, or two runs side by side.",
  effect: "read",
  who: OWNER,
  surfaces: READ_BY_ALL,
  // Over HTTP a change is read in pages: agent.diff.
  localFields: ["diff", "hunks", "network"],
  input: z.strictObject({
    run,
    other: run.optional(),
    diff: z
      .union([z.string().min(1), z.literal(true)])
      .optional()
      .describe("The change as a diff; with a path only what is there."),
    hunks: z.boolean().default(false).describe("The change with the numbers that --only and --except take."),
    network: z.boolean().default(false).describe("Every connection of the agent, where its network was limited."),
    attempt: z.int().min(1).optional().describe("The number of an attempt (default: the newest one)."),
  }),
  output: agentReport,
  run: (outside: AgentPorts, { run: name, other = null, diff = null, hunks, attempt = null, network }) =>
    showAgentRun(outside, { run: name, other, diff: diff ?? (hunks ? true : null), attempt, network }),
});

const from = z.int().min(0).default(0);

const logs = defineOperation({
  name: "agent.logs",
  summary: "Shows what an agent printed, without control characters.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    run,
    follow: z.boolean().default(false).describe("Wait for more until the run ends."),
    verify: z.boolean().default(false).describe("What the verify commands printed instead."),
    raw: z.boolean().default(false).describe("Every byte as it was printed."),
    from_output: from.describe("Bytes of the output that are known already."),
    from_errors: from.describe("Bytes of the error output that are known already."),
  }),
  output: agentLogs,
  run: (outside: AgentPorts, { run: name, follow, verify, raw, from_output: output, from_errors: errors }) =>
    showLogs(outside, name, { follow, verify, raw, from: { output, errors } }),
});

const verify = defineOperation({
  name: "agent.verify",
  summary: "Judges and verifies the change of an agent run once more, with other flags.",
  effect: "mutate",
  who: OWNER,
  surfaces: WITH_HTTP,
  localFields: [...[verifyFlags, policyFlags, networkFlags, maskFlags, capFlags].flatMap(Object.keys), "here"],
  input: z.strictObject({
    run,
    ...verifyFlags,
    ...policyFlags,
    ...networkFlags,
    ...maskFlags,
    ...capFlags,
    candidate: z.int().min(1).optional().describe("The number of a candidate (default: the current one)."),
    here,
  }),
  output: agentSummary,
  run: (outside: AgentPorts, input) =>
    verifyAgentRun(outside, input.run, {
      ...(isSaid(input) ? { plan: planVerification(outside, input) } : {}),
      ...(input.network === undefined && input.host.length === 0 ? {} : { network: planNetwork(outside, input) }),
      ...(hasCaps(input) ? { caps: planCaps(outside, input) } : {}),
      ...(input.candidate === undefined ? {} : { candidate: input.candidate }),
      permit: input.permit,
      unmask: input.unmask,
      showSecrets: input.show_secrets,
      limits: toLimits(input),
      here: input.here,
    }),
});

const apply = defineOperation({
  name: "agent.apply",
  summary: "Puts the change of an agent run that passed its gates into your tree as it is now.",
  effect: "mutate",
  who: OWNER,
  surfaces: WITH_HTTP,
  localFields: ["no_reverify", "unverified", "yes", "here", ...Object.keys(commitFlags)],
  input: z.strictObject({
    run,
    candidate: z.int().min(1).optional().describe("The number of a candidate, such as a choice that was verified."),
    only: texts.describe("Apply only this path, pattern or PATH:1,3-4 of the change; repeatable."),
    except: texts.describe("Leave out this path, pattern or PATH:1,3-4 of the change; repeatable."),
    no_reverify: z.boolean().default(false).describe("Do not verify again where the tree has moved on."),
    unverified: z.boolean().default(false).describe("Apply although the verification failed."),
    dry_run: z.boolean().default(false).describe("Say what would become of each file, and change nothing."),
    yes: z.boolean().default(false).describe("Ask nothing, also where somebody should look at the change first."),
    ...commitFlags,
    here,
  }),
  output: agentSummary,
  run(outside: AgentPorts, { run: name, candidate = null, dry_run, here, ...input }) {
    const { only, except, no_reverify: noReverify, unverified } = input;
    const commit = toCommitWish(input) ?? undefined;
    const options = { candidate, only, except, noReverify, unverified, commit };
    return dry_run ? foreseeAgentRun(outside, name, options, here) : applyAgentRun(outside, name, options, here);
  },
});

const undo = defineOperation({
  name: "agent.undo",
  summary: "Takes an applied change out of your tree again, if its files were not edited since.",
  effect: "mutate",
  who: OWNER,
  surfaces: WITH_HTTP,
  localFields: ["here"],
  input: z.strictObject({ run, here }),
  output: agentSummary,
  run: (outside: AgentPorts, input) => undoAgent(outside, input.run, input.here),
});

const discard = defineOperation({
  name: "agent.discard",
  summary: "Throws away the change of an agent run; the record is kept.",
  effect: "mutate",
  who: OWNER,
  surfaces: WITH_HTTP,
  input: z.strictObject({ run }),
  output: agentSummary,
  run: (outside: AgentPorts, input) => discardAgentRun(outside, input.run),
});

/** Everything under `agent.` */
export const AGENT_OPERATIONS = [
  start,
  defineRace(runFields, toRequest),
  list,
  show,
  logs,
  verify,
  apply,
  undo,
  discard,
  ...PROFILE_OPERATIONS,
  ...REVIEW_OPERATIONS,
  ...BACKGROUND_OPERATIONS,
  ...SCREEN_OPERATIONS,
  ...LIVE_OPERATIONS,
  ...START_OPERATIONS,
  ...CONTINUE_OPERATIONS,
  ...EVIDENCE_OPERATIONS,
  ...QUEUE_OPERATIONS,
] as const;
