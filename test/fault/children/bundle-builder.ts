import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { nodeCrypto } from "../../../src/adapters/crypto/node-crypto.ts";
import { openBundleFolder } from "../../../src/adapters/disk/bundles/bundle-folder.ts";
import { createBundleFolder } from "../../../src/adapters/disk/bundles/bundle-target.ts";
import { createContentStore } from "../../../src/adapters/disk/durable/content-store.ts";
import { createLocalFiles } from "../../../src/adapters/disk/guarded/local-files.ts";
import { sqliteJobs } from "../../../src/adapters/sql/sqlite/jobs-tables.ts";
import { ledgerMigration } from "../../../src/adapters/sql/sqlite/migrations/0001-ledger.ts";
import { jobsMigration } from "../../../src/adapters/sql/sqlite/migrations/0003-jobs.ts";
import { openSqliteStore } from "../../../src/adapters/sql/sqlite/store.ts";
import { bundleBuild } from "../../../src/rooms/jobs/operations/bundle-build.ts";

// Builds one bundle over and over into new folders; prints a line for every file it wrote and every folder in place.

const [place, job_id, outs] = process.argv.slice(2) as [string, string, string];
const clock = { now: () => Date.now() };
const store = await openSqliteStore({
  path: join(place, "store.db"),
  crypto: nodeCrypto,
  clock,
  ids: { uuid: () => randomUUID() },
  migrations: [ledgerMigration, jobsMigration],
  rooms: { jobs: sqliteJobs(clock) },
});
const content = createContentStore({ folder: join(place, "blobs"), crypto: nodeCrypto, clock });
const ports = {
  store,
  content,
  crypto: nodeCrypto,
  actor: "library",
  files: createLocalFiles(place, process.stdin),
  loadKey: () => Promise.reject(new Error("nobody signs here")),
  exists: () => false,
  createFolder: <T>(path: string, fill: (...of: never) => Promise<T>) =>
    createBundleFolder(path, clock.now(), (folder, sink) => {
      const write = async (file: string, bytes: Uint8Array) => {
        await sink.write(file, bytes);
        console.log(`wrote ${file}`);
      };
      return fill(...([{ write }, openBundleFolder(folder)] as unknown as never));
    }),
};
for (let i = 0; ; i++) {
  const out = join(outs, `bundle-${process.pid}-${i}`);
  await bundleBuild.run(ports, { job_id, out, reads_only: false, with_receipts: true });
  console.log(`built ${out}`);
}
