import type { OperationName, Operations } from "verbatim-agent/api";
import { noteAnswer, noteKept, noteSilence } from "./connection.ts";
import { isKept, keepAnswer, readAnswer } from "./kept.ts";
import { type Access, currentAccess, currentSession, dropSession, keepSession, OWNER } from "./session.ts";

/** A refusal as the server words it: what, where, and what to do about it. */
export class Refused extends Error {
  readonly code: string;
  readonly where: string | null;
  readonly fix: string;
  readonly status: number;

  constructor(status: number, error: RefusalBody) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.where = error.where;
    this.fix = error.fix;
  }
}

/** Nobody answered. */
export class Unreachable extends Error {}

interface RefusalBody {
  readonly code: string;
  readonly message: string;
  readonly where: string | null;
  readonly fix: string;
}

export type Input<N extends OperationName> = Operations[N]["input"];
export type Output<N extends OperationName> = Operations[N]["output"];

/** Calls one operation of the table. */
export async function call<N extends OperationName>(
  name: N,
  input: Input<N>,
  signal?: AbortSignal,
): Promise<Output<N>> {
  const asked = () => ask<Output<N>>("POST", `/operations/${name}`, input, signal);
  return await (isKept(name) ? orKept(`${name} ${JSON.stringify(input)}`, asked) : asked());
}

/** What somebody only reads: while nobody answers, it is what the server said last. */
export async function orKept<T>(name: string, asked: () => Promise<T>): Promise<T> {
  try {
    const answer = await asked();
    keepAnswer(name, answer);
    return answer;
  } catch (thrown) {
    const kept = thrown instanceof Unreachable ? await readAnswer(name) : null;
    if (kept === null) throw thrown;
    noteKept(kept.at);
    return kept.answer as T;
  }
}

/** One request under /api. A 401 means that the session ended: the key screen comes up, and what was typed stays. */
export async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(method, path, body, signal);
  if (response.status === 204) return undefined as T;
  const answer: unknown = await response.json();
  if (response.ok) return answer as T;
  throw toRefused(response.status, answer);
}

/** Bytes as they were recorded, with the headers that say where they lie. */
export async function askBytes(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await send("GET", path, undefined, signal);
  if (response.ok) return response;
  throw toRefused(response.status, await response.json());
}

/** A request whose answer is more than its body, such as a beat with its result. */
export async function askFor(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const response = await send(method, path, body, signal);
  if (response.ok) return response;
  throw toRefused(response.status, await response.json());
}

/** Sends bytes as they are, such as a file that somebody dropped. */
export async function sendBytes<T>(method: string, path: string, bytes: Uint8Array<ArrayBuffer>): Promise<T> {
  const response = await send(method, path, bytes);
  const answer: unknown = await response.json();
  if (response.ok) return answer as T;
  throw toRefused(response.status, answer);
}

/** The licences of what is built in: a file of the page, beside its scripts. */
export async function askLicences(signal: AbortSignal): Promise<string> {
  const response = await fetch("/licences.txt", { signal }).catch((thrown: unknown) => {
    throw new Unreachable(String(thrown));
  });
  if (response.ok) return await response.text();
  throw toRefused(response.status, await response.json());
}

async function send(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const session = currentSession();
  const headers = {
    ...(session === null ? {} : { authorization: `Bearer ${session}` }),
    ...(body === undefined ? {} : { "content-type": isBytes(body) ? "application/octet-stream" : "application/json" }),
  };
  try {
    const response = await fetch(`/api${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: isBytes(body) ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    noteAnswer();
    if (response.status === 401 && session !== null && session === currentSession()) dropSession();
    return response;
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    noteSilence();
    throw new Unreachable(String(thrown));
  }
}

function isBytes(body: unknown): body is Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array;
}

function toRefused(status: number, answer: unknown): Refused {
  const { error } = answer as { readonly error: RefusalBody };
  return new Refused(status, error);
}

interface Opened {
  readonly session: string;
  readonly id: string;
  readonly role: "owner" | "reviewer" | "reader" | "operator" | "player" | "viewer";
  readonly world_id: string | null;
  readonly viewer: string | null;
}

/** Exchanges the code of a link, or a token, for a session: of the workspace, of somebody of its team, or of one story. */
export async function openSession(key: { readonly code: string } | { readonly token: string }): Promise<void> {
  const { session, id, role, world_id, viewer } = await ask<Opened>("POST", "/session", key);
  const before = currentAccess();
  const isOfTeam = role === "reviewer" || role === "reader";
  const access: Access = role === "owner" ? OWNER : { role, story: world_id, viewer };
  const isSomebodyElse = JSON.stringify(before) !== JSON.stringify(access);
  keepSession(session, id, access);
  // What is on the screen was for somebody else; nothing of it stays.
  if (isSomebodyElse && (isOfTeam || location.pathname.startsWith("/worlds/"))) location.reload();
  else if (isSomebodyElse) location.assign("/");
}

/** A name for one wish, so that sending it twice does it once. Works without a secure context too. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
