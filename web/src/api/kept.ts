import { currentSession, onSession } from "./session.ts";

// What was read last is kept in this browser, so that it can be read while the server is away. It is encrypted with a key
// that only the session has: when that ends, what lies there is noise, and it is removed besides.

const DATABASE = "verbatim-kept";
const STORE = "answers";
const MOST_ANSWERS = 300;
const MOST_BYTES = 4 * 1024 * 1024;
/** Writing waits until reading has rested. */
const REST_MS = 500;

/** Answers that somebody reads; nothing that does something, and nothing about keys and sessions. */
const KEPT: readonly string[] = [
  "studio.home",
  "agent.list",
  "agent.show",
  "agent.diff",
  "agent.compare",
  "ledger.browse",
  "jobs.list",
  "jobs.status",
];

export function isKept(operation: string): boolean {
  return KEPT.includes(operation);
}

interface Kept {
  readonly name: string;
  readonly at: number;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly data: ArrayBuffer;
}

const pending = new Map<string, unknown>();
let timer = 0;

/** Keeps an answer for when nobody answers. Only the newest of each name is written. */
export function keepAnswer(name: string, answer: unknown): void {
  if (!canKeep()) return;
  pending.set(name, answer);
  if (timer === 0) timer = window.setTimeout(() => void flush().catch(giveUp), REST_MS);
}

/** The last answer of this name in this session, and when it came; null: there is none. */
export async function readAnswer(name: string): Promise<{ readonly answer: unknown; readonly at: number } | null> {
  const session = currentSession();
  if (session === null || !canKeep()) return null;
  try {
    const place = await nameOf(session, name);
    const kept = await withStore("readonly", (store) => asPromise<Kept | undefined>(store.get(place)));
    if (kept === undefined) return null;
    const bytes = await crypto.subtle.decrypt({ name: "AES-GCM", iv: kept.iv }, await keyOf(session), kept.data);
    return { answer: JSON.parse(new TextDecoder().decode(bytes)) as unknown, at: kept.at };
  } catch (thrown) {
    giveUp(thrown);
    return null;
  }
}

/** Nobody is in: whatever lies there belonged to a session that is over. */
export function forgetAnswers(): void {
  pending.clear();
  if (canKeep()) indexedDB.deleteDatabase(DATABASE);
}

onSession(() => {
  if (currentSession() === null) forgetAnswers();
});

/** Without a secure context there is neither a key nor a page that could be opened. */
function canKeep(): boolean {
  return globalThis.isSecureContext && globalThis.crypto.subtle !== undefined && globalThis.indexedDB !== undefined;
}

/** A browser that keeps nothing, such as a private window with no room: the page is the same without it. */
function giveUp(thrown: unknown): void {
  console.info(thrown);
}

async function flush(): Promise<void> {
  timer = 0;
  const session = currentSession();
  const answers = [...pending];
  pending.clear();
  if (session === null) return;
  const key = await keyOf(session);
  for (const [name, answer] of answers) {
    const bytes = new TextEncoder().encode(JSON.stringify(answer));
    if (bytes.length > MOST_BYTES) continue;
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, bytes);
    const kept: Kept = { name: await nameOf(session, name), at: Date.now(), iv, data };
    // Whoever left meanwhile leaves nothing behind.
    if (currentSession() !== session) return;
    await withStore("readwrite", (store) => asPromise(store.put(kept)));
  }
  await withStore("readwrite", dropOldest);
}

async function dropOldest(store: IDBObjectStore): Promise<void> {
  const count = await asPromise(store.count());
  if (count <= MOST_ANSWERS) return;
  const oldest = await asPromise(store.index("at").getAllKeys(null, count - MOST_ANSWERS));
  for (const key of oldest) store.delete(key);
}

async function keyOf(session: string): Promise<CryptoKey> {
  const raw = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`kept ${session}`));
  return await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]);
}

/** Names say what somebody read, so they are hashed with the session as well. */
async function nameOf(session: string, name: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`name ${session} ${name}`));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function withStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => Promise<T>): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.addEventListener("upgradeneeded", () => {
    opening.result.createObjectStore(STORE, { keyPath: "name" }).createIndex("at", "at");
  });
  const database = await asPromise(opening);
  try {
    return await work(database.transaction(STORE, mode).objectStore(STORE));
  } finally {
    // So that it can be removed while other tabs are open.
    database.close();
  }
}

function asPromise<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error(DATABASE)));
  });
}
