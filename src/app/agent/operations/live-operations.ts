import { z } from "zod";
import { defineOperation, OWNER } from "../../../core/operation.ts";
import { AgentRecord, AT_WORK, catchUp, Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { askTouched } from "../runs/processes.ts";
import { liveRun, readLive } from "../work/live.ts";

const liveRuns = z.strictObject({
  runs: z.array(
    liveRun.extend({
      run_id: z.string(),
      files: z.int().nullable().describe("Files the agent touched so far; null: nobody can tell."),
    }),
  ),
});

/** What the runs at work do at this moment. It costs what they cost, however many there are beside them. */
async function readLiveRuns(outside: AgentPorts): Promise<z.infer<typeof liveRuns>> {
  const ports = await outside.workflow("read");
  const repo_id = ports.identity.current()?.repo_id;
  if (repo_id === undefined) return { runs: [] };
  await catchUp(ports.store);
  const all = await ports.store.read(({ agents }) => agents.standing(repo_id));
  const busy = all.filter(({ state }) => (AT_WORK as readonly string[]).includes(state));
  const roots = [...new Set(busy.map(({ root }) => root))].filter((repo_root) =>
    ports.runs.isOwn({ repo_id, repo_root }),
  );
  const most = busy.reduce((sum, { n }) => sum + n, 0);
  if (roots.length === 0) return { runs: [] };
  const rows = await ports.store.read(({ agents }) =>
    agents.page({ repoId: repo_id, roots, states: AT_WORK }, "newest", most),
  );
  const runs = rows.map(async ({ run_id }) => {
    const folder = ports.runs.open(run_id);
    const record = folder === null ? null : AgentRecord.load(Run.load(ports, folder));
    if (record === null || !AT_WORK.includes(record.now.state)) return [];
    return [{ ...readLive(outside, record), run_id, files: await askTouched(outside, record.run) }];
  });
  return { runs: (await Promise.all(runs)).flat() };
}

const live = defineOperation({
  name: "agent.live",
  summary: "What the agent runs at work do at this moment: phase, last line, files touched so far.",
  effect: "read",
  who: OWNER,
  // Whoever types has `agent ps`, which also repairs what a process that is gone has left.
  surfaces: ["http", "library"],
  input: z.strictObject({}),
  output: liveRuns,
  run: (outside: AgentPorts) => readLiveRuns(outside),
});

export const LIVE_OPERATIONS = [live] as const;
