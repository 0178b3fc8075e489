import type { ReadTransaction, Store, WriteTransaction } from "../../../core/ports.ts";

/** One agent run as the table of runs has it: what a list shows, made from the ledger. */
export interface AgentRunRow {
  readonly run_id: string;
  readonly run_dir: string;
  readonly repo_id: string | null;
  readonly root: string;
  readonly common_dir: string | null;
  readonly goal: string;
  /** Where the run stands, as its newest entry says. */
  readonly state: string;
  readonly reason: string | null;
  readonly created_at: string;
  /** Time of the newest entry that said something new. */
  readonly updated_at: string;
  readonly files: number;
  readonly added_lines: number;
  readonly deleted_lines: number;
}

/** The table of agent runs, a projection of the ledger. */
export interface AgentRunsReader {
  /** Which rules made the rows; null while nobody has made them. */
  rules(): Promise<number | null>;
  find(runId: string): Promise<AgentRunRow | null>;
  /** Runs that a repository recorded, newest first; of two made at the same time the larger id. */
  ofRepository(repoId: string): Promise<AgentRunRow[]>;
}

export interface AgentRunsWriter extends AgentRunsReader {
  put(row: AgentRunRow): Promise<void>;
  /** Forgets everything and writes down which rules the rows to come are made by. */
  begin(rules: number): Promise<void>;
}

/** The store of a workspace with the table of agent runs. */
export type RunStore = Store<
  ReadTransaction & { readonly agents: AgentRunsReader },
  WriteTransaction & { readonly agents: AgentRunsWriter }
>;
