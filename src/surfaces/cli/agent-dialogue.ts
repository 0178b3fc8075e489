import type { App } from "../../app/call.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { type AgentView, renderDiff } from "./agent-text.ts";
import type { Io } from "./io.ts";
import { showLine } from "./plain-text.ts";
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

/** Asks before a change is applied that somebody should look at first; --yes answers. The default answer applies nothing. */
export async function askToApply(flags: ApplyFlags, io: Io, app: App): Promise<void> {
  const summary = await findSummary(flags, app);
  const doubts = summary === null ? [] : listDoubts(summary, flags);
  if (doubts.length === 0) return;
  for (const doubt of doubts) io.line(`${io.paint.warn("!")} ${doubt}`);
  await io.flush();
  for (;;) {
    const answer = await io.choose("  Apply it?   y yes   d show the diff   [Enter] no  > ", ["y", "d"]);
    if (answer === "y") return;
    if (answer !== "d") break;
    renderDiff((await app.call("agent.show", { run: summary!.run_id, diff: true })).diff ?? [], io);
    await io.flush();
  }
  throw new VerbatimError("INTERRUPTED", {
    message: "nothing was applied",
    fix: "Without the question: --yes",
    exit: 4,
  });
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

/** Why somebody should look at a file before it lands. */
function describeNotice(path: string, notice: string): string {
  const isJudge = notice === DECIDES;
  return isJudge
    ? `the agent changed ${path}, which ${notice}: read it before you trust the result`
    : `${path} ${notice}`;
}

/** What somebody should know before a change is applied. */
export function listDoubts(
  { outcome, changes }: AgentView,
  { unverified = false, no_reverify = false }: ApplyFlags,
): string[] {
  if (!["verified", "unverified", "verify_failed"].includes(outcome)) return [];
  return [
    ...(outcome === "unverified" ? ["no command verified this change"] : []),
    ...(outcome === "verify_failed" && unverified ? ["this change did not pass its verification"] : []),
    ...(no_reverify ? ["it is not verified again where the tree has moved on"] : []),
    ...changes.files.flatMap(({ path, notices }) => notices.map((notice) => describeNotice(showLine(path), notice))),
  ];
}
