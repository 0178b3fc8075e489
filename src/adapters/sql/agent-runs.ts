import { AGENT_RUN } from "../../rooms/workflow/contracts/rows.ts";
import type { AgentRunRow, AgentRunsReader, AgentRunsWanted, AgentRunsWriter } from "../../rooms/workflow/ports.ts";
import { marks } from "./lists.ts";
import { insertInto, namesOf, toValues } from "./rows.ts";
import type { ReadSql, WriteSql } from "./statements.ts";

const NAMES = namesOf(AGENT_RUN);
const runValues = toValues(AGENT_RUN);
const { run_id: _, ...CHANGING } = AGENT_RUN;
const PUT = `${insertInto("agent_runs", AGENT_RUN)}
  on conflict (run_id) do update set ${Object.keys(CHANGING)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

/** Reads the table of agent runs inside one transaction. */
class SqlAgentRunsReader<C extends ReadSql = ReadSql> implements AgentRunsReader {
  protected readonly sql: C;

  constructor(sql: C) {
    this.sql = sql;
  }

  async rules(): Promise<number | null> {
    return (await this.sql.get<{ rules: number }>("select rules from agent_runs_fact where id = 1"))?.rules ?? null;
  }

  async find(runId: string): Promise<AgentRunRow | null> {
    return (await this.sql.get<AgentRunRow>(`select ${NAMES} from agent_runs where run_id = ?`, runId)) ?? null;
  }

  async ofRepository(repoId: string): Promise<AgentRunRow[]> {
    const sql = `select ${NAMES} from agent_runs where repo_id = ? order by created_at desc, run_id desc`;
    return this.sql.all<AgentRunRow>(sql, repoId);
  }

  async standing(repoId: string): Promise<{ root: string; state: string; n: number }[]> {
    const sql = "select root, state, count(*) as n from agent_runs where repo_id = ? group by root, state";
    const rows = await this.sql.all<{ root: string; state: string; n: number }>(sql, repoId);
    return rows.map((row) => ({ ...row, n: Number(row.n) }));
  }

  async idsOf(repoId: string, roots: readonly string[] | null): Promise<string[]> {
    if (roots?.length === 0) return [];
    // Without the work trees the index alone answers.
    const where = roots === null ? "" : ` and root in (${marks(roots)})`;
    const sql = `select run_id from agent_runs where repo_id = ?${where}`;
    return (await this.sql.all<{ run_id: string }>(sql, repoId, ...(roots ?? []))).map(({ run_id }) => run_id);
  }

  async page(
    wanted: AgentRunsWanted,
    order: "newest" | "oldest",
    limit: number,
    after?: Pick<AgentRunRow, "created_at" | "run_id">,
  ): Promise<AgentRunRow[]> {
    if (isNothing(wanted)) return [];
    const [condition, values] = toCondition(wanted);
    const [sign, way] = order === "newest" ? ["<", "desc"] : [">", "asc"];
    const behind = after === undefined ? "" : ` and (created_at, run_id) ${sign} (?, ?)`;
    const place = after === undefined ? [] : [after.created_at, after.run_id];
    const sql = `select ${NAMES} from agent_runs where ${condition}${behind}
      order by created_at ${way}, run_id ${way} limit ?`;
    return this.sql.all<AgentRunRow>(sql, ...values, ...place, limit);
  }

  async count(wanted: AgentRunsWanted): Promise<number> {
    if (isNothing(wanted)) return 0;
    const [condition, values] = toCondition(wanted);
    const found = await this.sql.get<{ n: number }>(
      `select count(*) as n from agent_runs where ${condition}`,
      ...values,
    );
    return Number(found?.n ?? 0);
  }
}

/** No database has a list of nothing. */
function isNothing({ roots, states }: AgentRunsWanted): boolean {
  return roots.length === 0 || states.length === 0;
}

function toCondition({
  repoId,
  roots,
  states,
  others = false,
  since,
}: AgentRunsWanted): [condition: string, values: string[]] {
  const lists = `repo_id = ? and root in (${marks(roots)}) and state ${others ? "not in" : "in"} (${marks(states)})`;
  const values = [repoId, ...roots, ...states];
  return since === undefined ? [lists, values] : [`${lists} and created_at >= ?`, [...values, since]];
}

class SqlAgentRunsWriter extends SqlAgentRunsReader<WriteSql> implements AgentRunsWriter {
  async put(row: AgentRunRow): Promise<void> {
    await this.sql.run(PUT, ...runValues(row));
  }

  async begin(rules: number): Promise<void> {
    await this.sql.run("delete from agent_runs");
    const sql =
      "insert into agent_runs_fact (id, rules) values (1, ?) on conflict (id) do update set rules = excluded.rules";
    await this.sql.run(sql, rules);
  }
}

/** The table of agent runs, for a database whose connections `toRead` and `toWrite` understand. */
export function agentRunsTables<R, W>(toRead: (connection: R) => ReadSql, toWrite: (connection: W) => WriteSql) {
  return {
    read: (connection: R): AgentRunsReader => new SqlAgentRunsReader(toRead(connection)),
    write: (connection: W): AgentRunsWriter => new SqlAgentRunsWriter(toWrite(connection)),
  };
}
