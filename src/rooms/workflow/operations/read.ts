import { z } from "zod";
import { decodeUtf8, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OWNER } from "../../../core/operation.ts";
import { readAgentStanding } from "../agent/agent-standing.ts";
import type { DispatchRole } from "../artifacts/dispatch.ts";
import { describeStep } from "../dispatch/describe-step.ts";
import { composePrompt, dispatchOf, submitCommand } from "../dispatch/prompts.ts";
import { findRun } from "../run/find/find-run.ts";
import { readEvents } from "../run/record/run-log.ts";
import type { RunState } from "../run/record/run-state.ts";
import { Run } from "../run/run.ts";
import { readStatus, toStepReport } from "../run/status.ts";
import { statusSchema, stepSchema } from "./outputs.ts";
import type { WorkflowPorts } from "./ports.ts";

const run = z
  .string()
  .min(1)
  .optional()
  .describe(
    "run id, a unique beginning or the last six digits of one, @ (newest), @2, or a run directory; default: the only open run",
  );

const STATUS = defineOperation({
  name: "workflow.status",
  summary: "Show where a run stands.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ run }),
  output: statusSchema,
  run: async (ports: WorkflowPorts, input) => {
    const found = findRun(ports, input.run);
    return asAgentRun(ports, found, await readStatus(found));
  },
});

const NEXT = defineOperation({
  name: "workflow.next",
  summary: "Show the next thing to do, with a prompt ready to paste.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    run,
    no_context: z.boolean().default(false).describe("leave the evidence pack out of the prompt"),
    only_prompt: z.boolean().default(false).describe("print only the prompt, ready for a pipe"),
  }),
  output: z.strictObject({
    ...stepSchema,
    submit: z.string().nullable().describe("the command that submits the answer"),
    prompt: z.string().nullable().describe("the prompt for whoever acts next; null when Verbatim does"),
    only_prompt: z.boolean().describe("whether only the prompt was requested"),
  }),
  run: async (ports: WorkflowPorts, input) => {
    const found = findRun(ports, input.run);
    const step = await found.next();
    const isAgent = readAgentStanding(ports, found) !== null;
    const asks = !isAgent && step.state === "blocked" && step.owner !== "operator";
    const provider = dispatchOf(found).providers[step.owner as DispatchRole] ?? "manual_outbox";
    return {
      ...asAgentRun(ports, found, toStepReport(found, step)),
      submit: asks ? submitCommand(found, step.target ?? "") : null,
      prompt: asks ? composePrompt(found, step, provider, describeStep(step), !input.no_context) : null,
      only_prompt: input.only_prompt,
    };
  },
});

/** What is said of an agent run, which waits for whoever decides about it and for nobody of this room. */
function asAgentRun<T extends object>(ports: WorkflowPorts, found: Run, report: T): T {
  const standing = readAgentStanding(ports, found);
  if (standing === null) return report;
  return { ...report, ...standing, state: "blocked", owner: "operator", action: null, target: null, findings: [] };
}

function listState(ports: WorkflowPorts, found: Run): RunState {
  const status = readAgentStanding(ports, found)?.status;
  return status === undefined ? found.state : { ...found.state, status };
}

const LIST = defineOperation({
  name: "workflow.list",
  summary: "List the runs of this repository.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    all: z.boolean().default(false).describe("finished runs as well"),
    status: z.enum(["running", "blocked", "pass", "fail"]).optional().describe("only runs with this status"),
  }),
  output: z.strictObject({
    runs: z.array(
      z.strictObject({
        run_id: z.string(),
        status: z.enum(["running", "blocked", "pass", "fail"]),
        stop_reason: z.string().nullable(),
        goal: z.string(),
        created_at: z.string(),
        updated_at: z.string(),
        direct: z.boolean(),
      }),
    ),
  }),
  run: async (ports: WorkflowPorts, input) => {
    const runs = sortedByCodePoint(ports.runs.ids()).map((id) =>
      listState(ports, Run.load(ports, ports.runs.open(id)!)),
    );
    const shown = runs.filter(
      ({ status, stop_reason }) =>
        (input.status === undefined || status === input.status) &&
        (input.all || input.status !== undefined || (status !== "pass" && stop_reason === null)),
    );
    return {
      runs: shown.map(({ run_id, status, stop_reason, goal, created_at, updated_at, direct }) => ({
        run_id,
        status,
        stop_reason,
        goal,
        created_at,
        updated_at,
        direct: direct !== undefined,
      })),
    };
  },
});

const SHOW = defineOperation({
  name: "workflow.show",
  summary: "Show the files of a run, one of them byte for byte, or its events.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    run: z.string().min(1).describe("the run"),
    artifact: z.string().min(1).optional().describe("a run file to show: its path, file name or stem"),
    events: z.boolean().default(false).describe("the events of the run"),
  }),
  output: z.strictObject({
    run_id: z.string(),
    run_dir: z.string(),
    status: z.string(),
    goal: z.string(),
    files: z.array(z.strictObject({ path: z.string(), bytes: z.int() })).describe("every file of the run"),
    artifact: z
      .strictObject({ path: z.string(), text: z.string().nullable(), bytes: z.int(), sha256: z.string() })
      .nullable()
      .describe("the requested file; text is null when it is not UTF-8"),
    events: z.array(z.looseObject({ ts: z.string(), role: z.string(), event: z.string(), path: z.string() })),
  }),
  run: async (ports: WorkflowPorts, input) => {
    const found = findRun(ports, input.run);
    const files = sortedByCodePoint(found.folder.list()).filter(
      (path) => !/^(?:objects|worktree|scratch)\//.test(path),
    );
    return {
      run_id: found.id,
      run_dir: found.folder.dir,
      status: listState(ports, found).status,
      goal: found.state.goal,
      files: files.map((path) => ({ path, bytes: found.folder.size(path) ?? 0 })),
      artifact: input.artifact === undefined ? null : showFile(found, files, input.artifact),
      events: input.events ? readEvents(found) : [],
    };
  },
});

function showFile(found: Run, files: readonly string[], name: string) {
  const byName = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  const path =
    files.find((one) => one === name) ??
    files.find((one) => byName(one) === name && !one.startsWith("superseded/")) ??
    files.find((one) => byName(one).replace(/\.[a-z]+$/, "") === name);
  const bytes = path === undefined ? null : found.read(path);
  if (path === undefined || bytes === null) {
    throw new VerbatimError("ARTIFACT_UNKNOWN", {
      message: `the run has no file ${JSON.stringify(name)}`,
      fix: `List them: verbatim workflow show ${found.id}`,
    });
  }
  return { path, text: decodeUtf8(bytes), bytes: bytes.length, sha256: found.ports.crypto.sha256(bytes) };
}

export const READ_OPERATIONS = [STATUS, NEXT, LIST, SHOW] as const;
