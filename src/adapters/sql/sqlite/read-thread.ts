import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Awaitable } from "../../../core/ports.ts";
import type { ReadSql, SqlValue } from "../statements.ts";
import { requireStorableText } from "../text.ts";
import { findAddon } from "./addon.ts";
import { loadSqlite } from "./driver.ts";
import { isReadOnly, toStoreError } from "./errors.ts";
import { BUSY_MS } from "./open.ts";

const SCRIPT = readFileSync(new URL("./scripts/read-thread.cjs", import.meta.url), "utf8");

interface Answer {
  readonly id: number;
  readonly rows?: unknown[];
  readonly failure?: { readonly message: string; readonly errcode?: number };
}

interface Pending {
  resolve(rows: unknown[]): void;
  reject(reason: Error): void;
}

/**
 * A reader of a SQLite file in a thread of its own, with a connection of its own that cannot write: however long a statement
 * takes, the event loop goes on. The thread is started when it is first needed and does not keep a process alive. One that
 * cannot be started, or that ends by itself, is STORE_UNAVAILABLE for whoever waits for it.
 */
export class SqliteReadThread {
  readonly #path: string;
  readonly #script: string;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | null = null;
  #asked = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /** Only a test gives a script. */
  constructor(path: string, script: string = SCRIPT) {
    this.#path = path;
    this.#script = script;
  }

  /** Runs one transaction after the other; each sees one state of the store. */
  read<T>(fn: (sql: ReadSql) => Awaitable<T>): Promise<T> {
    const mine = this.#turn.then(() => this.#read(fn));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Starts the thread. What goes wrong is told to whoever reads next: it is tried again for them. */
  warm(): void {
    this.read(async () => undefined).catch(() => undefined);
  }

  /** Waits for what is being read, then ends the thread. Reading again starts another. */
  async end(): Promise<void> {
    await this.#turn;
    const worker = this.#worker;
    if (worker === null) return;
    // SQLite lets go of what it holds before its thread ends. One that ends by itself meanwhile holds nothing.
    await this.#ask("close").catch(() => undefined);
    this.#worker = null;
    await worker.terminate();
  }

  async #read<T>(fn: (sql: ReadSql) => Awaitable<T>): Promise<T> {
    await this.#ask("begin");
    let isOver = false;
    const all = async <Row>(sql: string, ...values: SqlValue[]): Promise<Row[]> => {
      if (isOver) throw new VerbatimError("INTERNAL", { message: "a transaction was used after its end" });
      return (await this.#ask("all", sql, values)) as Row[];
    };
    try {
      return await fn({
        all,
        get: async <Row>(sql: string, ...values: SqlValue[]) => (await all<Row>(sql, ...values))[0],
      });
    } finally {
      isOver = true;
      // A thread that is gone has nothing to end.
      if (this.#worker !== null) await this.#ask("end");
    }
  }

  async #ask(kind: "begin" | "all" | "end" | "close", sql = "", values: readonly SqlValue[] = []): Promise<unknown[]> {
    for (const value of values) if (typeof value === "string") requireStorableText(value);
    this.#worker ??= await this.#start();
    const worker = this.#worker;
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, kind, sql, values });
    });
  }

  async #start(): Promise<Worker> {
    const { name: driver } = await loadSqlite();
    const workerData = {
      driver,
      addon: driver === "node:sqlite" ? null : toAddon(),
      path: this.#path,
      busyMs: BUSY_MS,
    };
    const worker = new Worker(this.#script, { eval: true, execArgv: [], workerData });
    worker.unref();
    worker.on("message", (answer: Answer) => this.#settle(worker, answer));
    let cause: unknown;
    worker.on("error", (thrown) => {
      cause = thrown;
    });
    worker.on("exit", () => this.#lose(worker, cause));
    return worker;
  }

  #settle(worker: Worker, { id, rows, failure }: Answer): void {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) worker.unref();
    if (failure === undefined) waiting?.resolve(rows ?? []);
    else waiting?.reject(this.#toError(failure));
  }

  #toError({ message, errcode }: NonNullable<Answer["failure"]>): Error {
    const thrown = Object.assign(new Error(message), { errcode });
    if (!isReadOnly(thrown)) return toStoreError(thrown, this.#path);
    return new VerbatimError("INTERNAL", { message: "a reader of the store tried to write", cause: thrown });
  }

  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = null;
    const why = cause instanceof Error ? cause.message : "it ended";
    for (const [id, { reject }] of this.#pending) {
      this.#pending.delete(id);
      reject(
        new VerbatimError("STORE_UNAVAILABLE", {
          message: `the thread that reads the store could not do its work: ${why}`,
          where: this.#path,
          fix: "Ask again. If it fails again, this machine may be out of memory or threads.",
          cause,
        }),
      );
    }
  }
}

/** The native part of the driver, or the package that finds it by itself. */
function toAddon(): { readonly file: string; readonly isNative: boolean } {
  const file = findAddon(import.meta.dirname);
  if (file !== null) return { file, isNative: true };
  return { file: createRequire(import.meta.url).resolve("@photostructure/sqlite"), isNative: false };
}
