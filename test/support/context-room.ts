import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { createSourceTree } from "../../src/adapters/disk/source/source-tree.ts";
import { listTrackedFiles } from "../../src/adapters/git/tracked-files.ts";
import { createOutliner } from "../../src/adapters/outline/outliner.ts";
import { createBuildLock } from "../../src/adapters/sql/sqlite/build-lock.ts";
import { sqliteContext } from "../../src/adapters/sql/sqlite/context-tables.ts";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import { type ResolvedContext, resolveContext } from "../../src/core/contracts/config/index.ts";
import type { BuildPorts } from "../../src/rooms/context/index/index-build.ts";
import { exportIndex } from "../../src/rooms/context/index/index-export.ts";
import { type SourceTree, STAT_FIELDS, type StatList } from "../../src/rooms/context/ports.ts";
import { fixedPorts } from "./fixed-ports.ts";

/** What a build did to the disk. */
export interface Watched {
  /** Paths of the files that were opened, in order. */
  readonly reads: string[];
  walks: number;
}

export interface ContextRoom extends BuildPorts {
  readonly watched: Watched;
  /** SECTION_INDEX as it is stored. */
  exported(): Promise<string>;
  close(): Promise<void>;
}

export interface RoomOptions {
  /** The folder with the sources. */
  readonly root: string;
  /** Where store, lock and clock lie. */
  readonly state: string;
  /** Milliseconds by which builds think it is later: then the facts of files written just now can be trusted. */
  readonly later?: number;
  /** Milliseconds to which the file system rounds its times down, as some really do. */
  readonly tick?: number;
  readonly config?: Parameters<typeof resolveContext>[0];
  /** Called before each file is opened. */
  readonly onRead?: (path: string) => void;
}

/** The ports of the room on SQLite and real files, below the operations, with the disk under observation. */
export async function openRoom(options: RoomOptions): Promise<ContextRoom> {
  const { root, state, later = 0, tick = 0, onRead } = options;
  mkdirSync(state, { recursive: true });
  const ports = fixedPorts();
  const store = await openSqliteStore({ path: join(state, "store.db"), ...ports, rooms: { context: sqliteContext } });
  const watched: Watched = { reads: [], walks: 0 };
  const config: ResolvedContext = resolveContext({ sources: ["**/*.md"], ...options.config });
  return {
    store,
    ...ports,
    tree: watch(
      coarsen(
        createSourceTree(root, join(state, "clock"), () => listTrackedFiles(root)),
        tick,
      ),
      watched,
      later,
      onRead,
    ),
    outliner: createOutliner(),
    lock: createBuildLock(join(state, "lock")),
    progress: { report: () => undefined },
    actor: "library",
    config,
    watched,
    async exported() {
      let text = "";
      for await (const lines of exportIndex({ store, crypto: nodeCrypto })) text += lines;
      return text;
    },
    close: () => store.close(),
  };
}

function watch(tree: SourceTree, watched: Watched, later: number, onRead?: (path: string) => void): SourceTree {
  return {
    ...tree,
    clock: () => tree.clock() + later,
    walk(rules) {
      watched.walks++;
      return tree.walk(rules);
    },
    read(path, limit, size) {
      watched.reads.push(path);
      onRead?.(path);
      return tree.read(path, limit, size);
    },
  };
}

/** The same files on a file system with a slow clock. */
function coarsen(tree: SourceTree, tick: number): SourceTree {
  if (tick === 0) return tree;
  const floor = (time: number) => Math.floor(time / tick) * tick;
  // The times are the second and the third fact of each file.
  const floorAll = (stats: Float64Array) =>
    stats.map((fact, i) => (i % STAT_FIELDS === 1 || i % STAT_FIELDS === 2 ? floor(fact) : fact));
  const floorList = ({ paths, stats }: StatList) => ({ paths, stats: floorAll(stats) });
  return {
    ...tree,
    clock: () => floor(tree.clock()),
    walk(rules) {
      const walk = tree.walk(rules);
      return { ...walk, ...floorList(walk), folders: walk.folders === null ? null : floorList(walk.folders) };
    },
    statAll: (paths, kind) => floorAll(tree.statAll(paths, kind)),
    stat(path) {
      const stat = tree.stat(path);
      return stat === null ? null : { ...stat, mtime_ms: floor(stat.mtime_ms), ctime_ms: floor(stat.ctime_ms) };
    },
  };
}
