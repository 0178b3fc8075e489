import type { App } from "../../app/call.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { type AgentView, renderDiff, renderHunks } from "./agent-text.ts";
import { formatError } from "./error-text.ts";
import type { Io } from "./io.ts";

const QUESTION = "  [Enter] keep for later   a apply   d show the diff   r choose parts   x throw away  > ";

/** Asks somebody at a terminal what to do with a change that is ready. The default answer changes nothing. */
export async function askWhatNext(view: AgentView, io: Io, app: App, renderApplied: (view: AgentView) => void) {
  const run = view.run_id;
  for (;;) {
    await io.flush();
    switch (await io.choose(QUESTION, ["a", "d", "r", "x"])) {
      case "a":
        return renderApplied(await app.call("agent.apply", { run }));
      case "d":
        renderDiff((await app.call("agent.show", { run, diff: true })).diff ?? [], io);
        break;
      case "r":
        if (await chooseParts(run, io, app, renderApplied)) return;
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

/** Says whether a part of the change was applied. */
async function chooseParts(run: string, io: Io, app: App, renderApplied: (view: AgentView) => void): Promise<boolean> {
  renderHunks(run, (await app.call("agent.show", { run, diff: true })).diff ?? [], io);
  await io.flush();
  const answer = await io.readLine("  apply only, for example src/date.ts:1,3-4 docs ([Enter] nothing)  > ");
  const only = answer.split(/\s+/).filter((word) => word !== "");
  if (only.length === 0) return false;
  try {
    renderApplied(await app.call("agent.apply", { run, only }));
    return true;
  } catch (thrown) {
    // A slip of the pen is no reason to lose the question.
    if (!isVerbatimError(thrown) || thrown.code !== "SELECTION_INVALID") throw thrown;
    for (const line of formatError(thrown, io.paint)) io.fail(line);
    return false;
  }
}
