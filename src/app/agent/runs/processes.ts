import { z } from "zod";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { AgentRecord, AT_WORK, isInTheMiddle, Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readSummary } from "../report/read-summary.ts";
import { withAgentRun } from "../request/session.ts";
import { isProcessGone, readControl, readProcess } from "../work/agent-process.ts";
import { liveRun, readLive } from "../work/live.ts";
import { listOwnRuns } from "./list.ts";

export const processList = z.strictObject({
  runs: z.array(
    liveRun.extend({
      run_id: z.string(),
      name: z.string().describe("What whoever started it called it, or its goal."),
      agent: z.string().describe("The program that was started, by its own name."),
      created_at: z.string(),
      files: z.int().nullable().describe("Files the agent touched so far; null: nobody can tell."),
      pid: z.int().nullable().describe("The process of ours that works on it."),
      root: z.string().describe("The work tree the run belongs to."),
    }),
  ),
});

type Shown = z.infer<typeof processList>["runs"][number];

/** The runs at work, newest first. What a process that is gone left in the middle is repaired and not listed. */
export async function listProcesses(outside: AgentPorts, allRepos: boolean): Promise<z.infer<typeof processList>> {
  const ports = await outside.workflow("read");
  const own = (await listOwnRuns(outside)).map(({ run_id }) => ports.runs.open(run_id)?.dir);
  const all = allRepos ? outside.control.listBusyRuns() : [];
  const found: Shown[] = [];
  for (const dir of new Set([...own, ...all])) {
    const folder = dir === undefined ? null : ports.runs.openPath(dir);
    if (folder === null) continue;
    const run = Run.load(ports, folder);
    const record = AgentRecord.load(run);
    if (record === null || !isInTheMiddle(record)) continue;
    if (isProcessGone(run, outside)) {
      if (own.includes(dir)) await repair(outside, run);
      continue;
    }
    const outcome = readSummary(outside, run)?.outcome;
    if (outcome !== undefined && AT_WORK.includes(outcome)) found.push(await show(outside, record));
  }
  const age = (run: Shown) => `${run.created_at} ${run.run_id}`;
  return { runs: found.sort((a, b) => (age(a) < age(b) ? 1 : -1)) };
}

/** Another program may be doing the same; whoever comes second finds nothing to do. */
async function repair(outside: AgentPorts, run: Run): Promise<void> {
  try {
    await withAgentRun(outside, run, "agent ps", async () => undefined);
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "RUN_AT_WORK") throw thrown;
  }
}

async function show(outside: AgentPorts, record: AgentRecord): Promise<Shown> {
  const { run, now } = record;
  const [program = ""] = now.request.argv;
  return {
    ...readLive(outside, record),
    run_id: run.id,
    name: now.request.name ?? now.goal,
    agent: program.slice(program.lastIndexOf("/") + 1),
    created_at: now.created_at,
    files: await askTouched(outside, run),
    pid: readProcess(run)?.pid ?? null,
    root: run.state.repo_root,
  };
}

/** What only the process that is at work can count; null: it does not answer. */
export async function askTouched(outside: AgentPorts, run: Run): Promise<number | null> {
  const place = readControl(run, outside);
  if (place === null) return null;
  let files: number | null = null;
  const onState = (state: Readonly<Record<string, unknown>>) => {
    files = typeof state["files"] === "number" ? state["files"] : null;
  };
  const hello = { token: place.token, read_only: true, bytes: false };
  (await outside.control.join(place.socket, hello, { onState }))?.close();
  return files;
}
