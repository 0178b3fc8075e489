// Where a run stands, as every verb reports it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../test/support/bare-run.ts";
import { GUARDRAILS, makeDraft } from "../../../../test/support/sample-repository.ts";
import type { NextStep } from "../dispatch/next-step.ts";
import type { RunState } from "./record/run-state.ts";
import { readStatus, toStepReport } from "./status.ts";

let bare: BareRuns;
beforeEach(async () => {
  bare = await openBareRuns();
});
afterEach(() => bare.remove());

const STEP: NextStep = {
  state: "blocked",
  owner: "chair",
  action: "write_guardrails",
  target: "artifacts/guardrails.md",
  code: "ARTIFACT_MISSING",
  findings: [],
};
const MISSING = "artifacts/guardrails.md does not exist yet";
const BLOCKED = {
  code: STEP.code,
  message: "as advance said",
  owner: "chair",
  action: STEP.action!,
  target: STEP.target!,
};

describe("the message", () => {
  it.each<[string, Partial<typeof BLOCKED> | null, Partial<NextStep>, string]>([
    ["is what advance said about the same step", {}, {}, "as advance said"],
    ["is that of the step where nobody waits", null, {}, MISSING],
    ["is that of the step where the run waited for something else", { code: "OTHER" }, {}, MISSING],
    ["is that of the step where another file was awaited", { target: "other" }, {}, MISSING],
    ["is what advance said about a step without a file", { target: "" }, { target: null }, "as advance said"],
  ])("%s", (_, more, step, expected) => {
    const run = bare.make("one", { blocked: more === null ? null : { ...BLOCKED, ...more } });
    const { message } = toStepReport(run, { ...STEP, ...step });
    expect(message).toBe(expected);
  });

  it("says why a run was stopped, whatever it waited for", () => {
    const run = bare.make("one", { status: "fail", stop_reason: "aborted", blocked: BLOCKED });
    expect(toStepReport(run, STEP)).toMatchObject({
      run_id: "one",
      run_dir: run.folder.dir,
      status: "fail",
      stop_reason: "aborted",
      message: "the run was stopped: aborted",
    });
  });
});

it.each<[RunState["status"], Partial<NextStep>, RunState["status"]]>([
  ["running", { state: "pass" }, "pass"],
  ["blocked", { state: "ready" }, "running"],
  ["running", { state: "stopped" }, "fail"],
  ["running", {}, "blocked"],
  ["pass", {}, "pass"],
  ["running", { code: "VERIFY_FAILED" }, "fail"],
])("a run written down as %s at the step %j is %s", (status, step, expected) => {
  expect(toStepReport(bare.make("one", { status }), { ...STEP, ...step }).status).toBe(expected);
});

describe("a run that has used up its prompts", () => {
  const OUT = { ...BLOCKED, code: "OUTBOX_BUDGET_EXCEEDED", owner: "operator" };
  const withPrompts = (count: number, blocked: typeof BLOCKED) => {
    const run = bare.make("one", { status: "blocked", blocked });
    for (let i = 1; i <= count; i++) run.folder.write(`outbox/${String(i).padStart(3, "0")}_chair_write.md`, "");
    run.folder.write("outbox/CONTEXT.md", "");
    return run;
  };
  let most: number;
  beforeEach(async () => {
    const run = bare.make("count");
    most = (await readStatus(run)).prompts.max;
    expect((await readStatus(run)).prompts.used).toBe(0);
  });

  it("waits for the operator until the limit is raised", async () => {
    const run = withPrompts(most, OUT);
    expect(toStepReport(run, STEP)).toMatchObject({ owner: "operator", code: OUT.code, message: "as advance said" });
    expect((await readStatus(run)).prompts).toEqual({ used: most, max: most });
    run.folder.remove("outbox/001_chair_write.md");
    expect(toStepReport(run, STEP)).toMatchObject({ owner: "chair", code: "ARTIFACT_MISSING" });
  });

  it.each<[string, typeof BLOCKED, Partial<NextStep>]>([
    ["waits for something that was asked for", BLOCKED, {}],
    ["has something to do by itself", OUT, { state: "ready" }],
    ["waits for another file", { ...OUT, target: "other" }, {}],
    ["waits for another deed", { ...OUT, action: "other" }, {}],
  ])("is none that %s", (_, blocked, step) => {
    expect(toStepReport(withPrompts(most, blocked), { ...STEP, ...step })).toMatchObject({ owner: "chair" });
  });
});

it("the whole status has what was used and what there is, as far as it is known", async () => {
  const run = bare.make("one", { iterations: 1, patch_rejections: 2 });
  expect(await readStatus(run)).toMatchObject({
    goal: run.state.goal,
    state: "blocked",
    target: "artifacts/guardrails.md",
    iterations: { used: 1, max: null },
    rejections: { used: 2, max: 10 },
  });
  run.folder.write("artifacts/guardrails.md", GUARDRAILS);
  expect((await readStatus(run)).iterations).toEqual({ used: 1, max: 3 });
  run.folder.write(
    "artifacts/PLAN.md",
    makeDraft({ Status: "SIGNED", Budgets: "max_iterations=2, max_files=5, max_total_bytes=100000" }),
  );
  expect((await readStatus(run)).iterations).toEqual({ used: 1, max: 2 });
});
