import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Restored } from "../../../adapters/sql/postgres/backup.ts";
import { isAbsence } from "../../../core/errors/system.ts";
import { resendLost } from "../../../rooms/jobs/index.ts";
import type { Workspace } from "../../config/workspace.ts";
import type { Wiring } from "../../operations.ts";
import { STORE_OPERATIONS } from "../../store/operations.ts";
import type { RestoredStore, StorePorts } from "../../store/ports.ts";
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
