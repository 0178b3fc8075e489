import { expect } from "vitest";
import type { Team } from "./team.ts";

interface Placed {
  readonly status: string;
  readonly receipt: {
    readonly actions: readonly { readonly type: string; readonly result: Readonly<Record<string, string>> }[];
  };
}

/** What must be true of a team after whatever happened to its workers. Gives the states of the jobs. */
export async function expectTeamInOrder(team: Team, jobs: readonly string[]): Promise<string[]> {
  const states: string[] = [];
  const branches = new Set<string>();
  for (const job of jobs) {
    const status = JSON.parse(await team.must("job", "status", job, "--json")) as { state: string };
    states.push(status.state);
    const rows = await team.sql(
      "select receipt, status from verbatim.jobs_receipt where job_id = $1 order by ordinal",
      job,
    );
    const receipts = rows.map(
      (row) => ({ status: row["status"], receipt: JSON.parse(String(row["receipt"])) }) as Placed,
    );
    const effects = receipts.filter((one) => one.status === "SUCCESS" && one.receipt.actions[0]!.type !== "READ");
    const commits = effects.map(({ receipt }) => receipt.actions[0]!.result["commit"]);
    if (effects.length === 0) continue;
    const ref = effects[0]!.receipt.actions[0]!.result["ref"]!;
    branches.add(ref);
    const sealed = "%(trailers:key=Verbatim-Sealed,valueonly,separator=)";
    const log = team.git(team.remote, "log", "--reverse", `--format=%H ${sealed}`, `main..${ref}`).split("\n");
    const made = log.map((line) => line.split(" ")).filter(([, seal]) => (seal ?? "") === "");
    // Every branch is exactly the commits of its receipts.
    expect([job, made.map(([id]) => id)]).toEqual([job, commits]);
  }
  const doubled = await team.sql(
    "select step_id from verbatim.jobs_receipt group by step_id having count(*) <> 1 union all select step_id from verbatim.jobs_step where status = 'LEASED'",
  );
  expect(doubled).toEqual([]);
  const backwards = await team.sql(
    "select a.stream from verbatim.ledger_entry a join verbatim.ledger_entry b on a.workspace_id = b.workspace_id and a.stream = b.stream and b.position = a.position + 1 where b.time < a.time",
  );
  expect(backwards).toEqual([]);
  const refs = team.git(team.remote, "for-each-ref", "--format=%(refname)", "refs/verbatim").split("\n");
  expect(refs.filter((ref) => ref !== "").toSorted()).toEqual([...branches].toSorted());
  const stuck = await team.sql(
    "select pid from pg_stat_activity where datname = current_database() and state = 'idle in transaction' and now() - state_change > interval '15 s'",
  );
  expect(stuck).toEqual([]);
  await team.must("ledger", "verify");
  return states;
}
