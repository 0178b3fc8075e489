/** Whether the server answers, and since when it does not. */
export interface Connection {
  readonly state: "connecting" | "live" | "lost";
  /** When it last answered; null before it ever did. */
  readonly heard: number | null;
}

let now: Connection = { state: "connecting", heard: null };
const listeners = new Set<() => void>();

export function readConnection(): Connection {
  return now;
}

export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function noteAnswer(): void {
  const heard = Date.now();
  // Told at most once a second while nothing changes: nobody looks closer. A clock may have been set back.
  if (now.state === "live" && Math.abs(heard - (now.heard ?? 0)) < 1000) return;
  isKeptOnly = false;
  set({ state: "live", heard });
}

export function noteSilence(): void {
  if (now.state !== "lost") set({ state: "lost", heard: now.heard });
}

/** What is shown was kept in this browser; of several, the oldest says how old the page is. */
export function noteKept(at: number): void {
  if (now.state === "live") return;
  const heard = now.heard === null || isKeptOnly ? Math.min(at, now.heard ?? at) : now.heard;
  isKeptOnly = now.heard === null || isKeptOnly;
  now = { ...now, heard };
  for (const listener of listeners) listener();
}

/** Nothing has been heard since the page was opened. */
let isKeptOnly = false;

function set(next: Connection): void {
  const told = next.state !== now.state;
  now = next;
  if (told) for (const listener of listeners) listener();
}
