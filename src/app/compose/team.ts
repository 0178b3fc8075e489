import { VerbatimError } from "../../core/errors/index.ts";
import type { Wiring } from "../operations.ts";
import { TEAM_OPERATIONS } from "../team/operations.ts";
import type { TeamPorts } from "../team/ports.ts";

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
        const { runWorker } = await import("./team-jobs.ts");
        return runWorker(composition, input);
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
