import type { ReadTransaction, Store, WriteTransaction } from "../../../core/ports.ts";
import type { AgentRunRow } from "../contracts/rows.ts";

/** Which runs of a repository are wanted. */
export interface AgentRunsWanted {
  readonly repoId: string;
  /** Work trees that they were recorded in. */
  readonly roots: readonly string[];
  readonly states: readonly string[];
  /** All states but those. */
  readonly others?: boolean;
  /** Began then or later. */
  readonly since?: string | undefined;
}

/** The table of agent runs, a projection of the ledger. */
export interface AgentRunsReader {
  /** Which rules made the rows; null while nobody has made them. */
  rules(): Promise<number | null>;
  find(runId: string): Promise<AgentRunRow | null>;
  /** Runs that a repository recorded, newest first; of two made at the same time the larger id. */
  ofRepository(repoId: string): Promise<AgentRunRow[]>;
  /** How many of the same were recorded in each work tree and stand where. */
  standing(repoId: string): Promise<{ readonly root: string; readonly state: string; readonly n: number }[]>;
  /** The ids of the same, in no order; with `roots` only of runs recorded there. */
  idsOf(repoId: string, roots: readonly string[] | null): Promise<string[]>;
  /** So many of those wanted, newest first or oldest first, from behind a place on. */
  page(
    wanted: AgentRunsWanted,
    order: "newest" | "oldest",
    limit: number,
    after?: Pick<AgentRunRow, "created_at" | "run_id">,
  ): Promise<AgentRunRow[]>;
  count(wanted: AgentRunsWanted): Promise<number>;
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
