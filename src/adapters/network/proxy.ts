import { closeSync, constants, openSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Connection, Verdict, Via } from "../../core/network/connections.ts";
import { findEntry, type HostEntry, readHostName } from "../../core/network/host-names.ts";
import {
  type ProxyTarget,
  readAuthority,
  readSocksGreeting,
  readSocksRequest,
  SOCKS_VERSION,
} from "../../core/network/proxy-requests.ts";
import { dial } from "./dial.ts";
import { forwardRequest } from "./forward.ts";
import { judgeTarget, type ResolveName } from "./judge.ts";
import { describeRefusal, LONGEST_SHOWN, type Pending, toShown } from "./refusal.ts";
import { join, readGreeting, readUntil } from "./wire.ts";

export interface ProxyOptions {
  /** The folder of the socket, `net.sock`. */
  readonly folder: string;
  /** What may be reached at this moment. */
  hosts(): readonly HostEntry[];
  /** The port of the run's own server on loopback; null where there is none. */
  readonly server: number | null;
  readonly resolve: ResolveName;
  onConnection(connection: Connection): void;
}

interface Proxy {
  /** Ends every connection; when it resolves, all of them have been told. */
  close(): Promise<void>;
}

const LINE_MS = 10_000;
/** Turns of the event loop without anything new, after which everything that was said has been heard; and at most so many. */
const QUIET_TURNS = 4;
const MOST_TURNS = 10_000;
const HEAD_MS = 30_000;
const LONGEST_LINE = 2_000;
const TLS_PORT = 443;

/** The one way out of an empty network: judges, connects, records. */
export class NetworkProxy implements Proxy {
  readonly options: ProxyOptions;
  readonly #server: Server;
  readonly #http = createHttpServer({ requireHostHeader: false, maxHeaderSize: 65_536, headersTimeout: HEAD_MS });
  readonly #sockets = new Set<Socket>();
  readonly #open = new Set<() => void>();
  readonly #reached = new Map<Socket, { readonly name: string; readonly port: number }>();
  #isClosing = false;
  /** Grows with every connection that is taken and with every first line that is read. */
  #greeted = 0;

