import { VerbatimError } from "../../core/errors/index.ts";
import type { Wiring } from "../operations.ts";
import { TEAM_OPERATIONS } from "../team/operations.ts";
import type { TeamPorts } from "../team/ports.ts";

const GONE_MS = 15_000;

/** What a team keeps about itself in its database. */
export const wiring: Wiring<typeof TEAM_OPERATIONS> = {
  operations: TEAM_OPERATIONS,
  async ports(composition): Promise<TeamPorts> {
    const { databaseUrl, ids } = composition;
    return {
      async addRepository(name, remote, branch) {
        requireUrl(databaseUrl());
        const store = await composition.store("append");
        const { openUnproved } = await import("./team-jobs.ts");
        const id = ids.uuid();
        const mirror = await openUnproved(composition, id, remote);
        const roots = await mirror.readRoots(branch);
        return store.transact(async ({ team }) => {
          const known = (await team!.repositories()).find((one) => one.name === name);
          if (known === undefined) {
            const row = { id, name, remote, default_branch: branch, roots };
            await team!.addRepository(row);
            return { ...row, existing: false };
          }
          const isSame = known.remote === remote && known.default_branch === branch;
          if (isSame && known.roots.join() === roots.join()) return { ...known, existing: true };
          throw new VerbatimError("REPOSITORY_EXISTS", { details: { name, remote: known.remote } });
        });
      },
      async listRepositories() {
        requireUrl(databaseUrl());
        return (await composition.store("read")).read(({ team }) => team!.repositories());
      },
      async work(input) {
        requireUrl(databaseUrl());
        const { runWorker } = await import("./team-worker.ts");
        return runWorker(composition, input);
      },
      async listWorkers() {
        requireUrl(databaseUrl());
        const rows = await (await composition.store("read")).read(({ team }) => team!.workers());
        return rows.map((row) => ({ ...row, state: row.silent_ms > GONE_MS ? ("gone" as const) : row.state }));
      },
      async drainWorker(name) {
        requireUrl(databaseUrl());
        const store = await composition.store("append");
        if (await store.transact(({ team }) => team!.drain(name))) return;
        const names = (await store.read(({ team }) => team!.workers())).map((row) => row.name);
        throw new VerbatimError("WORKER_UNKNOWN", { details: { name, workers: names } });
      },
      async addWorkspace(name, logins) {
        const { addWorkspace } = await import("../../adapters/sql/postgres/workspaces.ts");
        return addWorkspace({ url: requireUrl(databaseUrl()), name, logins, ids });
      },
    };
  },
};

function requireUrl(url: string | undefined): string {
  if (url !== undefined) return url;
  throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
}
