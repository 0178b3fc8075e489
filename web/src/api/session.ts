// The session lives in this tab's storage and travels as a header, never as a cookie: a cookie would also be sent to
// another server on another port of this machine, and an agent can start one.

const KEY = "session";
const ID = "session-id";
const ACCESS = "session-access";
const CHANNEL = "verbatim-session";
/** How long another tab may take to answer. */
const WAIT_MS = 250;

/** Roles of a workspace, least first; each may what those before it may. */
const ROLES = ["reader", "reviewer", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** What a session is good for: the workspace, or one story as somebody in it. */
export interface Access {
  readonly role: Role | "operator" | "player" | "viewer";
  /** The story of a world's token. */
  readonly story: string | null;
  /** As whom it reads. */
  readonly viewer: string | null;
}

export const OWNER: Access = { role: "owner", story: null, viewer: null };

type Message =
  | { readonly ask: true }
  | { readonly session: string; readonly id: string; readonly access?: Access }
  | { readonly ended: true };

let access: Access = readAccess();
let secret: string | null = sessionStorage.getItem(KEY);
/** Its public name, to tell it from the others. */
let publicId = sessionStorage.getItem(ID) ?? "";
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(CHANNEL);
const listeners = new Set<() => void>();

channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if ("ask" in data && secret !== null)
    channel.postMessage({ session: secret, id: publicId, access } satisfies Message);
  // A tab without a session takes the one that another tab opened meanwhile.
  if ("session" in data && secret === null) keepSession(data.session, data.id, data.access ?? OWNER, false);
  if ("ended" in data && secret !== null) dropSession(false);
});

export function currentSession(): string | null {
  return secret;
}

export function currentSessionId(): string {
  return publicId;
}

/** What this tab may do. It is the server that decides; the page only leaves out what would be refused. */
export function currentAccess(): Access {
  return access;
}

/** Whether somebody may do in the workspace what takes at least this role. */
export function isAtLeast(least: Role): boolean {
  return ROLES.findIndex((role) => role === access.role) >= ROLES.indexOf(least);
}

function readAccess(): Access {
  try {
    const kept = JSON.parse(sessionStorage.getItem(ACCESS) ?? "null") as Access | null;
    return kept ?? OWNER;
  } catch {
    return OWNER;
  }
}

export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function keepSession(session: string, id: string, good: Access = OWNER, tell = true): void {
  secret = session;
  publicId = id;
  access = good;
  sessionStorage.setItem(ACCESS, JSON.stringify(good));
  sessionStorage.setItem(KEY, session);
  sessionStorage.setItem(ID, id);
  if (tell) channel?.postMessage({ session, id, access } satisfies Message);
  for (const listener of listeners) listener();
}

/** The server no longer knows the session: every tab asks for a key again. */
export function dropSession(tell = true): void {
  if (secret === null) return;
  secret = null;
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(ID);
  if (tell) channel?.postMessage({ ended: true } satisfies Message);
  for (const listener of listeners) listener();
}

/** Asks the other tabs of this browser. */
export async function askOtherTabs(): Promise<void> {
  if (secret !== null || channel === null) return;
  channel.postMessage({ ask: true } satisfies Message);
  await new Promise<void>((resolve) => {
    const stop = onSession(done);
    const timer = setTimeout(done, WAIT_MS);
    function done(): void {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
}

/** When there is a session: now, or once somebody opened one. */
export async function openedSession(): Promise<void> {
  if (secret !== null) return;
  await new Promise<void>((resolve) => {
    const stop = onSession(() => {
      if (secret === null) return;
      stop();
      resolve();
    });
  });
}
