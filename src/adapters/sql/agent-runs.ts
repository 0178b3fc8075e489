import type { AgentRunRow, AgentRunsReader, AgentRunsWriter } from "../../rooms/workflow/ports.ts";
import type { ReadSql, SqlValue, WriteSql } from "./statements.ts";

const COLUMNS = [
  "run_id",
  "run_dir",
  "repo_id",
  "root",
  "common_dir",
  "goal",
  "state",
  "reason",
  "created_at",
  "updated_at",
  "files",
  "added_lines",
  "deleted_lines",
] as const satisfies readonly (keyof AgentRunRow)[];

const NAMES = COLUMNS.join(", ");
const PUT = `insert into agent_runs (${NAMES}) values (${COLUMNS.map(() => "?").join(", ")})
  on conflict (run_id) do update set ${COLUMNS.slice(1)
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
}

class SqlAgentRunsWriter extends SqlAgentRunsReader<WriteSql> implements AgentRunsWriter {
  async put(row: AgentRunRow): Promise<void> {
    await this.sql.run(PUT, ...COLUMNS.map((name): SqlValue => row[name]));
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
