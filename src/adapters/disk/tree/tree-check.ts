import * as fs from "node:fs";
import { Worker } from "node:worker_threads";
import { StatProcess } from "../stat/stat-process.ts";
import type { TableSource } from "./tree-file.ts";
import type { Hidden, TreeTable } from "./tree-table.ts";

/** Below this many entries a second thread or process costs more than it gives. */
const WORTH_HELP = 3000;

/** Compares a tree with a table, with the help of a process or a thread that lives as long as the run that looks. */
export class TreeChecker {
  readonly #worth: number;
  #worker: Worker | null = null;
  #process: StatProcess | null | undefined;
  #isClosed = false;

  constructor(worth = WORTH_HELP) {
    this.#worth = worth;
  }

  /** The same as `check` without the table in memory, or null where the table must be asked. */
  async checkFile(
    root: string,
    hidden: Hidden,
    source: TableSource,
    onSeen?: (files: number) => void,
  ): Promise<ReadonlySet<number> | null> {
    if (source.entries < this.#worth || this.#isClosed) return null;
    this.#process ??= StatProcess.start();
    return (await this.#process?.check(root, hidden, source, onSeen)) ?? null;
  }

  /** Starts the thread, so that it is there when the comparison begins. */
  warm(): void {
    this.#worker ??= startWorker();
  }

  /** Which folders of a table are not as they were. Every folder is listed once, every path gets one `lstat`. */
  async check(root: string, hidden: Hidden, table: TreeTable): Promise<ReadonlySet<number>> {
    const { folders, names, first, stats } = table;
    const next = new Int32Array(new SharedArrayBuffer(4));
    const isLarge = stats.length / 8 >= this.#worth;
    if (isLarge) this.warm();
    const theirs = isLarge ? ask(this.#worker!, { root, hidden, folders, names, first, stats, next }) : null;
    const changed = checkFolders(fs, root, hidden, folders, names, first, stats, next);
    const more = await theirs;
    if (more === null) return new Set(changed);
    // A thread that broke off leaves its share unseen; then everything is read again.
    return more === undefined ? new Set(folders.keys()) : new Set([...changed, ...more]);
  }

  close(): void {
    this.#isClosed = true;
    void this.#worker?.terminate();
    this.#worker = null;
    this.#process?.close();
    this.#process = null;
  }
}

interface Job {
  readonly root: string;
  readonly hidden: Hidden;
  readonly folders: readonly string[];
  readonly names: readonly string[];
  readonly first: Uint32Array;
  readonly stats: BigInt64Array;
  readonly next: Int32Array;
}

function startWorker(): Worker {
  const code = `const { parentPort } = require("node:worker_threads"), fs = require("node:fs"), check = ${checkFolders.toString()};
    parentPort.on("message", (j) => parentPort.postMessage(check(fs, j.root, j.hidden, j.folders, j.names, j.first, j.stats, j.next)));`;
  const worker = new Worker(code, { eval: true, execArgv: [], env: {}, trackUnmanagedFds: false });
  // It must not keep a process alive that has nothing else to do.
  worker.unref();
  return worker;
}

/** The answer of the thread; undefined when it broke off. */
function ask(worker: Worker, job: Job): Promise<readonly number[] | undefined> {
  return new Promise((resolve) => {
    worker.ref();
    const finish = (changed?: readonly number[]) => {
      worker.off("message", finish);
      worker.off("error", broke);
      worker.off("exit", broke);
      worker.unref();
      resolve(changed);
    };
    const broke = () => finish();
    worker.on("message", finish);
    worker.on("error", broke);
    worker.on("exit", broke);
    worker.postMessage(job);
  });
}

/**
 * Takes folders from the common list until none is left and compares them. It is also sent to the worker as text, so it
 * uses nothing but its arguments.
 */
function checkFolders(
  files: typeof fs,
  root: string,
  hidden: Hidden,
  folders: readonly string[],
  names: readonly string[],
  first: Uint32Array,
  stats: BigInt64Array,
  next: Int32Array,
): number[] {
  const changed: number[] = [];
  const exact = { bigint: true, throwIfNoEntry: false } as const;
  for (let i = Atomics.add(next, 0, 1); i < folders.length; i = Atomics.add(next, 0, 1)) {
    const folder = folders[i]!;
    const place = folder === "" ? `${root}/` : `${root}/${folder}/`;
    const hide = hidden[folder];
    let same = false;
    try {
      let list = files.readdirSync(place);
      if (hide !== undefined) list = list.filter((name) => !hide.includes(name));
      same = list.join("\0") === names[i];
      let at = first[i]! * 8;
      for (let k = 0; same && k < list.length; k++, at += 8) {
        const facts = files.lstatSync(place + list[k], exact);
        same =
          facts !== undefined &&
          stats[at + 7] === facts.ctimeNs &&
          stats[at + 6] === facts.mtimeNs &&
          stats[at] === facts.ino &&
          stats[at + 1] === facts.mode &&
          stats[at + 2] === facts.nlink &&
          stats[at + 3] === facts.uid &&
          stats[at + 4] === facts.gid &&
          stats[at + 5] === facts.size;
      }
    } catch {
      // Whatever it is, it is not as it was; reading it again gives it its name.
      same = false;
    }
    if (!same) changed.push(i);
  }
  return changed;
}
