import { noteAnswer, noteSilence } from "./connection.ts";
import { readBlocks } from "./events.ts";
import { currentSession, dropSession, onSession } from "./session.ts";
import { type Pocket, streamPath } from "./worlds.ts";

/** How a beat is doing; for those who may know. */
export interface BeatStatus {
  readonly request_id: string;
  readonly speaker: string;
  readonly phase: "QUEUED" | "THINKING" | "SEARCHING" | "WRITING" | "DONE";
  readonly tools_used: number;
  readonly result: string | null;
  readonly code: string | null;
}

/** What is heard of a world. Lines are not among it: they are fetched, so that there is one way to the screen. */
export interface Heard {
  /** Something was committed that this reader may see, or much was missed. */
  readonly lines: () => void;
  readonly pocket: (pocket: Pocket) => void;
  readonly status: (status: BeatStatus) => void;
  /** People, presence, clock, versions or settings are others now. */
  readonly around: () => void;
  readonly kept: (world: string) => void;
}

const SILENCE_MS = 30_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** Follows a world until it is told to stop. After a break it begins again, and whoever listens fetches what is new. */
export function followWorld(world: string, viewer: string | undefined, heard: Heard): () => void {
  const end = new AbortController();
  void (async () => {
    let wait = FIRST_WAIT_MS;
    let isFirst = true;
    while (!end.signal.aborted) {
      const session = currentSession();
      if (session !== null) {
        const lasted = await readOnce(streamPath(world, viewer), session, heard, end.signal, isFirst).catch(
          () => false,
        );
        if (lasted) wait = FIRST_WAIT_MS;
        isFirst = false;
      }
      if (end.signal.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  })();
  return () => end.abort();
}

async function readOnce(
  path: string,
  session: string,
  heard: Heard,
  end: AbortSignal,
  isFirst: boolean,
): Promise<boolean> {
  const stop = new AbortController();
  const stopListening = onSession(() => stop.abort());
  const leave = () => stop.abort();
  end.addEventListener("abort", leave);
  let silence = window.setTimeout(leave, SILENCE_MS);
  let isOpen = false;
  try {
    const response = await fetch(`/api${path}`, {
      headers: { authorization: `Bearer ${session}` },
      signal: stop.signal,
    });
    if (response.status === 401 && session === currentSession()) dropSession();
    if (!response.ok || response.body === null) return false;
    isOpen = true;
    noteAnswer();
    // What happened while nobody listened is only known by asking.
    if (!isFirst) {
      heard.lines();
      heard.around();
    }
    const blocks = readBlocks(response.body, () => {
      clearTimeout(silence);
      silence = window.setTimeout(leave, SILENCE_MS);
      noteAnswer();
    });
    for await (const { name, data } of blocks) if (name !== null && data !== null) tell(name, data, heard);
  } catch {
    // Somebody who leaves the page is not a server that does not answer.
    if (!end.aborted) noteSilence();
  } finally {
    clearTimeout(silence);
    stopListening();
    end.removeEventListener("abort", leave);
    stop.abort();
  }
  return isOpen;
}

function tell(name: string, data: string, heard: Heard): void {
  if (name === "entry" || name === "reset") heard.lines();
  else if (name === "pocket") heard.pocket(JSON.parse(data) as Pocket);
  else if (name === "status") heard.status(JSON.parse(data) as BeatStatus);
  else if (name === "kept") heard.kept((JSON.parse(data) as { readonly kept_world_id: string }).kept_world_id);
  else heard.around();
}
