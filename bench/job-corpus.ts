import { join } from "node:path";
import { nodeCrypto } from "../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../src/adapters/disk/durable/content-store.ts";
import { createPauses } from "../src/adapters/process/pauses.ts";
import { sqliteJobs } from "../src/adapters/sql/sqlite/jobs-tables.ts";
import { openSqliteStore } from "../src/adapters/sql/sqlite/store.ts";
import { encodeUtf8, type JsonObject } from "../src/core/canonical/index.ts";
import type { ContentStore } from "../src/core/ports.ts";
import { postMessage } from "../src/rooms/jobs/message/post.ts";
import type { Corpus } from "../src/rooms/jobs/ports.ts";

export const RUN = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";
export const clock = { now: () => 1_735_787_045_000 };

/** A corpus of one symbol whose slices are all different. */
function makeCorpus(textOf: (slice: string) => string): Corpus {
  return {
    look: (fn) =>
      fn({
        targetType: async () => "FILE",
        open: () => Promise.reject(new Error("nothing is written or executed here")),
        async cut(_, slice = "head(1)") {
          const bytes = encodeUtf8(textOf(slice));
          const section_id = nodeCrypto.sha256("section");
          return { slice, section_id, file_path: "LOG.md", bytes, content_hash: nodeCrypto.sha256(bytes) };
        },
      }),
  };
}

/** A store, a content store and everything jobs need, in a folder; `textOf` says what a slice holds. */
export async function openJobs(folder: string, textOf = (slice: string) => `What ${slice} of the logbook says.`) {
  let uuids = 0;
  const ids = { uuid: () => `00000000-0000-4000-8000-${String(uuids++).padStart(12, "0")}` };
  const path = join(folder, "store.db");
  const store = await openSqliteStore({ path, crypto: nodeCrypto, clock, ids, rooms: { jobs: sqliteJobs(clock) } });
  const content = rememberPuts(createContentStore({ folder: join(folder, "blobs"), crypto: nodeCrypto, clock }));
  const ports = {
    store,
    content,
    crypto: nodeCrypto,
    clock,
    ids,
    corpus: makeCorpus(textOf),
    pauses: createPauses(),
    progress: { report: () => undefined },
    host: "bench",
    actor: "library",
    patch: null,
    execute: null,
  };
  let messages = 0;
  /** Posts a job of READ steps. */
  const post = async (steps: number) => {
    const most = Number.MAX_SAFE_INTEGER;
    const budgets = {
      max_symbols: most,
      max_sections: most,
      max_bytes_expanded: most,
      max_expands_per_step: most,
    };
    const ops = Array.from({ length: steps }, (_, i) => ({
      type: "READ",
      target: "@LOG/BOOK",
      params: { slice: `lines[${i}:${i + 1}]` },
    }));
    const message: JsonObject = {
      intent: `watch ${messages++}`,
      refs: ["@LOG/BOOK"],
      ops,
      budgets,
      required_outputs: [],
    };
    return (await postMessage(ports, message, RUN)).job.job_id;
  };
  return { ports, post, path };
}

/** All jobs read the same slices; nobody measures how they are stored. */
function rememberPuts(content: ContentStore): ContentStore {
  const known = new Set<string>();
  return {
    get: (hash) => content.get(hash),
    has: (hash) => content.has(hash),
    list: () => content.list(),
    remove: (hash, before) => content.remove(hash, before),
    putStream: (parts) => content.putStream(parts),
    async put(bytes) {
      const hash = nodeCrypto.sha256(bytes);
      if (!known.has(hash)) known.add(await content.put(bytes));
      return hash;
    },
  };
}

export type Opened = Awaited<ReturnType<typeof openJobs>>;
