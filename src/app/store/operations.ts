import { z } from "zod";
import { VerbatimError, wordsAt } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER } from "../../core/operation.ts";
import { CHECKED } from "../hall/checks.ts";
import { workspaceName } from "../team/names.ts";
import type { BackupFacts, StorePorts } from "./ports.ts";
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

const backupFacts = {
  version: z.int().describe("The version of the schema."),
  incarnation: z.string(),
  ledgers: z.array(
    z.strictObject({ workspace: z.string(), ledger_id: z.string(), tree_size: z.int(), root_hash: z.string() }),
  ),
  bytes: z.int(),
  sha256: z.string().describe("Of the dump."),
};

function toFacts({ version, incarnation, ledgers, bytes, sha256 }: BackupFacts) {
  return { version, incarnation, ledgers: ledgers.map((one) => ({ ...one })), bytes, sha256 };
}

function requireTeam({ isTeam }: StorePorts): void {
  if (!isTeam) throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
}

const backup = defineOperation({
  name: "store.backup",
  summary: "Writes a backup of a team's database, records and queue of one moment, and what its ledgers were then.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ out: z.string().min(1).describe("Folder for the backup; it must be new or empty.") }),
  output: z.strictObject({ folder: z.string(), ...backupFacts }),
  async run(ports: StorePorts, { out }) {
    requireTeam(ports);
    return { folder: out, ...toFacts(await ports.backUp(out)) };
  },
});

const restore = defineOperation({
  name: "store.restore",
  summary: "Brings a backup into an empty database, holds its ledgers against what the backup says, and begins anew.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ folder: z.string().min(1).describe("Folder of a backup.") }),
  output: z.strictObject({
    where: z.string(),
    now: z.string().describe("The new incarnation: part of every branch that is made from now on."),
    open: z.int().describe("Jobs, runs and merges that go on."),
    unknown: z
      .array(z.strictObject({ repository: z.string(), refs: z.array(z.string()).nullable() }))
      .describe("Branches at the remotes that the records do not know; null where a remote did not answer."),
    ...backupFacts,
  }),
  async run(ports: StorePorts, { folder }) {
    requireTeam(ports);
    const { where, incarnation, open, unknown, before } = await ports.restore(folder);
    const lists = unknown.map(({ repository, refs }) => ({ repository, refs: refs === null ? null : [...refs] }));
    return { ...toFacts(before), where, now: incarnation, open, unknown: lists };
  },
});

const importFile = defineOperation({
  name: "store.import",
  summary: "Brings a store in a file into a team's database as a new workspace: the same entries with the same hashes.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    file: z.string().min(1).describe("The store, such as .verbatim/state/store.db of a checkout."),
    workspace: workspaceName.describe("Name of the workspace it becomes."),
  }),
  output: z.strictObject({
    where: z.string(),
    workspace: workspaceName,
    ledger_id: z.string().describe("The id of the ledger, which is that of the workspace."),
    tree_size: z.int(),
    root_hash: z.string().describe("The same before and after."),
    rows: z.int(),
    payloads: z.int(),
  }),
  async run(ports: StorePorts, { file, workspace }) {
    requireTeam(ports);
    return { workspace, ...(await ports.importFile(file, workspace)) };
  },
});

/** Everything under `store.` */
export const STORE_OPERATIONS = [status, migrate, requeue, backup, restore, importFile] as const;
