import type { CaseWords } from "../../core/errors/index.ts";
import type { Surface } from "../../core/operation.ts";

/** One step of the schema. */
interface SchemaStep {
  readonly version: number;
  readonly name: string;
}

/** The database of a team, as somebody who looks after it sees it. */
export interface TeamDatabase {
  readonly where: string;
  readonly schema: string;
  readonly serverVersion: string;
  readonly newest: number;
  readonly applied: readonly number[];
  readonly missing: readonly SchemaStep[];
  /** The workspaces this login was given. */
  readonly workspaces: readonly { readonly name: string }[];
  /** The role whose rights the store works with; null where there is none, and then why. */
  readonly role: { readonly name: string | null; readonly why: string | null };
  readonly use: {
    /** Of the workspace that is looked at; null where several are there and none is named. */
    readonly entries: number | null;
    readonly bytes: {
      readonly ledger: number;
      readonly payloads: number;
      readonly index: number;
      readonly rest: number;
    };
    readonly mayChangeLedger: boolean;
  } | null;
}

/** A store in a file. */
export interface FileStore {
  readonly where: string;
  /** Null where nothing was stored yet. */
  readonly use: { readonly version: number; readonly entries: number; readonly bytes: number } | null;
}

/** What a backup says of itself. */
export interface BackupFacts {
  readonly version: number;
  readonly incarnation: string;
  readonly ledgers: readonly {
    readonly workspace: string;
    readonly ledger_id: string;
    readonly tree_size: number;
    readonly root_hash: string;
  }[];
  readonly bytes: number;
  readonly sha256: string;
}

/** A database that came from a backup. */
export interface RestoredStore {
  readonly where: string;
  readonly incarnation: string;
  readonly before: BackupFacts;
  readonly open: number;
  /** Branches of ours at the remotes that the records do not know; null for a repository whose remote did not answer. */
  readonly unknown: readonly { readonly repository: string; readonly refs: readonly string[] | null }[];
}

/** A store in a file that became a workspace. */
export interface ImportedFile {
  readonly where: string;
  readonly ledger_id: string;
  readonly tree_size: number;
  readonly root_hash: string;
  readonly rows: number;
  readonly payloads: number;
}

export interface StorePorts {
  readonly surface: Surface;
  /** The address of the team's database is set. */
  readonly isTeam: boolean;
  inspect(): Promise<TeamDatabase>;
  lookAtFile(): Promise<FileStore>;
  /** FILE_EXISTS, STORE_REFUSED, BACKUP_FAILED. */
  backUp(folder: string): Promise<BackupFacts>;
  /** STORE_NOT_EMPTY, BACKUP_INVALID, BACKUP_FAILED. */
  restore(folder: string): Promise<RestoredStore>;
  /** A store in a file becomes a new workspace. JOBS_OPEN, WORKSPACE_EXISTS, STORE_CORRUPT. */
  importFile(file: string, workspace: string): Promise<ImportedFile>;
  /** Says how many jobs were sent again. */
  requeue(): Promise<number>;
  migrate(
    dryRun: boolean,
    workspace?: string,
  ): Promise<{
    readonly where: string;
    readonly applied: readonly number[];
    readonly missing: readonly SchemaStep[];
    readonly sql: readonly string[];
  }>;
}

/** One line of a look at the store, before it is known who reads it. */
export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  readonly fix: string | CaseWords | null;
}
