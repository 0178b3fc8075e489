import type { PostgresMigration } from "../migration.ts";
import { ledgerMigration } from "./0001-ledger.ts";
import { contextMigration } from "./0002-context.ts";
import { jobsMigration } from "./0003-jobs.ts";
import { worldMigration } from "./0006-world.ts";
import { worldRecentTermsMigration } from "./0007-world-recent-terms.ts";
import { ledgerPiecesMigration } from "./0008-ledger-pieces.ts";
import { worldInvocationRowsMigration } from "./0009-world-invocation-rows.ts";
import { agentRunsMigration } from "./0010-agent-runs.ts";
import { agentRunEndsMigration } from "./0011-agent-run-ends.ts";
import { contextSearchMigration } from "./0012-context-search.ts";
import { worldOnceMigration } from "./0013-world-once.ts";
import { workspacesMigration } from "./0014-workspaces.ts";
import { teamMigration } from "./0015-team.ts";
import { worldLineageMigration } from "./0016-world-lineage.ts";
import { worldMarksMigration } from "./0017-world-marks.ts";

/** All migrations by ascending version. A room has one number for good; a store applies those it lacks. */
export const POSTGRES_MIGRATIONS: readonly PostgresMigration[] = [
  ledgerMigration,
  contextMigration,
  jobsMigration,
  worldMigration,
  worldRecentTermsMigration,
  ledgerPiecesMigration,
  worldInvocationRowsMigration,
  agentRunsMigration,
  agentRunEndsMigration,
  contextSearchMigration,
  worldOnceMigration,
  workspacesMigration,
  teamMigration,
  worldLineageMigration,
  worldMarksMigration,
];