  private constructor(options: ProxyOptions) {
    this.options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => void this.#greet(socket));
    this.#http.requestTimeout = 0;
    this.#http.on("request", (request, response) => void forwardRequest(this, request, response));
    this.#http.on("connect", (request, socket: Socket, head: Buffer) => {
      const target = readAuthority(request.url ?? "");
      void this.#connect(socket, head, target ?? { host: request.url ?? "", port: 0 }, target === null);
    });
    this.#http.on("clientError", (_error, socket: Socket) => {
      if (!socket.destroyed) this.begin("http", "", null).finish("bad_request");
      socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    });
  }

  /** Listens on the socket; the path may be longer than a socket's may be, so it is named by its open folder. */
  static async open(options: ProxyOptions): Promise<NetworkProxy> {
    const proxy = new NetworkProxy(options);
    const folder = openSync(options.folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      rmSync(`${options.folder}/net.sock`, { force: true });
      await new Promise<void>((done, fail) => {
        proxy.#server.once("error", fail);
        proxy.#server.listen({ path: `/proc/self/fd/${folder}/net.sock`, backlog: 1024 }, done);
      });
    } finally {
      closeSync(folder);
    }
    // Out of descriptors: what cannot be accepted is closed, and the command sees a refused connection.
    proxy.#server.on("error", () => undefined);
    return proxy;
  }

  async close(): Promise<void> {
    await this.#hearOut();
    this.#isClosing = true;
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    for (const socket of this.#sockets) socket.destroy();
    this.#http.close();
    await closed;
    for (const tell of [...this.#open]) tell();
    rmSync(`${this.options.folder}/net.sock`, { force: true });
  }

  /** Ends every connection with what may not be reached any more. */
  cut(): void {
    const hosts = this.options.hosts();
    for (const [socket, { name, port }] of this.#reached) {
      if (findEntry(hosts, name, port) === null) socket.destroy(new Error("not to be reached any more"));
    }
  }

  /**
   * What the relay said before it ended is in the kernel already, some of it in connections that nobody has taken yet. It
   * is read before the record is closed; nothing waits for what has not been said.
   */
  async #hearOut(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; turns++) {
      const before = this.#greeted;
      await new Promise((done) => setImmediate(done));
      quiet = this.#greeted === before ? quiet + 1 : 0;
    }
  }

  /** Notes that a connection was asked for. Whatever happens to it, it is told, with what came through. */
  begin(via: Via, host: string, port: number | null): Pending {
    const begun = Date.now();
    let known: { verdict: Verdict; address: string | null; origin: Socket | null } | null = null;
    const tell = () => {
      if (!this.#open.delete(tell)) return;
      this.options.onConnection({
        t: new Date(begun).toISOString(),
        via,
        host: host.slice(0, LONGEST_SHOWN),
        port,
        address: known?.address ?? null,
        verdict: known?.verdict ?? "bad_request",
        bytes_out: known?.origin?.bytesWritten ?? 0,
        bytes_in: known?.origin?.bytesRead ?? 0,
        ms: Math.max(0, Date.now() - begun),
      });
    };
    this.#open.add(tell);
    return {
      finish(verdict, more) {
        known = { verdict, address: more?.address ?? null, origin: more?.origin ?? null };
        if (more === undefined || verdict !== "allowed" || more.origin.destroyed) tell();
        else more.origin.once("close", tell);
      },
    };
  }

  /** Judges a target and connects it; null where it may not be, or cannot be, connected. */
  async reach(target: ProxyTarget, refuse: (verdict: Exclude<Verdict, "allowed">) => void) {
    const judged = await judgeTarget(target, this.options.hosts(), this.options.resolve);
    if (judged.verdict !== "allowed") {
      refuse(judged.verdict);
      return null;
    }
    const made = this.#isClosing ? null : await dial(judged.addresses, target.port);
    if (made === null) {
      refuse("unreachable");
      return null;
    }
    this.#keep(made.socket);
    this.#reached.set(made.socket, { name: judged.name, port: target.port });
    made.socket.once("close", () => this.#reached.delete(made.socket));
    return { ...made, name: judged.name };
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // Whoever waits for a broken socket sees that it closes.
    socket.on("error", () => undefined);
    if (this.#isClosing) socket.destroy();
  }

  /** What the relay says of a connection, then the connection itself. */
  async #greet(socket: Socket): Promise<void> {
    this.#greeted++;
    this.#keep(socket);
    const parse = (bytes: Buffer) => {
      const end = bytes.indexOf(10);
      return end === -1 ? ("more" as const) : { used: end + 1, value: bytes.toString("latin1", 0, end) };
    };
    const line = await readUntil(socket, parse, { most: LONGEST_LINE, ms: LINE_MS });
    this.#greeted++;
    const [kind, host = "", port = ""] = (line ?? "").split(" ");
    if (kind === "R") {
      socket.on("end", () => socket.destroy()).resume();
    } else if (kind === "M" && this.options.server !== null) {
      const server = connect({ host: "127.0.0.1", port: this.options.server, allowHalfOpen: true });
      this.#keep(server);
      void join(socket, server);
    } else if (kind === "N") {
      this.begin("name", host, null).finish(readHostName(host).name === null ? "bad_name" : "not_in_list");
      socket.destroy();
    } else if (kind === "T") await this.#transparent(socket, { host, port: Number(port) });
    else if (kind === "P") await this.#front(socket);
    else socket.destroy();
  }

  /** Clients of the proxy, told apart by their first byte. */
  async #front(socket: Socket): Promise<void> {
    const first = await readUntil(socket, (bytes) => ({ used: 0, value: bytes[0] }), { most: 1, ms: HEAD_MS });
    if (first === null) return void socket.destroy();
    if (first === SOCKS_VERSION) return this.#socks(socket);
    this.#http.emit("connection", socket);
    socket.resume();
  }

  async #connect(socket: Socket, head: Buffer, target: ProxyTarget, isBroken: boolean): Promise<void> {
    this.#keep(socket);
    const pending = this.begin("connect", toShown(target.host), isBroken ? null : target.port);
    const refuse = (verdict: Exclude<Verdict, "allowed">) => {
      pending.finish(verdict);
      socket.end(describeRefusal(verdict, target));
    };
    if (isBroken) return refuse("bad_request");
    const made = await this.reach(target, refuse);
    if (made === null) return;
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    await this.#tunnel(socket, head, target.port, made, pending);
  }

  async #transparent(socket: Socket, target: ProxyTarget): Promise<void> {
    const pending = this.begin("transparent", toShown(target.host), target.port);
    const made = await this.reach(target, (verdict) => {
      pending.finish(verdict);
      socket.destroy();
    });
    if (made !== null) await this.#tunnel(socket, Buffer.alloc(0), target.port, made, pending);
  }

  async #socks(socket: Socket): Promise<void> {
    const limits = { most: 600, ms: HEAD_MS };
    const greeting = await readUntil(socket, (bytes) => toRead(readSocksGreeting(bytes)), limits);
    if (greeting?.kind !== "greeting" || !greeting.open) {
      this.begin("socks5", "", null).finish("bad_request");
      return void socket.end(Buffer.from([SOCKS_VERSION, 0xff]));
    }
    socket.write(Buffer.from([SOCKS_VERSION, 0]));
    const request = await readUntil(socket, (bytes) => toRead(readSocksRequest(bytes)), limits);
    const answer = (code: number) => Buffer.from([SOCKS_VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
    if (request?.kind !== "name") {
      const target = request?.kind === "literal" ? request.target : { host: "", port: null };
      this.begin("socks5", target.host, target.port).finish(
        request?.kind === "literal" ? "literal_address" : "bad_request",
      );
      return void socket.end(answer(request?.kind === "other" ? 7 : request?.kind === "literal" ? 2 : 1));
    }
    const pending = this.begin("socks5", toShown(request.target.host), request.target.port);
    const made = await this.reach(request.target, (verdict) => {
      pending.finish(verdict);
      socket.end(answer(verdict === "unresolved" ? 4 : verdict === "unreachable" ? 5 : 2));
    });
    if (made === null) return;
    socket.write(answer(0));
    await this.#tunnel(socket, Buffer.alloc(0), request.target.port, made, pending);
  }

  /** Nothing reaches the other side before the name inside the connection is the one that was judged. */
  async #tunnel(
    client: Socket,
    head: Buffer,
    port: number,
    { socket: origin, address, name }: { readonly socket: Socket; readonly address: string; readonly name: string },
    pending: Pending,
  ): Promise<void> {
    let first = head;
    if (port === TLS_PORT) {
      const greeting = await readGreeting(client, head);
      if (greeting.name !== name) {
        origin.destroy();
        client.destroy();
        return pending.finish(greeting.name === null ? "no_tls_name" : "tls_name_differs", { address, origin });
      }
      first = greeting.bytes;
    }
    pending.finish("allowed", { address, origin });
    if (first.length > 0) origin.write(first);
    await join(client, origin);
  }
}

function toRead<T extends { readonly kind: string }>(read: T) {
  if (read.kind === "more") return "more" as const;
  return { used: "used" in read ? (read.used as number) : 0, value: read };
}
