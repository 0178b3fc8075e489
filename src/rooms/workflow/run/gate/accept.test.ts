// What is written down when the gates let artifacts pass: which bytes, which prompt that answers, what reviews were about.
import { afterEach, beforeEach, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../../test/support/bare-run.ts";
import { GUARDRAILS, makeDraft, REASONS, REQUEST, RESULTS } from "../../../../../test/support/sample-repository.ts";
import { nodeCrypto } from "../../../../adapters/crypto/node-crypto.ts";
import type { NextStep } from "../../dispatch/next-step.ts";
import { readEvents } from "../record/run-log.ts";
import type { Run } from "../run.ts";
import { acceptArtifacts } from "./accept.ts";

const GUARDED = "artifacts/guardrails.md";
const REQUESTED = "artifacts/file_request.json";
const DRAFT = "artifacts/PLAN_draft.md";
const [CONTRACT, COST] = ["reviews/review_contract.md", "reviews/review_cost.md"];
const sha = (text: string) => nodeCrypto.sha256(text);

let bare: BareRuns;
let run: Run;
beforeEach(async () => {
  bare = await openBareRuns();
  run = bare.make("one");
});
afterEach(() => bare.remove());

const accept = async (step: Partial<NextStep>) => acceptArtifacts(await bare.session(run), step as NextStep);
const events = () => readEvents(run).map(({ event, path }) => `${event} ${path}`);

it("each artifact before the one that is wanted is accepted once, and told when it has changed", async () => {
  run.folder.write(GUARDED, GUARDRAILS);
  run.folder.write(REQUESTED, REQUEST);
  await accept({ target: REQUESTED });
  expect(bare.again(run).state.artifacts).toEqual({ [GUARDED]: sha(GUARDRAILS) });
  await accept({ target: null });
  await accept({ target: null });
  run.folder.write(GUARDED, `${GUARDRAILS}# more\n`);
  await accept({ target: null });
  expect(bare.again(run).state.artifacts).toEqual({
    [GUARDED]: sha(`${GUARDRAILS}# more\n`),
    [REQUESTED]: sha(REQUEST),
  });
  expect(events()).toEqual([
    `ARTIFACT_ACCEPTED ${GUARDED}`,
    `ARTIFACT_ACCEPTED ${REQUESTED}`,
    `ARTIFACT_CHANGED ${GUARDED}`,
  ]);
});

it("the prompt that asked for an artifact is answered by it, and a plan is signed", async () => {
  run.save({ prompts: { [REQUESTED]: { file: "outbox/p.md", target_sha256: null } } as never });
  run.folder.write(REQUESTED, REQUEST);
  run.folder.write("artifacts/PLAN.md", makeDraft({ Status: "SIGNED" }));
  await accept({ target: null });
  expect(bare.again(run).state.prompts).toEqual({});
  expect(events()).toEqual([
    `ARTIFACT_ACCEPTED ${REQUESTED}`,
    "OUTBOX_PROMPT_FULFILLED outbox/p.md",
    "ARTIFACT_ACCEPTED artifacts/PLAN.md",
    "PLAN_SIGNED artifacts/PLAN.md",
  ]);
});

it("a review keeps what it was about when it was first accepted, and a stale one is not written down", async () => {
  const about = { [DRAFT]: makeDraft(), "artifacts/REASONS.md": REASONS, "artifacts/EXPECTED_RESULTS.md": RESULTS };
  for (const [path, text] of Object.entries(about)) run.folder.write(path, text);
  run.folder.write(CONTRACT!, "fine\n");
  await accept({ target: null, code: "REVIEW_STALE" });
  expect(bare.again(run).state.reviews).toEqual({});
  // Not yet asked for: only what comes before the wanted one counts.
  await accept({ target: CONTRACT! });
  expect(bare.again(run).state.reviews).toEqual({});
  await accept({ target: COST! });
  const kept = {
    review_sha256: sha("fine\n"),
    draft_sha256: sha(makeDraft()),
    reasons_sha256: sha(REASONS),
    expected_results_sha256: sha(RESULTS),
  };
  expect(bare.again(run).state.reviews).toEqual({ [CONTRACT!]: kept });
  run.folder.write(DRAFT, `${makeDraft()}\n`);
  await accept({ target: null });
  expect(bare.again(run).state.reviews).toEqual({ [CONTRACT!]: kept });
});
