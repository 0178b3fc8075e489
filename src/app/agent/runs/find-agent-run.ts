import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { isAge, Run, requireOwn, resolveRunName, type WorkflowPorts } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readSummary } from "../report/read-summary.ts";
import { unpackRun } from "../storage/run-package.ts";
import { listOwnRuns } from "./list.ts";

export const WORDS = { noun: "agent run", list: "verbatim agent list" };

/**
 * The agent run of a name: an id, a unique beginning or the last six digits of one, `@` for the newest, `@2`, or a run
 * directory. RUN_NOT_FOUND, RUN_AMBIGUOUS.
 */
export async function findAgentRun(outside: AgentPorts, ports: WorkflowPorts, name: string): Promise<Run> {
  const exact = isPath(name) ? ports.runs.openPath(name) : isAge(name) ? null : ports.runs.open(name);
  if (exact !== null) return requireAgents(outside, Run.load(ports, exact));
  const id = await resolveName(outside, name);
  const folder = ports.runs.open(id);
  if (folder !== null) return Run.load(ports, folder);
  throw new VerbatimError("RUN_NOT_FOUND", {
    message: `the folder of the run ${id} is gone; the ledger still has its record`,
    fix: {
      cli: `Look at the record: verbatim ledger show --stream workflow/${id}`,
      others: `Look at the record: the stream workflow/${id} of the ledger.`,
    },
  });
}

/** What is not here may be with the workers of the team: the record of a run that has ended is brought here. */
async function resolveName(outside: AgentPorts, name: string): Promise<string> {
  try {
    return resolveRunName(await listOwnRuns(outside), name, WORDS);
  } catch (thrown) {
    const isMissing = isVerbatimError(thrown) && thrown.code === "RUN_NOT_FOUND";
    const queued = isMissing && !isPath(name) && !isAge(name) ? await outside.queue?.find(name) : null;
    if (queued == null) throw thrown;
    const bytes = await outside.queue!.fetch(queued);
    await outside.queue!.requireHere(queued);
    const writing = await outside.workflow("mutate");
    await unpackRun(writing, await outside.content("append"), queued.run_id, bytes);
    outside.notify(`brought the run ${queued.run_id} from ${queued.worker ?? "its worker"}`);
    return queued.run_id;
  }
}

/** The same for whoever wants to change it: RUN_OTHER_REPO. */
export async function findOwnAgentRun(outside: AgentPorts, ports: WorkflowPorts, name: string): Promise<Run> {
  const run = await findAgentRun(outside, ports, name);
  requireOwn(run);
  return run;
}

export function isPath(name: string): boolean {
  return /[/\\]/.test(name) || name === "." || name === "..";
}

function requireAgents(outside: AgentPorts, run: Run): Run {
  if (readSummary(outside, run) !== null) return run;
  throw new VerbatimError("RUN_NOT_FOUND", {
    message: `${run.id} is a workflow run, not an agent run`,
    fix: { cli: `See: verbatim workflow show ${run.id}`, others: "Open it as a workflow run." },
  });
}
