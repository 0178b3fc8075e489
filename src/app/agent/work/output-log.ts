import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { CatalyticPorts, OutputFilter } from "../../../rooms/catalytic/index.ts";
import { type Run, toName } from "../../../rooms/workflow/index.ts";

const FILES = { stdout: "output", stderr: "errors" } as const;
export type Stream = keyof typeof FILES;

/** Of a stream that became too long, this much of its beginning stays. */
const HEAD = 1024 * 1024;

/** The folder of an attempt, and the files in it that hold what the agent printed. */
export function outputFile(n: number, stream: Stream): string {
  return `${outputFolder(n)}/${FILES[stream]}.log`;
}

export function outputFolder(n: number): string {
  return `agent/attempts/${toName(n)}`;
}

/** A later part of a stream, named by the byte that it begins with. */
export function outputPart(n: number, stream: Stream, from: number): string {
  return `${outputFolder(n)}/${FILES[stream]}.${from}.log`;
}

/** Where a part begins, by its name; null: the file is none of this stream. */
export function partBegins(name: string, stream: Stream): number | null {
  const [, kind, from] = /^(output|errors)\.([0-9]{1,15})\.log$/.exec(name) ?? [];
  return kind === FILES[stream] ? Number(from) : null;
}

/**
 * One stream as it is written down: its beginning in the first file, and what follows in parts of one size. There are never more
 * than two of those, so that the newest is always there and all files together are as large as the limit.
 */
export class StreamLog {
  readonly #folder: string;
  readonly #n: number;
  readonly #stream: Stream;
  readonly #head: number;
  readonly #part: number;
  #file: { readonly descriptor: number; readonly end: number } | null = null;
  #parts: number[] = [];
  #written = 0;

  constructor(folder: string, n: number, stream: Stream, most: number) {
    this.#folder = folder;
    this.#n = n;
    this.#stream = stream;
    this.#part = Math.floor((most - Math.min(HEAD, Math.ceil(most / 4))) / 2);
    this.#head = most - 2 * this.#part;
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const { descriptor, end } = this.#fileFor(this.#written);
      const most = Math.min(bytes.length - at, end - this.#written);
      // A limit that has no room for parts keeps the beginning alone.
      if (most <= 0) return;
      const done = writeSync(descriptor, bytes, at, most);
      at += done;
      this.#written += done;
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file.descriptor);
    this.#file = null;
  }

  /** The file that a byte goes into: the open one, or the next, for which the oldest part makes room. */
  #fileFor(position: number): { readonly descriptor: number; readonly end: number } {
    if (this.#file === null) return this.#open(outputFile(this.#n, this.#stream), this.#head);
    if (position < this.#file.end || this.#part < 1) return this.#file;
    closeSync(this.#file.descriptor);
    const file = this.#open(outputPart(this.#n, this.#stream, position), position + this.#part);
    this.#parts.push(position);
    if (this.#parts.length > 2) rmSync(this.#place(outputPart(this.#n, this.#stream, this.#parts.shift()!)));
    return file;
  }

  #open(file: string, end: number): { readonly descriptor: number; readonly end: number } {
    this.#file = { descriptor: openSync(this.#place(file), "w", 0o600), end };
    return this.#file;
  }

  #place(file: string): string {
    return join(this.#folder, file.slice(outputFolder(this.#n).length + 1));
  }
}

/**
 * Writes what the command prints next to its attempt while it prints it, so that others can follow. When the attempt has
 * ended, the recorded log takes its place where that has all of it.
 */
export function withOutputLog(
  ports: CatalyticPorts,
  run: Run,
  n: number,
  most: number,
  redact: (stream: Stream) => OutputFilter,
): CatalyticPorts {
  const folder = run.folder.makeFolder(outputFolder(n));
  const { guards } = ports;
  return {
    ...ports,
    guards: {
      ...guards,
      async launch(request) {
        const files = new Map<Stream, { readonly log: StreamLog; readonly filter: OutputFilter }>();
        let isClosed = false;
        const add = (stream: Stream, bytes: Uint8Array) => {
          if (isClosed) return;
          const file = files.get(stream) ?? {
            log: new StreamLog(folder, n, stream, most),
            filter: redact(stream),
          };
          files.set(stream, file);
          file.log.add(file.filter.add(bytes));
        };
        const close = () => {
          isClosed = true;
          for (const { log, filter } of files.values()) {
            log.add(filter.end());
            log.close();
          }
        };
        const onOutput: typeof request.onOutput = (stream, bytes) => {
          add(stream, bytes);
          request.onOutput(stream, bytes);
        };
        const running = await guards.launch({ ...request, onOutput });
        running.ended.then(close, close);
        return running;
      },
    },
  };
}
