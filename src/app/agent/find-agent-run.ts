import { VerbatimError } from "../../core/errors/index.ts";
import {
  AGENT_RUN_FILE,
  findRun,
  isAge,
  Run,
  requireOwn,
  resolveRunName,
  type WorkflowPorts,
} from "../../rooms/workflow/index.ts";
import { SUMMARY_FILE } from "./agent-summary.ts";

/** The agent run of a name: an id, a beginning or the last six digits of one, `@`, `@2`, or a run directory. */
export function findAgentRun(ports: WorkflowPorts, name: string): Run {
  const isWhole = isPath(name) || (!isAge(name) && ports.runs.open(name) !== null);
  const run = findRun(ports, isWhole ? name : resolveRunName(listAgentRuns(ports), name, WORDS));
  if (isAgentRun(run)) return run;
  throw new VerbatimError("RUN_NOT_FOUND", {
    message: `${run.id} is a workflow run, not an agent run`,
    fix: `See: verbatim workflow show ${run.id}`,
  });
}

/** The same for whoever wants to change it: RUN_OTHER_REPO. */
export function findOwnAgentRun(ports: WorkflowPorts, name: string): Run {
  const run = findAgentRun(ports, name);
  requireOwn(run);
  return run;
}

const WORDS = { noun: "agent run", list: "verbatim agent list" };

function isPath(name: string): boolean {
  return /[/\\]/.test(name) || name === "." || name === "..";
}

function isAgentRun({ folder }: Run): boolean {
  return folder.size(AGENT_RUN_FILE) !== null || folder.size(SUMMARY_FILE) !== null;
}

function listAgentRuns(ports: WorkflowPorts) {
  const runs = ports.runs.ids().map((id) => Run.load(ports, ports.runs.open(id)!));
  return runs.filter(isAgentRun).map(({ id, state }) => ({ run_id: id, created_at: state.created_at }));
}
