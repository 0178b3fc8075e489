import { z } from "zod";
import { uuid } from "../../core/contracts/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../core/operation.ts";
import { workspaceName } from "./names.ts";
import type { TeamPorts } from "./ports.ts";

const login = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[^\u0000-\u001f\u007f]+$/);

const workspaceAdd = defineOperation({
  name: "team.workspace-add",
  summary: "Makes a workspace in a team's database, or gives one that is there to more logins.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    name: workspaceName,
    login: z.array(login).max(100).default([]).describe("Login of the database that may work in it."),
  }),
  output: z.strictObject({
    where: z.string(),
    id: uuid.describe("The id of the workspace, which is that of its ledger."),
    name: workspaceName,
    existing: z.boolean(),
    logins: z.array(z.string()).describe("All logins that may work in it."),
  }),
  async run(ports: TeamPorts, input) {
    const added = await ports.addWorkspace(input.name, input.login);
    return { ...added, logins: [...added.logins] };
  },
});

/** Everything under `team.` */
export const TEAM_OPERATIONS = [workspaceAdd] as const;
