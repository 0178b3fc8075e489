import { integer, orNull, type RowOf, text, wide } from "../../../core/columns.ts";

/** One agent run as the table of runs has it: what a list shows, made from the ledger. */
export const AGENT_RUN = {
  run_id: text(),
  run_dir: text(),
  repo_id: orNull(text()),
  root: text(),
  common_dir: orNull(text()),
  goal: text(),
  /** The program that was started, by its own name. */
  agent: text(),
  /** Where the run stands, as its newest entry says. */
  state: text(),
  reason: orNull(text()),
  created_at: text(),
  /** Time of the newest entry that said something new. */
  updated_at: text(),
  /** When it first came to an end of its work; null: it has not. */
  ended_at: orNull(text()),
  files: integer(),
  added_lines: integer(),
  deleted_lines: integer(),
  /** What it has cost so far, in millionths of a dollar; null: nobody can tell. */
  usd_micro: orNull(wide()),
} as const;
export type AgentRunRow = RowOf<typeof AGENT_RUN>;
