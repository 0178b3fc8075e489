import { Worker } from "node:worker_threads";

/** What a text is as JSON, or that it is none. */
export type Read = { readonly value: unknown } | { readonly problem: string };

/** Reads the JSON of one message. It becomes the source of the thread, so it may use nothing from outside. */
function readJson(bytes: Uint8Array): Read {
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes)) as unknown };
  } catch (thrown) {
    return { problem: String(thrown) };
  }
}

/** Reads large JSON beside the event loop. The thread begins with the first text and does not keep the process alive. */
export class JsonThread {
  #worker: Worker | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  /** Texts are read one after the other. */
  async parse(bytes: Buffer): Promise<Read> {
    const turn = this.#turn.then(() => this.#ask(bytes));
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #ask(bytes: Buffer): Promise<Read> {
    this.#worker ??= startWorker();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const onMessage = (read: Read) => {
        worker.off("error", onEnd);
        worker.off("exit", onEnd);
        worker.unref();
        resolve(read);
      };
      const onEnd = (reason: unknown) => {
        worker.off("message", onMessage);
        this.#worker = null;
        reject(reason instanceof Error ? reason : new Error("the thread that reads JSON ended"));
      };
      worker.ref();
      worker.once("message", onMessage);
      worker.once("error", onEnd);
      worker.once("exit", onEnd);
      const own = new Uint8Array(bytes);
      worker.postMessage(own, [own.buffer]);
    });
  }
}

function startWorker(): Worker {
  const code = `const { parentPort } = require("node:worker_threads"), read = ${readJson.toString()};
parentPort.on("message", (bytes) => parentPort.postMessage(read(bytes)));`;
  return new Worker(code, { eval: true, execArgv: [], env: {} });
}
