import { z } from "zod";
import { defineOperation, LOCAL_SURFACES, OWNER, type Surface } from "../../../core/operation.ts";
import { agentComment, agentFeedback, comment, commentPlace, showFeedback, takeBack } from "../again/comments.ts";
import { continueAgentRun, continueInBackground, continueOverHttp } from "../again/continue.ts";
import type { AgentPorts } from "../ports.ts";
import { agentSummary } from "../report/agent-summary.ts";
import { continueFields } from "../request/run-fields.ts";

/** For screens; whoever types has --message. */
const SCREENS: readonly Surface[] = ["http", "library"];

const MOST_NOTE = 20_000;

const run = z
  .string()
  .min(1)
  .max(4096)
  .describe("Run id, a unique beginning or the last six digits of one, @ (newest), @2, or a run directory.");

const said = {
  comments: z
    .array(z.string().min(1).max(100))
    .max(200)
    .default([])
    .describe("Ids of comments that the agent is told, in this order."),
  note: z.string().max(MOST_NOTE).default("").describe("What the agent is told before everything else."),
  from: z
    .enum(["candidate", "base", "tree"])
    .default("candidate")
    .describe(
      "What the agent finds: its change so far, its base without it, or the tree as it is now with its change merged into it.",
    ),
};

const goOn = defineOperation({
  name: "agent.continue",
  summary: "Lets an agent go on with a run: another attempt, on top of its change or from its base.",
  effect: "mutate",
  who: OWNER,
  surfaces: [...LOCAL_SURFACES, "http"],
  localFields: [...Object.keys(continueFields), "detach"],
  input: z.strictObject({
    run,
    ...said,
    feedback_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe("The hash that agent.feedback gave: nothing starts if the agent would be told another text by now."),
    command: z.string().min(1).max(40).optional().describe("A command of the configuration, by its name."),
    ...continueFields,
    detach: z
      .boolean()
      .default(false)
      .describe("Let it work in the background; returns once the agent has started (see: ps, attach, wait, stop)."),
    argv: z
      .array(z.string().max(100_000))
      .max(1000)
      .default([])
      .describe("Another agent and its arguments; {feedback} is where what it is told goes."),
  }),
  output: agentSummary,
  async run(outside: AgentPorts, { run: name, detach, ...input }) {
    if (outside.surface === "http") return await continueOverHttp(outside, name, input);
    return detach ? await continueInBackground(outside, name, input) : await continueAgentRun(outside, name, input);
  },
});

const remark = defineOperation({
  name: "agent.comment",
  summary: "Says something about a line, some lines or a file of an agent's change; it is kept with the run.",
  effect: "mutate",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({ run, at: commentPlace, text: z.string().trim().min(1).max(MOST_NOTE) }),
  output: agentComment,
  run: (outside: AgentPorts, { run: name, ...input }) => comment(outside, name, input),
});

const withdraw = defineOperation({
  name: "agent.comment-withdraw",
  summary: "Takes a comment back; the record keeps it.",
  effect: "mutate",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({ run, id: z.string().min(1).max(100) }),
  output: agentComment,
  run: (outside: AgentPorts, { run: name, id }) => takeBack(outside, name, id),
});

const feedback = defineOperation({
  name: "agent.feedback",
  summary: "The exact text that an agent would be told if it went on.",
  effect: "read",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({ run, ...said }),
  output: agentFeedback,
  run: (outside: AgentPorts, { run: name, ...input }) => showFeedback(outside, name, input),
});

/** How a run goes on, and what its agent is told. */
export const CONTINUE_OPERATIONS = [goOn, remark, withdraw, feedback] as const;
