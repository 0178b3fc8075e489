import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { JsonThread } from "./json-thread.ts";
import { type Line, LineSplitter } from "./line-splitter.ts";

/** Bytes of one message; a patch of 20 MB fits, with its escapes. */
const MAX_LINE = 64 * 1024 * 1024;
// Reading a longer line as JSON here would hold up everything else that runs.
const LARGE_LINE = 1024 * 1024;

// White space of JSON that a line can have: an empty line is no message and no mistake.
const BLANK: ReadonlySet<number> = new Set([0x09, 0x0d, 0x20]);

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL = -32_603;

/**
 * The protocol on standard input and output, one message a line. Unlike the transport of the SDK it answers lines that are
 * not JSON, skips one that is too long instead of hanging up, and reads large ones in a thread.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines: LineSplitter;
  readonly #thread = new JsonThread();
  /** Ends when every line that came before was delivered; null: nothing waits. */
  #waiting: Promise<void> | null = null;
  #closed = false;

  constructor(input: Readable, output: Writable, maxLine = MAX_LINE) {
    this.#input = input;
    this.#output = output;
    this.#lines = new LineSplitter(maxLine);
  }

  async start(): Promise<void> {
    this.#input.on("data", this.#onData);
    this.#input.on("error", this.#onError);
    this.#input.once("end", this.#onEnd);
    this.#input.once("close", this.#onEnd);
    this.#output.on("error", this.#onEnd);
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#onEnd);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the connection is closed");
    await this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off("data", this.#onData);
    this.#input.off("error", this.#onError);
    this.#input.off("end", this.#onEnd);
    this.#input.off("close", this.#onEnd);
    // A write that is still under way may fail after this; nobody is left who could be told.
    await this.#thread.close();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#lines.push(chunk)) this.#take(line);
  };

  readonly #onError = (error: Error): void => this.onerror?.(error);

  readonly #onEnd = (): void => void this.close();

  /** Lines are delivered in their order; only one that is read in the thread makes the others wait. */
  #take(line: Line): void {
    if (this.#waiting === null && (line.tooLong || line.bytes.length <= LARGE_LINE)) {
      this.#deliver(line, () => JSON.parse(line.bytes.toString("utf8")) as unknown);
      return;
    }
    const turn = this.#takeLater(this.#waiting, line).finally(() => {
      if (this.#waiting === turn) this.#waiting = null;
    });
    this.#waiting = turn;
  }

  async #takeLater(before: Promise<void> | null, line: Line): Promise<void> {
    await before;
    if (this.#closed) return;
    try {
      const read = line.tooLong ? { value: null } : await this.#thread.parse(line.bytes);
      this.#deliver(line, () => {
        if ("problem" in read) throw new SyntaxError(read.problem);
        return read.value;
      });
    } catch (thrown) {
      // The thread was ended with the connection, or broke: then this message is lost and whoever sent it hears so.
      if (!this.#closed) this.#refuse(null, INTERNAL, `the message could not be read: ${String(thrown)}`);
    }
  }

  #deliver(line: Line, read: () => unknown): void {
    if (this.#closed || (!line.tooLong && line.bytes.every((byte) => BLANK.has(byte)))) return;
    if (line.tooLong) {
      this.#refuse(null, INVALID_REQUEST, `a message may have at most ${this.#lines.most} bytes`);
      return;
    }
    let value: unknown;
    try {
      value = read();
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown;
      this.#refuse(null, PARSE_ERROR, "Parse error: the line is not JSON");
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      // The schema's own words are about its alternatives; what matters is that this is no message.
      this.#refuse(idOf(value), INVALID_REQUEST, "Invalid Request: the line is not a JSON-RPC message");
      return;
    }
    this.onmessage?.(message);
  }

  #refuse(id: string | number | null, code: number, message: string): void {
    this.onerror?.(new Error(message));
    this.#write({ jsonrpc: "2.0", id, error: { code, message } }).catch((thrown: unknown) =>
      this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => (error == null ? resolve() : reject(error)));
    });
  }
}

function idOf(value: unknown): string | number | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
