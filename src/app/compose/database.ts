import { statSync } from "node:fs";
import { isAbsence } from "../../core/errors/system.ts";
import { resendLost } from "../../rooms/jobs/index.ts";
import type { Workspace } from "../config/workspace.ts";
import type { Wiring } from "../operations.ts";
import { STORE_OPERATIONS } from "../store/operations.ts";
import type { StorePorts } from "../store/ports.ts";
import { isStoreAbsent } from "./workspace.ts";

/** Whoever looks after a database reaches it without opening the store in it, which may not be there yet. */
export const wiring: Wiring<typeof STORE_OPERATIONS> = {
  operations: STORE_OPERATIONS,
  async ports({ surface, workspace, clock, ids, databaseUrl, teamWorkspace, store }): Promise<StorePorts> {
    const load = () => import("../../adapters/sql/postgres/store.ts");
    return {
      surface,
      isTeam: databaseUrl() !== undefined,
      inspect: async () => (await load()).inspectPostgres(databaseUrl()!, teamWorkspace()),
      migrate: async (dryRun, workspace) =>
        (await load()).migratePostgres({
          installEngine: (await import("../../adapters/pgboss/install.ts")).installEngine,
          url: databaseUrl()!,
          clock,
          ids,
          dryRun,
          ...(workspace === undefined ? {} : { workspace }),
        }),
      requeue: async () => resendLost(await store("append")),
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
