import { join } from "node:path";
import { createSourceTree } from "../../adapters/disk/source/source-tree.ts";
import { listTrackedFiles } from "../../adapters/git/tracked-files.ts";
import { createOutliner } from "../../adapters/outline/outliner.ts";
import type { Effect } from "../../core/operation.ts";
import { CONTEXT_OPERATIONS, ContentCache, type ContextPorts, ViewCache } from "../../rooms/context/index.ts";
import type { Wiring } from "../operations.ts";
import type { Composition } from "./compose.ts";
import { assertOutputDeliverable } from "./compose.ts";
import { requireTeamCheckout } from "./team/team-checkout.ts";

type SearchReader = ContextPorts["searching"];

interface ContextCaches extends Pick<ContextPorts, "tree" | "outliner" | "lock" | "views" | "contents" | "known"> {
  /** Reads for searches; null where the store itself does. */
  readonly thread: SearchReader | null;
}

// Caches live as long as their workspace stays open.
const caches = new WeakMap<Composition, ContextCaches>();

/** These write what they cut as well, but of an index that others made. */
const ONLY_QUOTE: readonly string[] = ["context.search", "context.expand"];

export const wiring: Wiring<typeof CONTEXT_OPERATIONS> = {
  operations: CONTEXT_OPERATIONS,
  async ports(composition, effect, name) {
    if (effect !== "read" && !ONLY_QUOTE.includes(name)) await requireTeamCheckout(composition);
    return contextPorts(composition, effect, name);
  },
};

/** Ports of the operations on sources, symbols and slices. */
export async function contextPorts(composition: Composition, effect: Effect, name?: string): Promise<ContextPorts> {
  const { crypto, clock, ids, progress, actor, files } = composition;
  const config = composition.config().context;
  const { thread, ...kept } = await keep(composition, config.max_file_bytes);
  // It starts while the store is being opened.
  if (name === "context.search") thread?.warm?.();
  const store = await composition.store(effect);
  const content = await composition.content(effect);
  return {
    store,
    content,
    crypto,
    clock,
    ids,
    progress,
    actor,
    files,
    assertDeliverable: assertOutputDeliverable,
    config,
    ...kept,
    searching: thread ?? store,
  };
}

async function keep(composition: Composition, maxBytes: number): Promise<ContextCaches> {
  const known = caches.get(composition);
  if (known !== undefined) return known;
  const { workspace, crypto } = composition;
  const database = await openDatabase(composition);
  const tree = createSourceTree(workspace.root, join(workspace.state, "clock"), () => listTrackedFiles(workspace.root));
  const made: ContextCaches = {
    tree,
    outliner: createOutliner(),
    ...database,
    views: new ViewCache(crypto),
    contents: new ContentCache(tree, crypto, maxBytes),
    known: new Set(),
  };
  // Two calls may have come here at once; what the first one made is what both use.
  if (!caches.has(composition)) caches.set(composition, made);
  return caches.get(composition)!;
}

/** What differs between the two databases besides the store itself; only the one in use is loaded. */
async function openDatabase(composition: Composition): Promise<Pick<ContextCaches, "lock" | "thread">> {
  const { env, workspace } = composition;
  const url = env["VERBATIM_DATABASE_URL"];
  if (url === undefined || url === "") {
    const { createBuildLock } = await import("../../adapters/sql/sqlite/build-lock.ts");
    return { lock: createBuildLock(join(workspace.state, "locks", "index")), thread: await openThread(composition) };
  }
  // Opened for reading here, because who only searches needs no more; a build has opened it for writing by then.
  const { buildLock } = await composition.store("read");
  return { lock: buildLock!, thread: null };
}

/**
 * A search in a process that others wait for reads in a thread. A command line that was started for one search has nobody else
 * to serve, and starting a thread would only make it later.
 */
async function openThread({ surface, workspace, atClose }: Composition): Promise<SearchReader | null> {
  if (surface === "cli") return null;
  const { SqliteReadThread } = await import("../../adapters/sql/sqlite/read-thread.ts");
  const { sqliteContext } = await import("../../adapters/sql/sqlite/context-tables.ts");
  const thread = new SqliteReadThread(workspace.database);
  atClose(() => thread.end());
  return {
    read: (fn) => thread.read((sql) => fn({ context: sqliteContext.read(sql) })),
    warm: () => thread.warm(),
  };
}
