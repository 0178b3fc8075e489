import type { RequestId, Server } from "@modelcontextprotocol/server";

/**
 * The running calls of clients of the older protocol over HTTP. A call and the notification that cancels it come as two
 * requests, each to a server of its own; here they meet, by the session the client was given and the id it chose.
 */
export class LegacyCalls {
  readonly #running = new Map<string, Set<AbortController>>();

  /** Runs a call until it ends or is cancelled. */
  async run<T>(session: string | null, id: RequestId, call: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const key = toKey(session, id);
    const controller = new AbortController();
    const same = this.#running.get(key) ?? new Set();
    this.#running.set(key, same.add(controller));
    try {
      return await call(controller.signal);
    } finally {
      same.delete(controller);
      if (same.size === 0) this.#running.delete(key);
    }
  }

  /** Cancels the calls of a session with an id. Without a session only one that cannot be someone else's. */
  cancel(session: string | null, id: RequestId): void {
    const same = this.#running.get(toKey(session, id)) ?? new Set();
    if (session === null && same.size > 1) return;
    for (const controller of same) controller.abort();
  }

  cancelAll(): void {
    for (const same of this.#running.values()) for (const controller of same) controller.abort();
  }
}

/** One request of such a client, which may hold several calls. */
export class LegacyExchange {
  readonly #calls: LegacyCalls;
  readonly #session: string | null;
  readonly #server: Server;
  #open = 0;

  constructor(calls: LegacyCalls, session: string | null, server: Server) {
    this.#calls = calls;
    this.#session = session;
    this.#server = server;
    server.setNotificationHandler("notifications/cancelled", ({ params }) => {
      if (params.requestId !== undefined) calls.cancel(session, params.requestId);
    });
  }

  /** Runs a call; one that was cancelled gets no answer, as the protocol wants it. */
  async run<T>(id: RequestId, dropped: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#open++;
    return this.#calls.run(this.#session, id, async (cancelled) => {
      try {
        return await call(AbortSignal.any([dropped, cancelled]));
      } finally {
        this.#open--;
        if (cancelled.aborted && this.#open === 0) await this.#server.close();
      }
    });
  }
}

function toKey(session: string | null, id: RequestId): string {
  return JSON.stringify([session, id]);
}
