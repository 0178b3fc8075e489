import type { App } from "../../../app/call.ts";
import { VerbatimError } from "../../../core/errors/index.ts";

const MAX_CLIENTS = 2000;
const MAX_UNSENT = 1024 * 1024;
const HEARTBEAT_MS = 15_000;
/** An open stream ends within a second after its token was taken back. */
const LOOK_MS = 800;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(": still here\n\n");

interface FollowEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: { readonly entry_id?: string };
}

/** One event, encoded once for everyone who gets it. */
interface Sent {
  readonly entry_id: string | null;
  readonly bytes: Uint8Array;
}

interface Listener {
  send(sent: Sent): void;
  /** Ends the stream of a client whose reader is gone; it comes back with its cursor. */
  end(): void;
}

/** Everyone who follows the same world as the same viewer shares one reader. */
class Group {
  readonly listeners = new Set<Listener>();
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<void>;
  #isStopped = false;

  constructor(app: App, { world, viewer, reader }: Omit<StreamQuery, "after">, onEnd: () => void) {
    // A reader learns nothing of what is being written.
    const status = reader !== "viewer";
    this.#lines = app.lines("world.follow", { world, viewer, status, reader, ticks: true })[Symbol.asyncIterator]();
    const ended = (): void => {
      onEnd();
      for (const listener of [...this.listeners]) listener.end();
    };
    this.#ended = this.#run().then(ended, ended);
  }

  async #run(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done === true) return;
      if (this.#isStopped) {
        await this.#lines.return?.();
        return;
      }
      const event = JSON.parse(value) as FollowEvent;
      if (event.event === "tick") continue;
      const sent = { entry_id: event.data.entry_id ?? null, bytes: encodeEvent(event) };
      for (const listener of this.listeners) listener.send(sent);
    }
  }

  /** Ends the reader at its next tick. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#ended;
  }
}

function encodeEvent({ event, id, data }: FollowEvent): Uint8Array {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

interface StreamQuery {
  readonly world: string;
  readonly viewer: string | undefined;
  readonly after: string | undefined;
  readonly reader: "owner" | "operator" | "player" | "viewer";
}

/** Whether whoever listens may still do so: a token can be taken back, and a session can end. */
export type Still = () => Promise<boolean>;

/** Server-sent events of worlds: only what was committed, for one viewer each. */
export class WorldStreams {
  readonly #app: App;
  readonly #groups = new Map<string, Group>();
  readonly #open = new Set<() => void>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(app: App) {
    this.#app = app;
  }

  get clients(): number {
    return this.#open.size;
  }

  /** Opens a stream; a client that does not read is dropped and may come back with its cursor. */
  open(query: StreamQuery, still: Still = async () => true): ReadableStream<Uint8Array> {
    if (this.#open.size >= MAX_CLIENTS) throw new VerbatimError("SSE_LIMIT");
    let leave: () => void = () => undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          leave = this.#connect(query, controller, still);
        },
        cancel: () => leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNSENT }),
    );
  }

  /** Ends every stream, for the end of the server. */
  async close(): Promise<void> {
    for (const close of [...this.#open]) close();
    await Promise.all([...this.#stopping]);
  }

  #connect(query: StreamQuery, controller: ReadableStreamDefaultController<Uint8Array>, still: Still): () => void {
    const group = this.#join(query);
    let waiting: Sent[] | null = [];
    let isOpen = true;
    const write = (bytes: Uint8Array): void => {
      if (!isOpen) return;
      controller.enqueue(bytes);
      if ((controller.desiredSize ?? 0) < 0) close();
    };
    const listener: Listener = {
      send(sent) {
        if (waiting === null) write(sent.bytes);
        else waiting.push(sent);
      },
      end: () => close(),
    };
    const heartbeat = setInterval(() => write(HEARTBEAT), HEARTBEAT_MS);
    let isLooking = false;
    const look = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void still().then((may) => {
        isLooking = false;
        if (!may) close();
      });
    }, LOOK_MS);
    const leave = (): void => {
      isOpen = false;
      clearInterval(heartbeat);
      clearInterval(look);
      this.#open.delete(close);
      this.#leave(query, group, listener);
    };
    const close = (): void => {
      if (!isOpen) return;
      leave();
      controller.close();
    };
    this.#open.add(close);
    group.listeners.add(listener);
    write(encoder.encode(": connected\n\n"));
    this.#catchUp(query, write)
      .then((seen) => {
        const late = waiting ?? [];
        waiting = null;
        for (const sent of late) if (sent.entry_id === null || !seen.has(sent.entry_id)) write(sent.bytes);
      })
      .catch(close);
    // A stream that its client has cancelled is closed already and refuses to be closed again.
    return () => {
      if (isOpen) leave();
    };
  }

  /** Sends what was written since the client's cursor; an invalid cursor means: fetch again. */
  async #catchUp(
    { world, viewer, after, reader }: StreamQuery,
    write: (bytes: Uint8Array) => void,
  ): Promise<Set<string>> {
    const seen = new Set<string>();
    if (after === undefined) return seen;
    for await (const line of this.#app.lines("world.follow", { world, viewer, after, reader, ticks: true })) {
      const event = JSON.parse(line) as FollowEvent;
      // The first tick comes when nothing is left to send.
      if (event.event === "tick") break;
      if (event.data.entry_id !== undefined) seen.add(event.data.entry_id);
      write(encodeEvent(event));
    }
    return seen;
  }

  #join(query: StreamQuery): Group {
    const key = toKey(query);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const made = new Group(this.#app, query, () => {
      if (this.#groups.get(key) === made) this.#groups.delete(key);
    });
    this.#groups.set(key, made);
    return made;
  }

  #leave(query: StreamQuery, group: Group, listener: Listener): void {
    group.listeners.delete(listener);
    if (group.listeners.size > 0) return;
    this.#groups.delete(toKey(query));
    const ended = group.stop();
    this.#stopping.add(ended);
    void ended.then(() => this.#stopping.delete(ended));
  }
}

function toKey({ world, viewer, reader }: StreamQuery): string {
  return JSON.stringify([world, viewer ?? null, reader]);
}
