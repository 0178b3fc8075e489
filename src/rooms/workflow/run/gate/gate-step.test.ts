// A candidate that the gate refuses: what the run says about it, and when it is the last one.
import { afterEach, beforeEach, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../../test/support/bare-run.ts";
import { makeDraft } from "../../../../../test/support/sample-repository.ts";
import { nodeCrypto } from "../../../../adapters/crypto/node-crypto.ts";
import { resolveWorkflow } from "../../../../core/contracts/config/index.ts";
import type { PatchRejection } from "../../patch/rejection.ts";
import { readEvents } from "../record/run-log.ts";
import type { Run } from "../run.ts";
import { recordRejection } from "./gate-step.ts";

const PATCH = "artifacts/diff.patch";
const PLAN = "artifacts/PLAN.md";
const REVIEW = "reviews/review_patch.md";
const SIGNED = makeDraft({ Status: "SIGNED" });
const sha = (text: string) => nodeCrypto.sha256(text);
const REJECTION: PatchRejection = {
  verdict: "reject",
  stage: "parse",
  code: "PATCH_PARSE_INVALID",
  rule: "bad_start",
  line: 1,
};

let bare: BareRuns;
beforeEach(async () => {
  const verify = { gates: { lite: [{ argv: ["true"] }] } };
  bare = await openBareRuns({ config: resolveWorkflow({ mandatory_docs: [], verify }) });
});
afterEach(() => bare.remove());

/** A run whose patch was refused so many times before. */
function withPatch(patch_rejections: number): Run {
  const candidate = { sha256: sha("hello\n"), plan_sha256: sha(SIGNED), state: "accepted", iteration: 1 } as const;
  const run = bare.make("one", { candidates: [candidate], patch_rejections });
  run.folder.write(PATCH, "hello\n");
  run.folder.write(PLAN, SIGNED);
  return run;
}

const events = (run: Run) => readEvents(run).map(({ event, path }) => `${event} ${path}`.trim());

it("is kept with the reason, and the run goes on while there may be another", async () => {
  const run = withPatch(0);
  await recordRejection(await bare.session(run), REJECTION, run.plan());
  const { state } = bare.again(run);
  expect(state).toMatchObject({ patch_rejections: 1, stop_reason: null, status: "running" });
  expect(state.candidates).toEqual([
    { sha256: sha("hello\n"), plan_sha256: sha(SIGNED), state: "rejected", iteration: 1, code: "PATCH_PARSE_INVALID" },
  ]);
  const review = Buffer.from(run.read(REVIEW)!).toString();
  expect(review).toContain("bad_start");
  expect(Buffer.from(run.read("artifacts/iterations/01/review_patch.md")!).toString()).toBe(review);
  expect(events(run)).toEqual([`PATCH_REJECTED ${PATCH}`, "BUNDLE_CREATED failure_bundle.zip"]);
});

it("is the end of the run where no more are allowed", async () => {
  const most = bare.ports.config.limits.max_patch_rejections;
  const run = withPatch(most - 1);
  await recordRejection(await bare.session(run), REJECTION, run.plan());
  expect(bare.again(run).state).toMatchObject({
    patch_rejections: most,
    status: "fail",
    stop_reason: "max_patch_rejections",
  });
  expect(events(run)).toEqual([
    `PATCH_REJECTED ${PATCH}`,
    "STOP_MAX_PATCH_REJECTIONS",
    "BUNDLE_CREATED failure_bundle.zip",
  ]);
});
