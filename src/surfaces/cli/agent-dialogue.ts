import type { App } from "../../app/call.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { showLine } from "../../core/text/index.ts";
import { type AgentView, renderDiff } from "./agent-text.ts";
import type { Io } from "./io.ts";
import { reviewChange } from "./review/review-dialogue.ts";

const QUESTION = "  [Enter] keep for later   a apply   d show the diff   r choose parts   x throw away  > ";

/** Asks somebody at a terminal what to do with a change that is ready. The default answer changes nothing. */
export async function askWhatNext(view: AgentView, io: Io, app: App, renderApplied: (view: AgentView) => void) {
  const run = view.run_id;
  let applied: AgentView | null = null;
  for (;;) {
    await io.flush();
    switch (await io.choose(QUESTION, ["a", "d", "r", "x"])) {
      case "a":
        return renderApplied(await app.call("agent.apply", { run }));
      case "d":
        renderDiff((await app.call("agent.show", { run, diff: true })).diff ?? [], io);
        break;
      case "r":
        applied = await reviewChange(await app.call("agent.review", { run }), io, app);
        if (applied !== null) return renderApplied(applied);
        break;
      case "x":
        if ((await io.choose("  Throw this change away? The record stays.   y yes   [Enter] no  > ", ["y"])) !== "y")
          break;
        await app.call("agent.discard", { run });
        return io.line("thrown away, the record stays");
      default:
        return io.line(`kept: verbatim agent apply ${run}`);
    }
  }
}

/** The notice on a file that a verify command reads or runs. */
const DECIDES = "decides how the change is verified";

interface ApplyFlags {
  readonly run: string;
  readonly unverified?: boolean | undefined;
  readonly no_reverify?: boolean | undefined;
  readonly here?: boolean | undefined;
}

/**
 * Says what somebody should know before a change is applied, and asks where nothing verified it as it lands or where it
 * reaches further than the tree; --yes answers. The default answer applies nothing. False: not now.
 */
export async function askToApply(flags: ApplyFlags, io: Io, app: App): Promise<boolean> {
  const summary = await findSummary(flags, app);
  if (summary === null) return true;
  const { said, asked } = listDoubts(summary, flags);
  for (const doubt of [...said, ...asked]) io.line(`${io.paint.warn("!")} ${doubt}`);
  await io.flush();
  if (asked.length === 0) return true;
  for (;;) {
    const answer = await io.choose("  Apply it?   y yes   d show the diff   [Enter] no  > ", ["y", "d"]);
    if (answer === "y") return true;
    if (answer !== "d") break;
    renderDiff((await app.call("agent.show", { run: summary.run_id, diff: true })).diff ?? [], io);
    await io.flush();
  }
  io.line(`nothing was applied: verbatim agent apply ${summary.run_id} (--yes applies it without the question)`);
  return false;
}

/** A run that cannot be shown is refused by the verb itself, which says why. */
async function findSummary({ run, here = false }: ApplyFlags, app: App): Promise<AgentView | null> {
  try {
    return (await app.call("agent.show", { run })).summary;
  } catch (thrown) {
    // One of another work tree is found by the verb alone.
    if (isVerbatimError(thrown) && (here || thrown.code.startsWith("RUN_"))) return null;
    throw thrown;
  }
}

interface Doubts {
  /** What the verification rests on: the report said it with a `!`, and whoever applies the change is reminded. */
  readonly said: readonly string[];
  /** What is asked about. */
  readonly asked: readonly string[];
}

/** What somebody should know before a change is applied. */
export function listDoubts(
  { outcome, changes }: AgentView,
  { unverified = false, no_reverify = false }: ApplyFlags,
): Doubts {
  if (!["verified", "unverified", "verify_failed"].includes(outcome)) return { said: [], asked: [] };
  const said: string[] = [];
  const asked = [
    ...(outcome === "unverified" ? ["no command verified this change"] : []),
    ...(outcome === "verify_failed" && unverified ? ["this change did not pass its verification"] : []),
    ...(no_reverify ? ["it is not verified again where the tree has moved on"] : []),
  ];
  for (const { path, notices } of changes.files) {
    for (const notice of notices) (notice === DECIDES ? said : asked).push(`${showLine(path)} ${notice}`);
  }
  return { said, asked };
}
