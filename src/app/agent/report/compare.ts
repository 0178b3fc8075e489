import { z } from "zod";
import { compareCodePoints } from "../../../core/canonical/index.ts";
import { AGENT_STATES, type Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { findAgentRun } from "../runs/find-agent-run.ts";
import { readDiff } from "./diff.ts";
import { readSummary } from "./read-summary.ts";

const cell = z.strictObject({
  operation: z.string(),
  kind: z.string(),
  added: z.int(),
  deleted: z.int(),
  same_in: z.int().describe("How many of the runs make exactly the same of this file, this one included."),
  hunks: z.array(
    z.strictObject({
      id: z.string(),
      n: z.int(),
      old_start: z.int(),
      same_in: z.int().describe("How many of the runs have exactly this hunk, this one included."),
    }),
  ),
});

export const comparison = z.strictObject({
  runs: z.array(
    z.strictObject({
      run_id: z.string(),
      goal: z.string(),
      agent: z.string().describe("The program that was started, by its own name."),
      outcome: z.enum(AGENT_STATES),
      reason: z.string().nullable(),
      duration_ms: z.int(),
      cost: z.number().nullable().describe("In USD; null: nobody can tell."),
      files: z.int(),
      added_lines: z.int(),
      deleted_lines: z.int(),
      findings: z.int().describe("What the gate found."),
      verify: z.string().nullable().describe("PASS, FAIL, or null where no command ran."),
    }),
  ),
  files: z
    .array(
      z.strictObject({ path: z.string(), cells: z.array(cell.nullable()).describe("One for each run, in order.") }),
    )
    .describe("By path; a cell is null where the run leaves the file alone."),
});

/** Two to six changes side by side: by file, and by hunk where several have the same. */
export async function compareRuns(outside: AgentPorts, names: readonly string[]): Promise<z.infer<typeof comparison>> {
  const ports = await outside.workflow("read");
  const runs: Run[] = [];
  for (const name of names) runs.push(await findAgentRun(outside, ports, name));
  const diffs = runs.map((run) => new Map(readDiff(run, null).map((file) => [file.path, file])));
  const paths = [...new Set(diffs.flatMap((diff) => [...diff.keys()]))].sort(compareCodePoints);
  const files = paths.map((path) => {
    const found = diffs.map((diff) => diff.get(path) ?? null);
    const ends = found.map((file) =>
      file === null ? null : JSON.stringify({ ...file, hunks: file.hunks.map(({ id, text }) => [id, text]) }),
    );
    const having = (id: string) => found.filter((file) => file?.hunks.some((hunk) => hunk.id === id)).length;
    const cells = found.map((file, at) => {
      if (file === null) return null;
      const { operation, kind, added, deleted } = file;
      const hunks = file.hunks.map(({ id, n, old_start }) => ({ id, n, old_start, same_in: having(id) }));
      return { operation, kind, added, deleted, same_in: ends.filter((end) => end === ends[at]).length, hunks };
    });
    return { path, cells };
  });
  return { runs: runs.map((run) => describe(outside, run)), files };
}

function describe(outside: AgentPorts, run: Run): z.infer<typeof comparison>["runs"][number] {
  const { run_id, goal, agent, outcome, reason, duration_ms, changes, gate, verify, usage } = readSummary(
    outside,
    run,
  )!;
  const [program = ""] = agent.argv;
  return {
    ...{ run_id, goal, outcome, reason, duration_ms, cost: usage?.usd ?? null },
    agent: program.slice(program.lastIndexOf("/") + 1),
    files: changes.files.length,
    added_lines: changes.added_lines,
    deleted_lines: changes.deleted_lines,
    findings: gate?.findings.length ?? 0,
    verify: verify?.result ?? null,
  };
}
