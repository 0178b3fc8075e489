import { VerbatimError } from "../../core/errors/index.ts";
import type { Wiring } from "../operations.ts";
import { TEAM_OPERATIONS } from "../team/operations.ts";
import type { TeamPorts } from "../team/ports.ts";

/** What a team keeps about itself in its database. */
export const wiring: Wiring<typeof TEAM_OPERATIONS> = {
  operations: TEAM_OPERATIONS,
  async ports({ databaseUrl, ids }): Promise<TeamPorts> {
    return {
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
