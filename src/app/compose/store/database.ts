import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createContentStore } from "../../../adapters/disk/durable/content-store.ts";
import type { Restored } from "../../../adapters/sql/postgres/backup.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isAbsence } from "../../../core/errors/system.ts";
import { verifyLedger } from "../../../core/ledger/verify.ts";
import { resendLost } from "../../../rooms/jobs/index.ts";
import type { Workspace } from "../../config/workspace.ts";
import type { Wiring } from "../../operations.ts";
import { STORE_OPERATIONS } from "../../store/operations.ts";
import type { ImportedFile, RestoredStore, StorePorts } from "../../store/ports.ts";
import type { Composition } from "../compose.ts";
import { openStore } from "./store.ts";
import { isStoreAbsent } from "./workspace.ts";

/** Whoever looks after a database reaches it without opening the store in it, which may not be there yet. */
export const wiring: Wiring<typeof STORE_OPERATIONS> = {
  operations: STORE_OPERATIONS,
  async ports(composition): Promise<StorePorts> {
    const { surface, workspace, clock, ids, crypto, start, databaseUrl, teamWorkspace, store } = composition;
    const forBackups = async () => {
      const { engineSchema, installEngine } = await import("../../../adapters/pgboss/install.ts");
      return { crypto, ids, queueSchema: engineSchema, installEngine };
    };
    const load = () => import("../../../adapters/sql/postgres/store.ts");
    return {
      surface,
      isTeam: databaseUrl() !== undefined,
      inspect: async () => (await load()).inspectPostgres(databaseUrl()!, teamWorkspace()),
      migrate: async (dryRun, workspace) =>
        (await load()).migratePostgres({
          installEngine: (await import("../../../adapters/pgboss/install.ts")).installEngine,
          url: databaseUrl()!,
          clock,
          ids,
          dryRun,
          ...(workspace === undefined ? {} : { workspace }),
        }),
      importFile: (file, workspace) => importFile(composition, resolve(start, file), workspace),
      requeue: async () => resendLost(await store("append")),
      backUp: async (folder) => {
        const { backUp } = await import("../../../adapters/sql/postgres/backup.ts");
        return backUp(databaseUrl()!, resolve(start, folder), await forBackups());
      },
      restore: async (folder) => {
        const { restore } = await import("../../../adapters/sql/postgres/backup.ts");
        const restored = await restore(databaseUrl()!, resolve(start, folder), await forBackups());
        return { ...restored, unknown: await recordRestore(composition, restored) };
      },
      lookAtFile: async () => {
        const where = workspace.database;
        if (isStoreAbsent(workspace)) return { where, use: null };
        const opened = await store("read");
        const { schema_version } = await opened.facts();
        const entries = await opened.read(({ ledger }) => ledger.size());
        return { where, use: { version: Number(schema_version), entries, bytes: sizeOf(workspace) } };
      },
    };
  },
};

/** Says in every ledger that it was restored, and looks for branches that came after the backup. */
async function recordRestore(composition: Composition, restored: Restored): Promise<RestoredStore["unknown"]> {
  const { incarnation, before } = restored;
  const { crypto, clock, ids, actor } = composition;
  const { AUDIT_RECORDS, AUDIT_STREAM } = await import("../../team/records.ts");
  const { openMirror } = await import("../team/team-jobs.ts");
  const unknown: { repository: string; refs: string[] | null }[] = [];
  for (const { workspace, tree_size, root_hash } of before.ledgers) {
    const at = { path: "", url: composition.databaseUrl(), workspace, realTime: true, crypto, clock, ids };
    const store = await openStore(at);
    try {
      const facts = { incarnation, before: before.incarnation, tree_size, root_hash, backup_sha256: before.sha256 };
      await store.transact(async ({ ledger }) => {
        await ledger.append(AUDIT_STREAM, "next", [AUDIT_RECORDS.make("RESTORED", actor, facts)]);
      });
      const repositories = await store.read(({ team }) => team!.repositories());
      const known = new Set(await store.read(({ team }) => team!.queued.refs()));
      for (const repository of repositories) {
        const refs = await openMirror(composition, repository)
          .then((mirror) => mirror.listRefs("refs/verbatim/"))
          // A remote that is away keeps nobody from restoring; that it was not asked is said.
          .catch(() => null);
        unknown.push({ repository: repository.name, refs: refs?.filter((ref) => !known.has(ref)) ?? null });
      }
    } finally {
      await store.close();
    }
  }
  return unknown;
}

/** Works on a copy of the file, brought up to date and verified; the file itself is only read. */
async function importFile(composition: Composition, file: string, workspace: string): Promise<ImportedFile> {
  const { crypto, clock, ids, actor } = composition;
  const url = composition.databaseUrl()!;
  if (!existsSync(file)) throw new VerbatimError("FILE_NOT_FOUND", { where: file });
  const { copyStore, readTables } = await import("../../../adapters/sql/sqlite/read-tables.ts");
  const { importStore } = await import("../../../adapters/sql/postgres/import.ts");
  const folder = mkdtempSync(join(tmpdir(), "verbatim-import-"));
  const path = join(folder, "store.db");
  try {
    await copyStore(file, path);
    const facts = await describeCopy({ path, url: undefined, crypto, clock, ids });
    const tables = await readTables(path);
    // Payloads lie beside the file.
    const content = createContentStore({ folder: join(dirname(file), "blobs"), crypto, clock });
    try {
      const done = await importStore({ url, name: workspace, crypto, source: { ...tables, ...facts, content } });
      await recordImport({ path: "", url, workspace, realTime: true, crypto, clock, ids }, actor, facts);
      return { ...facts, ...done };
    } finally {
      tables.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type StoreAt = Parameters<typeof openStore>[0];

async function describeCopy(at: StoreAt) {
  const store = await openStore(at);
  try {
    return await store.read(async ({ jobs, ledger }) => {
      if ((await jobs.openJobsAfter(0, 1)).length > 0) throw new VerbatimError("JOBS_OPEN");
      const { problems, entries, root_hash } = await verifyLedger(ledger, at.crypto);
      if (problems.length > 0 || root_hash === null) {
        throw new VerbatimError("STORE_CORRUPT", { message: "the ledger does not verify", details: { problems } });
      }
      return { ledger_id: await ledger.ledgerId(), tree_size: entries, root_hash };
    });
  } finally {
    await store.close();
  }
}

async function recordImport(
  at: StoreAt,
  actor: string,
  { tree_size, root_hash }: { tree_size: number; root_hash: string },
) {
  const { AUDIT_RECORDS, AUDIT_STREAM } = await import("../../team/records.ts");
  const store = await openStore(at);
  try {
    await store.transact(async ({ ledger }) => {
      await ledger.append(AUDIT_STREAM, "next", [AUDIT_RECORDS.make("IMPORTED", actor, { tree_size, root_hash })]);
    });
  } finally {
    await store.close();
  }
}

/** The file and what SQLite keeps beside it. */
function sizeOf({ database }: Workspace): number {
  return ["", "-wal"].reduce((bytes, suffix) => bytes + fileSize(`${database}${suffix}`), 0);
}

function fileSize(path: string): number {
  try {
    return statSync(path).size;
  } catch (thrown) {
    if (isAbsence(thrown)) return 0;
    throw thrown;
  }
}
