import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { nodeCrypto } from "../../../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../../src/adapters/disk/durable/content-store.ts";
import { createPauses } from "../../../src/adapters/process/pauses.ts";
import { postgresJobs } from "../../../src/adapters/sql/postgres/jobs-tables.ts";
import { ledgerMigration as postgresLedger } from "../../../src/adapters/sql/postgres/migrations/0001-ledger.ts";
import { jobsMigration as postgresJobsMigration } from "../../../src/adapters/sql/postgres/migrations/0003-jobs.ts";
import { workspacesMigration } from "../../../src/adapters/sql/postgres/migrations/0014-workspaces.ts";
import { openPostgresStore } from "../../../src/adapters/sql/postgres/store.ts";
import { sqliteJobs } from "../../../src/adapters/sql/sqlite/jobs-tables.ts";
import { ledgerMigration as sqliteLedger } from "../../../src/adapters/sql/sqlite/migrations/0001-ledger.ts";
import { jobsMigration as sqliteJobsMigration } from "../../../src/adapters/sql/sqlite/migrations/0003-jobs.ts";
import { openSqliteStore } from "../../../src/adapters/sql/sqlite/store.ts";
import { runWorkers } from "../../../src/rooms/jobs/steps/job-run.ts";
import { TestPatchPort } from "../../support/job-rooms.ts";

// Runs steps until it is killed, two at a time; prints a line before the first and after every step.

const [kind, place, tree, leaseMs] = process.argv.slice(2) as [string, string, string, string];
const clock = { now: () => Date.now() };
const ids = { uuid: () => randomUUID() };

async function open() {
  if (kind === "postgres") {
    const migrations = [postgresLedger, postgresJobsMigration, workspacesMigration];
    const rooms = { jobs: postgresJobs(clock) };
    const store = await openPostgresStore({ url: place, crypto: nodeCrypto, clock, ids, migrations, rooms });
    return { store, content: store.content };
  }
  const migrations = [sqliteLedger, sqliteJobsMigration];
  const rooms = { jobs: sqliteJobs(clock) };
  const path = join(place, "store.db");
  const store = await openSqliteStore({ path, crypto: nodeCrypto, clock, ids, migrations, rooms });
  return { store, content: createContentStore({ folder: join(place, "blobs"), crypto: nodeCrypto, clock }) };
}

const ports = {
  ...(await open()),
  crypto: nodeCrypto,
  clock,
  ids,
  pauses: createPauses(),
  progress: { report: ({ done }: { readonly done: number }) => console.log(`step ${done}`) },
  host: `child:${process.pid}`,
  patch: new TestPatchPort(tree),
  execute: null,
};
console.log("ready");
await runWorkers(ports, { workers: 2, once: false, lease_ms: Number(leaseMs) });
