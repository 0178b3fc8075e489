// What advance does by itself, until it waits for someone: without git, because nothing here comes to a patch.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../test/support/bare-run.ts";
import { GUARDRAILS, REQUEST } from "../../../../test/support/sample-repository.ts";
import { advanceRun } from "./advance.ts";
import { readEvents } from "./record/run-log.ts";
import type { RunState } from "./record/run-state.ts";
import type { Run } from "./run.ts";
import { Session } from "./session.ts";

let bare: BareRuns;
let run: Run;
beforeEach(async () => {
  bare = await openBareRuns({ actor: "test" });
  run = bare.make("one");
});
afterEach(() => bare.remove());

const advance = async (maxSteps = 9, on: Run = run) =>
  await advanceRun(await bare.session(on), { maxSteps, apply: null, retryVerify: false });
const events = () => readEvents(run).map(({ event }) => event);

it("what the run waits for is asked for once, and is named", async () => {
  const waits = [
    {
      action: expect.any(String) as string,
      target: "artifacts/guardrails.md",
      result: expect.stringMatching(/^waiting for chair: outbox\/001_chair_\w+\.md$/) as string,
    },
  ];
  for (let i = 0; i < 2; i++) expect(await advance()).toEqual(waits);
  expect(run.state).toMatchObject({ status: "blocked", blocked: { code: "ARTIFACT_MISSING", owner: "chair" } });
  expect(events().filter((event) => event === "RUN_BLOCKED")).toHaveLength(1);
  expect(run.folder.list("outbox").filter((path) => /\/[0-9]+_/.test(path))).toHaveLength(1);
});

it("what can be done is done, step by step and no further than it may", async () => {
  run.folder.write("artifacts/guardrails.md", GUARDRAILS);
  const [first, ...others] = await advance(1);
  expect([first, others]).toMatchObject([{ action: "resolve", target: "artifacts/find_result.json" }, []]);
  expect(run.state).toMatchObject({ status: "running", blocked: null });
  mkdirSync(join(bare.repoRoot, "src"));
  writeFileSync(join(bare.repoRoot, "src/greet.js"), "hello\n");
  run.folder.write("artifacts/file_request.json", REQUEST);
  expect(await advance()).toMatchObject([
    { action: "context_pack", target: "artifacts/context_pack.json", result: "pack written" },
    { target: "artifacts/PLAN_draft.md", result: expect.stringMatching(/^waiting for chair: /) as string },
  ]);
  expect(events()).toContain("CONTEXT_PACK_WRITTEN");
});

it("a pack that cannot be made is tried again by the next advance", async () => {
  run.folder.write("artifacts/guardrails.md", GUARDRAILS);
  run.folder.write("artifacts/file_request.json", REQUEST);
  const docs = [{ path: "RULES.md", required: true }];
  const strict = Object.assign(run, {
    ports: { ...bare.ports, config: { ...bare.ports.config, mandatory_docs: docs } },
  });
  expect((await advance(9, strict)).map(({ result }) => result)).toContain("MANDATORY_DOC_MISSING");
  expect(run.state).toMatchObject({ status: "blocked", context_pack: { failed_code: "MANDATORY_DOC_MISSING" } });
  writeFileSync(join(bare.repoRoot, "RULES.md"), "rules\n");
  expect((await advance(1, strict)).map(({ result }) => result)).toEqual(["pack written"]);
});

it("a registry that is none stops the run until somebody mends it", async () => {
  const resolved = async () => (await advance(1))[0]!.result;
  run.folder.write("artifacts/guardrails.md", GUARDRAILS);
  mkdirSync(join(bare.repoRoot, "workflow_registry"));
  const registry = join(bare.repoRoot, "workflow_registry/index.json");
  for (const text of ["{", "[]"]) {
    writeFileSync(registry, text);
    expect(await resolved()).toBe("REGISTRY_INVALID");
  }
  expect(run.state.blocked).toMatchObject({ code: "REGISTRY_INVALID", owner: "operator" });
});

it.each<Partial<RunState>>([{ status: "fail", stop_reason: "aborted" }])(
  "nothing is done in a run that is %j",
  async (state) => {
    run.save(state);
    expect([await advance(), events()]).toEqual([[], []]);
  },
);

it("nothing is done after somebody asked it to end", async () => {
  const { log, signal } = await bare.session(run);
  const session = new Session(run, log, signal, () => "SIGINT");
  await expect(advanceRun(session, { maxSteps: 9, apply: null, retryVerify: false })).rejects.toMatchObject({
    code: "INTERRUPTED",
  });
  expect(events()).toEqual([]);
});
