import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import {
  AgentRecord,
  isInTheMiddle,
  type LockFacts,
  type Run,
  recoverAgentRun,
  type Session,
  withSession,
} from "../../../rooms/workflow/index.ts";
import { recoverWork } from "../capture/recover-work.ts";
import type { AgentPorts } from "../ports.ts";
import { requireLandedHere } from "../runs/work-tree.ts";
import { forgetProcess, isProcessGone, readProcess } from "../work/agent-process.ts";
import { dropOpenFiles } from "../work/open-files.ts";
import { withControl } from "../work/run-control.ts";

/** A run that may be changed, and its record. */
export interface OpenAgentRun {
  readonly session: Session;
  readonly record: AgentRecord;
}

/**
 * Takes the lock of an agent run, repairs what a kill left of it, and lets `work` change it. The process is written down
 * meanwhile, so that others can tell when it is gone. RUN_OTHER_REPO, RUN_AT_WORK.
 */
export async function withAgentRun<T>(
  outside: AgentPorts,
  run: Run,
  command: string,
  work: (open: OpenAgentRun) => Promise<T>,
): Promise<T> {
  // Whoever is at work holds the lock too: there is no need to wait for it.
  const before = AgentRecord.load(run);
  if (before !== null && isInTheMiddle(before) && !isProcessGone(run, outside)) {
    throw atWork(run, readProcess(run)?.pid ?? null, before.now.state);
  }
  return await withControl(outside, run, (control) =>
    withSession(run.ports, run.folder, command, async (session) => {
      const record = AgentRecord.load(session.run);
      if (record === null) throw notOfAgents(run);
      requireLandedHere(outside, record);
      if (isInTheMiddle(record)) await repair(outside, session, record);
      try {
        await control.open();
        return await work({ session, record });
      } finally {
        control.close();
        forgetProcess(session.run);
        dropOpenFiles(session.run);
      }
    }),
  ).catch((thrown: unknown) => {
    // No verb of an agent run steals a lock.
    throw isVerbatimError(thrown) && thrown.code === "RUN_LOCKED" ? toAtWork(run, thrown) : thrown;
  });
}

/** The same for the process that has just made the run. */
export async function withPreparedRun<T>(
  outside: AgentPorts,
  run: Run,
  work: (open: OpenAgentRun) => Promise<T>,
): Promise<T> {
  return await withControl(outside, run, (control) =>
    withSession(run.ports, run.folder, "agent", async (session) => {
      try {
        await control.open();
        return await work({ session, record: AgentRecord.load(session.run)! });
      } finally {
        control.close();
        forgetProcess(session.run);
        dropOpenFiles(session.run);
      }
    }),
  );
}

async function repair(outside: AgentPorts, session: Session, record: AgentRecord): Promise<void> {
  if (!isProcessGone(session.run, outside)) {
    throw atWork(session.run, readProcess(session.run)?.pid ?? null, record.now.state);
  }
  const isWork = record.now.state === "working" || record.now.state === "capturing";
  const said = isWork ? await recoverWork(outside, record) : await recoverAgentRun(session, record);
  outside.notify(`agent run ${session.run.id}: ${said}`);
}

function atWork({ id, folder }: Run, pid: number | null, doing: string): VerbatimError {
  const who = pid === null ? "" : ` (process ${pid})`;
  return new VerbatimError("RUN_AT_WORK", {
    message: `the run is at work${who}: ${doing}`,
    where: folder.dir,
    fix: {
      cli: `Join it or end it: verbatim agent attach ${id}, verbatim agent stop ${id}`,
      others: "Wait for it to end, or stop it.",
    },
    details: { pid, state: doing },
  });
}

/** Somebody holds the lock of a run that says nothing of a process: another verb is busy with it. */
function toAtWork(run: Run, locked: VerbatimError): VerbatimError {
  const owner = locked.details?.["owner"] as LockFacts | null | undefined;
  return atWork(run, owner?.pid ?? null, owner == null ? "another verb is busy with it" : owner.command);
}

function notOfAgents(run: Run): VerbatimError {
  return new VerbatimError("RUN_NOT_FOUND", {
    message: `${run.id} is a workflow run, not an agent run`,
    fix: { cli: `See: verbatim workflow show ${run.id}`, others: "Open it as a workflow run." },
  });
}
