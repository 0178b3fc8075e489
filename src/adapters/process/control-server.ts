import { timingSafeEqual } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { encodeBytes, encodeJson, FRAME, type Frame, FrameReader, readObject } from "./control-frames.ts";

/** What somebody who joins gets of what was printed before. */
const SCROLLBACK = 256 * 1024;
/** Whoever is further behind is not listening. */
const MOST_BEHIND = 1024 * 1024;
const MOST_CLIENTS = 32;
const HELLO_MS = 5000;
const STATE_MS = 2000;

export interface ControlHandlers {
  /** Where the run stands, told on joining and every two seconds while somebody listens. */
  state(): object;
  /** What somebody typed, and the size of their terminal where they said it. */
  onInput(bytes: Uint8Array, size: Size | null): void;
  onSize(size: Size): void;
  onSignal(name: string): void;
}

export interface Size {
  readonly rows: number;
  readonly columns: number;
}

interface Client {
  readonly socket: Socket;
  readonly frames: FrameReader;
  readonly timer: NodeJS.Timeout;
  isJoined: boolean;
  mayType: boolean;
  size: Size | null;
}

/** The socket by which a run is watched, typed to and stopped. Whoever is slow or gone never holds it up. */
export class ControlServer {
  readonly #place: string;
  readonly #token: Buffer;
  readonly #handlers: ControlHandlers;
  readonly #server: Server;
  readonly #clients = new Set<Client>();
  #said: Uint8Array[] = [];
  #saidBytes = 0;
  #teller: NodeJS.Timeout | null = null;

  private constructor(place: string, token: string, handlers: ControlHandlers) {
    this.#place = place;
    this.#token = Buffer.from(token);
    this.#handlers = handlers;
    this.#server = createServer((socket) => this.#join(socket));
    // A socket of ours keeps nobody alive: the run does.
    this.#server.unref();
  }

  /** Listens at a place in a private folder; what a process that is gone left there is removed. */
  static async listen(place: string, token: string, handlers: ControlHandlers): Promise<ControlServer> {
    const server = new ControlServer(place, token, handlers);
    rmSync(place, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(place, resolve);
    });
    // Whoever cannot be told of later is not lost: an error of the listening socket only refuses new clients.
    server.#server.on("error", () => undefined);
    chmodSync(place, 0o600);
    return server;
  }

  /** Hands what the command printed to everybody who watches. */
  output(bytes: Uint8Array): void {
    this.#said.push(bytes.slice());
    this.#saidBytes += bytes.length;
    while (this.#saidBytes - this.#said[0]!.length >= SCROLLBACK) this.#saidBytes -= this.#said.shift()!.length;
    if (this.#joined().length > 0) this.#sendAll(encodeBytes(bytes));
  }

  event(value: object): void {
    this.#sendAll(encodeJson(FRAME.event, value));
  }

  /** Tells everybody where the run stands now. */
  tell(): void {
    if (this.#joined().length > 0) this.#sendAll(encodeJson(FRAME.state, this.#handlers.state()));
  }

  /** Says how the run ended and lets go of everybody. */
  close(end: object | null): void {
    if (this.#teller !== null) clearInterval(this.#teller);
    for (const client of this.#clients) {
      clearTimeout(client.timer);
      if (end === null || !client.isJoined) client.socket.destroy();
      else client.socket.end(encodeJson(FRAME.end, end));
      // One that does not read to the end does not keep the process.
      client.socket.unref();
    }
    this.#clients.clear();
    this.#server.close();
    rmSync(this.#place, { force: true });
  }

  #joined(): Client[] {
    return [...this.#clients].filter(({ isJoined }) => isJoined);
  }

  #join(socket: Socket): void {
    if (this.#clients.size >= MOST_CLIENTS) {
      socket.destroy();
      return;
    }
    const timer = setTimeout(() => this.#drop(client), HELLO_MS);
    const client: Client = {
      socket,
      frames: new FrameReader(),
      timer,
      isJoined: false,
      mayType: false,
      size: null,
    };
    this.#clients.add(client);
    socket.unref();
    socket.on("error", () => this.#drop(client));
    socket.on("close", () => this.#drop(client));
    socket.on("data", (bytes) => {
      const frames = client.frames.add(bytes);
      if (frames === null) this.#drop(client);
      else for (const frame of frames) this.#hear(client, frame);
    });
  }

  #hear(client: Client, frame: Frame): void {
    if (!this.#clients.has(client)) return;
    if (!client.isJoined) {
      this.#greet(client, frame);
      return;
    }
    if (!client.mayType) return;
    if (frame.type === FRAME.bytes) this.#handlers.onInput(frame.payload, client.size);
    else if (frame.type === FRAME.signal) this.#handlers.onSignal(frame.payload.toString("latin1"));
    else if (frame.type === FRAME.size) {
      client.size = toSize(readObject(frame));
      if (client.size !== null) this.#handlers.onSize(client.size);
    }
  }

  #greet(client: Client, frame: Frame): void {
    const hello = frame.type === FRAME.hello ? readObject(frame) : null;
    const said = Buffer.from(typeof hello?.["token"] === "string" ? hello["token"] : "");
    if (hello === null || said.length !== this.#token.length || !timingSafeEqual(said, this.#token)) {
      this.#drop(client);
      return;
    }
    clearTimeout(client.timer);
    client.isJoined = true;
    client.mayType = hello["read_only"] !== true;
    client.size = toSize(hello);
    this.#send(client, encodeJson(FRAME.state, this.#handlers.state()));
    const before = hello["bytes"] === false ? Buffer.alloc(0) : Buffer.concat(this.#said);
    if (before.length > 0) this.#send(client, encodeBytes(before.subarray(-SCROLLBACK)));
    if (client.mayType && client.size !== null) this.#handlers.onSize(client.size);
    this.#teller ??= setInterval(() => this.tell(), STATE_MS).unref();
  }

  #sendAll(bytes: Buffer): void {
    for (const client of this.#joined()) this.#send(client, bytes);
  }

  /** Never waits: one who does not read is dropped. */
  #send(client: Client, bytes: Buffer): void {
    client.socket.write(bytes);
    if (client.socket.writableLength > MOST_BEHIND) this.#drop(client);
  }

  #drop(client: Client): void {
    clearTimeout(client.timer);
    this.#clients.delete(client);
    client.socket.destroy();
  }
}

function toSize(value: Readonly<Record<string, unknown>> | null): Size | null {
  const { rows, columns } = value ?? {};
  const isGood = (n: unknown): n is number => Number.isInteger(n) && (n as number) > 0 && (n as number) < 10_000;
  return isGood(rows) && isGood(columns) ? { rows, columns } : null;
}
