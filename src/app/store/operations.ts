import { z } from "zod";
import { VerbatimError, wordsAt } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER } from "../../core/operation.ts";
import { CHECKED } from "../hall/checks.ts";
import { workspaceName } from "../team/names.ts";
import type { StorePorts } from "./ports.ts";
import { describeDatabase, describeFile } from "./status.ts";

const status = defineOperation({
  name: "store.status",
  summary: "Says what the store holds and whether it is as this Verbatim needs it. Changes nothing.",
  effect: "read",
  who: READER,
  surfaces: [...LOCAL_SURFACES, "http"],
  input: z.strictObject({}),
  output: CHECKED,
  async run(ports: StorePorts) {
    const found = ports.isTeam ? describeDatabase(await ports.inspect()) : describeFile(await ports.lookAtFile());
    return {
      ok: found.every((one) => one.status !== "fail"),
      checks: found.map((one) => ({ ...one, fix: one.fix === null ? null : wordsAt(ports.surface, one.fix) })),
    };
  },
});

const migrate = defineOperation({
  name: "store.migrate",
  summary:
    "Makes or upgrades the store in a team's PostgreSQL database: the only verb that creates or alters anything there.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    dry_run: z.boolean().default(false).describe("Print the SQL and do nothing."),
    workspace: workspaceName
      .optional()
      .describe("Name of the workspace that a new or an undivided store becomes (default: main)."),
  }),
  output: z.strictObject({
    where: z.string(),
    from: z.int().describe("The version before; 0: there was no store."),
    to: z.int().describe("The version now, or the one there would be."),
    steps: z.array(z.strictObject({ version: z.int(), name: z.string() })),
    done: z.boolean().describe("False for a dry run, and where nothing was missing."),
    sql: z.array(z.string()).describe("The statements of the steps, for a dry run."),
  }),
  async run(ports: StorePorts, { dry_run, workspace }) {
    if (!ports.isTeam) {
      throw new VerbatimError("DATABASE_NOT_SET", {
        message: "there is no database to migrate: VERBATIM_DATABASE_URL is not set",
        where: "VERBATIM_DATABASE_URL",
      });
    }
    const { where, applied, missing, sql } = await ports.migrate(dry_run, workspace);
    const from = Math.max(0, ...applied);
    const steps = missing.map(({ version, name }) => ({ version, name }));
    const done = !dry_run && steps.length > 0;
    return {
      where,
      from,
      to: Math.max(from, ...steps.map(({ version }) => version)),
      steps,
      done,
      sql: dry_run ? [...sql] : [],
    };
  },
});

const requeue = defineOperation({
  name: "store.requeue",
  summary: "Sends open jobs again that a team's queue does not have: workers do it every minute, and this does it now.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({}),
  output: z.strictObject({ sent: z.int().min(0) }),
  async run(ports: StorePorts) {
    if (!ports.isTeam) {
      throw new VerbatimError("DATABASE_NOT_SET", {
        message: "there is no queue: VERBATIM_DATABASE_URL is not set",
        where: "VERBATIM_DATABASE_URL",
      });
    }
    return { sent: await ports.requeue() };
  },
});

/** Everything under `store.` */
export const STORE_OPERATIONS = [status, migrate, requeue] as const;
