import type { Events } from "verbatim-agent/api";
import { noteAnswer, noteSilence } from "./connection.ts";
import { currentAccess, currentSession, dropSession, onSession, openedSession } from "./session.ts";

/** One event, by its name. Events say what to fetch again. */
export type StudioEvent = { [N in keyof Events]: { readonly name: N; readonly data: Events[N] } }[keyof Events];

const CHANNEL = "verbatim-events";
const LOCK = "verbatim-events";
const SILENCE_MS = 30_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

type Shared = { readonly event: StudioEvent } | { readonly heard: boolean };

/**
 * Follows what happens. One tab of a browser holds the connection (a browser opens only six to one server) and tells the
 * others; where tabs cannot agree on one, each has its own.
 */
export function followEvents(tell: (event: StudioEvent) => void): void {
  const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(CHANNEL);
  channel?.addEventListener("message", ({ data }: MessageEvent<Shared>) => {
    if ("event" in data) tell(data.event);
    else if (data.heard) noteAnswer();
    else noteSilence();
  });
  const share = (event: StudioEvent) => {
    tell(event);
    channel?.postMessage({ event } satisfies Shared);
  };
  const hear = (heard: boolean) => {
    if (heard) noteAnswer();
    else noteSilence();
    channel?.postMessage({ heard } satisfies Shared);
  };
  const locks = (navigator as { readonly locks?: LockManager }).locks;
  if (locks === undefined || channel === null) void readForever(share, hear);
  else void locks.request(LOCK, () => readForever(share, hear));
}

async function readForever(share: (event: StudioEvent) => void, hear: (heard: boolean) => void): Promise<never> {
  let last: string | null = null;
  let isFirst = true;
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const session = currentSession();
    if (session === null) {
      await openedSession();
      continue;
    }
    // A world's token hears of its world on the stream of that.
    if (currentAccess().role !== "owner") {
      await changedSession();
      continue;
    }
    try {
      for await (const { id, event } of readOnce(session, last, hear, !isFirst)) {
        isFirst = false;
        wait = FIRST_WAIT_MS;
        last = id ?? last;
        if (event !== null) share(event);
      }
    } catch (thrown) {
      if (thrown instanceof SessionEnded) {
        if (session === currentSession()) dropSession();
        continue;
      }
    }
    hear(false);
    // What is on the screen may have been kept in this browser: whoever is heard at last is asked for everything.
    isFirst = false;
    await sleep(wait * (0.5 + Math.random()));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

class SessionEnded extends Error {}

function changedSession(): Promise<void> {
  return new Promise((resolve) => {
    const stop = onSession(() => {
      stop();
      resolve();
    });
  });
}

async function* readOnce(
  session: string,
  last: string | null,
  hear: (heard: boolean) => void,
  again: boolean,
): AsyncGenerator<{ readonly id: string | null; readonly event: StudioEvent | null }> {
  const stop = new AbortController();
  const stopListening = onSession(() => stop.abort());
  let silence = setTimeout(() => stop.abort(), SILENCE_MS);
  try {
    const response = await fetch("/api/events", {
      headers: { authorization: `Bearer ${session}`, ...(last === null ? {} : { "last-event-id": last }) },
      signal: stop.signal,
    });
    if (response.status === 401) throw new SessionEnded();
    if (!response.ok || response.body === null) return;
    hear(true);
    // Whoever has heard nothing yet cannot say where to go on: what happened in between may be anything.
    yield { id: null, event: again && last === null ? { name: "reset", data: {} } : null };
    const listened = readBlocks(response.body, () => {
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(), SILENCE_MS);
      hear(true);
    });
    for await (const { id, name, data } of listened) {
      const event = name === null || data === null ? null : ({ name, data: JSON.parse(data) } as StudioEvent);
      yield { id, event };
    }
  } finally {
    clearTimeout(silence);
    stopListening();
    stop.abort();
  }
}

/** One block of a stream of server-sent events; a comment has neither name nor data. */
export interface Block {
  readonly id: string | null;
  readonly name: string | null;
  readonly data: string | null;
}

/** Reads server-sent events; `heard` is told of every piece that arrives, whatever is in it. */
export async function* readBlocks(body: ReadableStream<BufferSource>, heard: () => void): AsyncGenerator<Block> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    const blocks = (text + value).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) yield parseBlock(block);
  }
}

function parseBlock(block: string): Block {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const cut = line.indexOf(": ");
    if (cut > 0) fields.set(line.slice(0, cut), line.slice(cut + 2));
  }
  return { id: fields.get("id") ?? null, name: fields.get("event") ?? null, data: fields.get("data") ?? null };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
