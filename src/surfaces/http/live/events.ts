import type { App } from "../../../app/call.ts";
import type { Output } from "../../../app/operations.ts";
import { EVENTS, type Events as Told } from "../../../app/studio/events.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Sessions } from "../access/sessions.ts";
import type { Tasks, TaskView } from "./tasks.ts";

/** The head of the ledger is read this often while somebody listens: whoever appended, and from which process. */
const BEAT_MS = 250;
/** After a look that failed: whoever reads the log is told, and not four times a second. */
const REST_MS = 5000;
const HEARTBEAT_MS = 15_000;
const PAGE = 500;
/** Whoever missed more fetches everything again, which is quicker. */
const MOST_MISSED = 5000;
const MOST_CLIENTS = 200;
const MOST_UNSENT = 1024 * 1024;

type Entry = Output<"ledger.show">["entries"][number];

interface Client {
  /** The first entry it has not seen; negative: whatever comes next. */
  next: number;
  readonly session: string | null;
  write(text: string): void;
  close(): void;
}

/**
 * What happens, for the owner's page: the tail of the ledger told as events, so that a restart of the server, a laptop that
 * slept and a run in another terminal all look the same. Events say what to fetch again; tasks are told as they are, because
 * the ledger knows nothing of them.
 */
export class Events {
  readonly #app: App;
  readonly #sessions: Sessions;
  readonly #log: (thrown: unknown) => void;
  readonly #clients = new Set<Client>();
  readonly #changed = new Map<string, TaskView>();
  #timer: NodeJS.Timeout | null = null;
  #beat: Promise<void> = Promise.resolve();
  #size = 0;
  #silent = 0;

  constructor(app: App, sessions: Sessions, tasks: Tasks, log: (thrown: unknown) => void = () => undefined) {
    this.#app = app;
    this.#sessions = sessions;
    this.#log = log;
    tasks.onChange((task) => {
      if (this.#clients.size > 0) this.#changed.set(task.task_id, task);
    });
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** A stream of what happens from now on, or since an event that was seen. SSE_LIMIT when too many listen. */
  open(lastId: number | null, session: string | null): ReadableStream<Uint8Array> {
    if (this.#clients.size >= MOST_CLIENTS) throw new VerbatimError("SSE_LIMIT");
    const encoder = new TextEncoder();
    let client: Client | null = null;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const one: Client = {
            next: lastId === null ? -1 : lastId + 1,
            session,
            write: (text) => {
              if (!this.#clients.has(one)) return;
              controller.enqueue(encoder.encode(text));
              // A client that does not read comes back with its last id.
              if ((controller.desiredSize ?? 0) < 0) one.close();
            },
            close: () => {
              if (this.#leave(one)) controller.close();
            },
          };
          client = one;
          this.#clients.add(one);
          one.write(": connected\n\n");
          this.#listen();
        },
        cancel: () => {
          if (client !== null) this.#leave(client);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_UNSENT }),
    );
  }

  /** Ends every stream, for the end of the server. */
  async close(): Promise<void> {
    for (const client of [...this.#clients]) client.close();
    await this.#beat;
  }

  #leave(client: Client): boolean {
    const wasThere = this.#clients.delete(client);
    if (this.#clients.size === 0 && this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
    return wasThere;
  }

  #listen(wait = BEAT_MS): void {
    if (this.#timer !== null || this.#clients.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#beat = this.#look().then(
        () => this.#listenAgain(BEAT_MS),
        (thrown: unknown) => {
          this.#log(thrown);
          this.#listenAgain(REST_MS);
        },
      );
    }, wait);
  }

  #listenAgain(wait: number): void {
    this.#timer = null;
    this.#listen(wait);
  }

  async #look(): Promise<void> {
    this.#endLost();
    const tasks = [...this.#changed.values()];
    this.#changed.clear();
    const { total } = await this.#app.call("ledger.show", { from: this.#size, limit: 1 });
    this.#size = Math.max(this.#size, total);
    for (const client of [...this.#clients]) await this.#bringUp(client);
    for (const task of tasks) this.#tell(toTaskEvent(task));
    this.#silent += BEAT_MS;
    if (this.#silent >= HEARTBEAT_MS) this.#tell(": still here\n\n");
  }

  #tell(text: string): void {
    this.#silent = 0;
    for (const client of [...this.#clients]) client.write(text);
  }

  /** A session that was ended hears of it, and of nothing else. */
  #endLost(): void {
    for (const client of [...this.#clients]) {
      if (client.session === null || this.#sessions.has(client.session)) continue;
      client.write(formatEvent("session", { ended: true }));
      client.close();
    }
  }

  /** Sends a client what it has not seen. Pages are read once for everybody who stands at the same place. */
  async #bringUp(client: Client): Promise<void> {
    if (client.next < 0) client.next = this.#size;
    // An id from a ledger that is no longer there, or from long ago.
    if (client.next > this.#size || this.#size - client.next > MOST_MISSED) {
      client.next = this.#size;
      client.write(formatEvent("reset", {}, this.#size - 1));
    }
    while (client.next < this.#size && this.#clients.has(client)) {
      const from = client.next;
      const { entries } = await this.#app.call("ledger.show", { from, limit: PAGE });
      if (entries.length === 0) return;
      const text = formatPage(entries, Math.max(this.#size, entries.at(-1)!.index + 1));
      for (const other of [...this.#clients]) {
        if (other.next !== from) continue;
        other.next = entries.at(-1)!.index + 1;
        other.write(text);
      }
    }
  }
}

/** The events of a page of entries: one for each thing that changed, and one for the ledger itself. */
function formatPage(entries: readonly Entry[], size: number): string {
  const streams: Record<string, number> = {};
  let text = "";
  for (const entry of entries) {
    streams[entry.stream] = entry.position;
    text += formatEntry(entry);
  }
  return text + formatEvent("ledger", { size, streams }, entries.at(-1)!.index);
}

function formatEntry({ stream, kind, body, index }: Entry): string {
  const slash = stream.indexOf("/");
  const [room, id] = [stream.slice(0, slash), stream.slice(slash + 1)];
  if (slash < 0) return "";
  if (room === "workflow" && kind.startsWith("AGENT_")) {
    // An entry of another version may say more, or say it differently.
    const { state, reason } = (body ?? {}) as { readonly state?: unknown; readonly reason?: unknown };
    const known = EVENTS.run.safeParse({ run_id: id, state: state ?? null, reason: reason ?? null });
    return formatEvent("run", known.success ? known.data : { run_id: id, state: null, reason: null }, index);
  }
  if (room === "job") return formatEvent("job", { id, what: kind }, index);
  if (room === "world") return formatEvent("world", { world_id: id, what: kind }, index);
  return "";
}

function toTaskEvent({ task_id, operation, state, progress }: TaskView): string {
  const { done = 0, total = null, label = "" } = progress ?? {};
  return formatEvent("task", { id: task_id, operation, state, done, total, note: label });
}

function formatEvent<E extends keyof Told>(event: E, data: Told[E], id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
