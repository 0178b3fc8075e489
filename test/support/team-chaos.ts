import { expect } from "vitest";
import type { Crew } from "./team-crew.ts";
import { type Crewed, type Fleet, git, type Kind } from "./team-fleet.ts";

const LOOK_MS = 200;

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Looks until it holds; what is said is seen when that takes too long. */
export async function until(what: string, holds: () => Promise<boolean>, most_ms = 240_000): Promise<void> {
  const end = performance.now() + most_ms;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`still not: ${what}`);
    await pause(LOOK_MS);
  }
}

/** What one worker makes of the same messages where nothing goes wrong. */
export interface Reference {
  /** Hashes of the receipts of a job, of those that only read. */
  readonly reads: ReadonlyMap<string, readonly string[]>;
  /** Trees of the steps of a kind with its variant. */
  readonly trees: ReadonlyMap<string, readonly string[]>;
}

interface Row {
  readonly job_id: string;
  readonly status: string;
  readonly receipt_hash: string;
  readonly receipt: {
    readonly actions: readonly { readonly type: string; readonly result: Readonly<Record<string, string>> }[];
  };
}

async function receiptsOf(fleet: Fleet): Promise<Map<string, Row[]>> {
  const rows = await fleet.sql(
    "select job_id, status, receipt_hash, receipt from verbatim.jobs_receipt order by job_id, ordinal",
  );
  const jobs = new Map<string, Row[]>();
  for (const row of rows) {
    const job = String(row["job_id"]);
    const one = { ...row, receipt: JSON.parse(String(row["receipt"])) } as unknown as Row;
    jobs.set(job, [...(jobs.get(job) ?? []), one]);
  }
  return jobs;
}

const isEffect = (row: Row) => row.status === "SUCCESS" && row.receipt.actions[0]!.type !== "READ";

export async function readReference(fleet: Fleet): Promise<Reference> {
  const receipts = await receiptsOf(fleet);
  const reads = new Map<string, string[]>();
  const trees = new Map<string, string[]>();
  for (const { posted } of fleet.workspaces) {
    for (const { job, kind, key } of posted) {
      const rows = receipts.get(job) ?? [];
      if (kind === "reads")
        reads.set(
          job,
          rows.map(({ receipt_hash }) => receipt_hash),
        );
      trees.set(key, treesOf(rows));
    }
  }
  return { reads, trees };
}

function treesOf(rows: readonly Row[]): string[] {
  return rows.filter(isEffect).map(({ receipt }) => receipt.actions[0]!.result["tree"]!);
}

const STATES: Readonly<Record<Kind, string>> = {
  reads: "SUCCEEDED",
  writes: "SUCCEEDED",
  count: "SUCCEEDED",
  dice: "SUCCEEDED",
  mixed: "SUCCEEDED",
  refused: "FAILED",
};

/** What must be true once every job has ended, whatever happened meanwhile. */
export async function expectOrder(fleet: Fleet, reference: Reference): Promise<void> {
  const receipts = await receiptsOf(fleet);
  const branches: string[] = [];
  for (const workspace of fleet.workspaces) {
    await expectStates(workspace);
    for (const { job, kind, key } of workspace.posted) {
      const rows = receipts.get(job) ?? [];
      if (kind === "reads") expect([job, rows.map((row) => row.receipt_hash)]).toEqual([job, reference.reads.get(job)]);
      else if (kind !== "dice") expect([key, treesOf(rows)]).toEqual([key, reference.trees.get(key)]);
      const effects = rows.filter(isEffect);
      if (effects.length === 0) continue;
      const { ref } = effects[0]!.receipt.actions[0]!.result as { ref: string };
      branches.push(ref);
      const commits = effects.map(({ receipt }) => receipt.actions[0]!.result["commit"]);
      const made = git(fleet.remote, "rev-list", "--reverse", `main..${ref}`).split("\n");
      // Every branch is exactly the commits of its receipts.
      expect([job, made]).toEqual([job, commits]);
    }
    const said = JSON.parse(await workspace.must("ledger", "verify", "--json")) as { ok: boolean };
    expect([workspace.name, said.ok]).toEqual([workspace.name, true]);
  }
  const refs = git(fleet.remote, "for-each-ref", "--format=%(refname)", "refs/verbatim").split("\n");
  expect(refs.filter((ref) => ref !== "").toSorted()).toEqual(branches.toSorted());
  await expectRecords(fleet);
}

/** Every job ended as its own steps say, and no workspace sees a job of another one. */
async function expectStates(workspace: Crewed): Promise<void> {
  const listed = JSON.parse(await workspace.must("job", "list", "--limit", "1000", "--json")) as {
    jobs: { job_id: string; state: string }[];
  };
  const states = listed.jobs.map(({ job_id, state }) => `${job_id} ${state}`).toSorted();
  expect(states).toEqual(workspace.posted.map(({ job, kind }) => `${job} ${STATES[kind]}`).toSorted());
}

async function expectRecords(fleet: Fleet): Promise<void> {
  const none: Readonly<Record<string, string>> = {
    "a step with more than one receipt":
      "select step_id from verbatim.jobs_receipt group by step_id having count(*) <> 1",
    "a step that is over and has no receipt":
      "select s.step_id from verbatim.jobs_step s left join verbatim.jobs_receipt r on r.step_id = s.step_id where s.status in ('COMMITTED', 'FAILED') and r.step_id is null",
    "a step that somebody holds": "select step_id from verbatim.jobs_step where status = 'LEASED'",
    "time that falls in a stream":
      "select a.stream from verbatim.ledger_entry a join verbatim.ledger_entry b on a.workspace_id = b.workspace_id and a.stream = b.stream and b.position = a.position + 1 where b.time < a.time",
    "a job that waits with the queue":
      "select id from verbatim_queue.job where state < 'completed' and not exists (select 1 from verbatim.worker where false)",
    "a lock of a session":
      "select l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' and a.state = 'idle'",
    "a transaction that nobody goes on with":
      "select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%' and now() - state_change > interval '15 s'",
  };
  for (const [what, sql] of Object.entries(none)) expect([what, await fleet.sql(sql)]).toEqual([what, []]);
}

/** Waits until every job has ended, and says who is to blame when that does not happen. */
export async function finish(fleet: Fleet, crew: Crew, most_ms: number): Promise<void> {
  try {
    await until("no job is open", async () => (await fleet.open()) === 0, most_ms);
  } catch (thrown) {
    const rows = await fleet.sql(
      "select j.name, j.state::text, j.retry_count, j.output, j.data->>'job' as job from verbatim_queue.job j where j.state <> 'completed' limit 20",
    );
    const says = crew.machines.map(({ name, child }) => `${name}: ${child?.lines.join(" | ") ?? "gone"}`);
    throw new Error(`${String(thrown)}\n${JSON.stringify(rows, null, 1)}\n${says.join("\n")}`, { cause: thrown });
  }
  expect(crew.surprises).toEqual([]);
}
