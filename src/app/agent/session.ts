import { VerbatimError } from "../../core/errors/index.ts";
import {
  AgentRecord,
  isInTheMiddle,
  type Run,
  recoverAgentRun,
  type Session,
  withSession,
} from "../../rooms/workflow/index.ts";
import { forgetProcess, isProcessGone, recordProcess } from "./agent-process.ts";
import type { AgentPorts } from "./ports.ts";

/** A run that may be changed, and its record. */
export interface OpenAgentRun {
  readonly session: Session;
  readonly record: AgentRecord;
}

/**
 * Takes the lock of an agent run, repairs what a kill left of it, and lets `work` change it. The process is written down
 * meanwhile, so that others can tell when it is gone. RUN_OTHER_REPO, RUN_LOCKED.
 */
export async function withAgentRun<T>(
  outside: AgentPorts,
  run: Run,
  command: string,
  work: (open: OpenAgentRun) => Promise<T>,
): Promise<T> {
  return await withSession(run.ports, run.folder, command, async (session) => {
    const record = AgentRecord.load(session.run);
    if (record === null) throw notOfAgents(run);
    if (isInTheMiddle(record)) await repair(outside, session, record);
    recordProcess(session.run, outside);
    try {
      return await work({ session, record });
    } finally {
      forgetProcess(session.run);
    }
  });
}

/** The same for the process that has just made the run. */
export async function withPreparedRun<T>(run: Run, work: (open: OpenAgentRun) => Promise<T>): Promise<T> {
  return await withSession(run.ports, run.folder, "agent", async (session) => {
    try {
      return await work({ session, record: AgentRecord.load(session.run)! });
    } finally {
      forgetProcess(session.run);
    }
  });
}

async function repair(outside: AgentPorts, session: Session, record: AgentRecord): Promise<void> {
  if (!isProcessGone(session.run, outside)) {
    throw new VerbatimError("RUN_LOCKED", {
      message: `the run is at work: ${record.now.state}`,
      where: session.run.folder.dir,
      fix: "Wait for it to finish.",
    });
  }
  const said = await recoverAgentRun(session, record);
  outside.notify(`agent run ${session.run.id}: ${said}`);
}

function notOfAgents(run: Run): VerbatimError {
  return new VerbatimError("RUN_NOT_FOUND", {
    message: `${run.id} is a workflow run, not an agent run`,
    fix: `See: verbatim workflow show ${run.id}`,
  });
}
