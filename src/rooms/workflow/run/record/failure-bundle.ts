import { describeStep } from "../../dispatch/describe-step.ts";
import { dispatchOf, writePrompt } from "../../dispatch/prompts.ts";
import type { Session } from "../session.ts";
import { writeEvidencePack } from "./evidence.ts";

/**
 * Asks the fixer, then makes the bundle (Artifact Contracts M): the bundle of a failure holds the brief and the prompt of
 * that failure, not those of the one before. An agent is asked in a later step; its brief is already there.
 */
export async function bundleFailure(session: Session): Promise<void> {
  const { run } = session;
  const step = await run.next();
  if (step.owner === "fixer") {
    const { fixer } = dispatchOf(run).providers;
    if (fixer === "manual_outbox") await writePrompt(session, step, fixer, describeStep(step));
    else writeEvidencePack(run);
  }
  await session.bundle();
}
