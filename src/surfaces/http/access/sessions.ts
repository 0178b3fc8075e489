import { randomBytes } from "node:crypto";
import type { OpenSession } from "../../../app/studio/ports.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { formatTime } from "../../../core/time.ts";
import { hashToken } from "./access.ts";
import type { Caller } from "./caller.ts";

/** How a session was opened: whoever came by a link sat at the terminal. */
export type OpenedBy = "link" | "token";

/** What a browser was given for a link or a token. */
export interface Session {
  readonly id: string;
  readonly label: string;
  readonly caller: Caller;
  readonly opened_by: OpenedBy;
  readonly since: number;
  last_use: number;
}

interface Code {
  readonly ends: number;
  /** What its session counts as: a link made by somebody who came with a token gives no more than that token. */
  readonly openedBy: OpenedBy;
  /** The session it was exchanged for; null as long as nobody came. */
  session: string | null;
}

const LINK_MS = 10 * 60_000;
const IDLE_MS = 12 * 3_600_000;
/** The oldest unused link goes first; the owner never needs more than one. */
const MOST_LINKS = 16;
const MOST_SESSIONS = 256;
const MOST_ENDED = 1000;
const SESSION = /^vs_[0-9a-f]{64}$/;

/**
 * The sessions of one server, in memory only: they end with it. A link is good once, for ten minutes; whoever uses it a
 * second time may have read it over somebody's shoulder, so that ends the session it opened and both sides are told.
 */
export class Sessions {
  readonly #now: () => number;
  readonly #codes = new Map<string, Code>();
  readonly #sessions = new Map<string, Session>();
  /** Hashes of sessions that were ended, with the reason, for as long as somebody may still hold them. */
  readonly #ended = new Map<string, string>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** A new code for a link: 128 random bits. */
  makeCode(openedBy: OpenedBy = "link"): string {
    this.#forgetOld();
    const unused = [...this.#codes].filter(([, { session }]) => session === null);
    if (unused.length >= MOST_LINKS) this.#codes.delete(unused[0]![0]);
    const code = randomBytes(16).toString("hex");
    this.#codes.set(hashOf(code), { ends: this.#now() + LINK_MS, openedBy, session: null });
    return code;
  }

  /** When a link that is made now can no longer be used. */
  linkEndsAt(): string {
    return formatTime(this.#now() + LINK_MS);
  }

  /** A session for a code. LINK_SPENT for one that is unknown, too old or used before. */
  exchange(code: string, label: string, caller: Caller): { readonly secret: string; readonly session: Session } {
    this.#forgetOld();
    const known = this.#codes.get(hashOf(code));
    if (known === undefined) throw new VerbatimError("LINK_SPENT", { where: "/code" });
    if (known.session !== null) {
      const was = this.#endByHash(known.session, "its link was used a second time");
      throw new VerbatimError("LINK_SPENT", {
        message: was
          ? "the link was used before; the session it had opened was ended"
          : "the link was used before, and the session it had opened is over",
        where: "/code",
      });
    }
    const opened = this.open(label, caller, known.openedBy);
    known.session = hashOf(opened.secret);
    return opened;
  }

  /** A session for somebody who was let in: 256 random bits. */
  open(label: string, caller: Caller, openedBy: OpenedBy): { readonly secret: string; readonly session: Session } {
    this.#forgetOld();
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MOST_SESSIONS) this.#endByHash(oldest!, "too many sessions were opened after it");
    const secret = `vs_${randomBytes(32).toString("hex")}`;
    const now = this.#now();
    const id = randomBytes(6).toString("hex");
    const session: Session = { id, label, caller, opened_by: openedBy, since: now, last_use: now };
    this.#sessions.set(hashOf(secret), session);
    return { secret, session };
  }

  /** The session of a request; null: what it carries is none. SESSION_ENDED for one that was. */
  find(secret: string): Session | null {
    if (!SESSION.test(secret)) return null;
    this.#forgetOld();
    const hash = hashOf(secret);
    const session = this.#sessions.get(hash);
    if (session === undefined) {
      const why = this.#ended.get(hash);
      const message = why === undefined ? undefined : `the session was ended: ${why}`;
      throw new VerbatimError("SESSION_ENDED", message === undefined ? {} : { message });
    }
    session.last_use = this.#now();
    return session;
  }

  /** How a session was opened, by its public id; what is none was opened by a token. */
  openedBy(id: string | null): OpenedBy {
    return [...this.#sessions.values()].find((session) => session.id === id)?.opened_by ?? "token";
  }

  /** Whether a session is still there, by its public id. To ask does not count as using it. */
  has(id: string): boolean {
    this.#forgetOld();
    return [...this.#sessions.values()].some((session) => session.id === id);
  }

  /** Ends a session by its public id; false when there is none. */
  end(id: string): boolean {
    for (const [hash, session] of this.#sessions) {
      if (session.id === id) return this.#endByHash(hash, "somebody ended it");
    }
    return false;
  }

  /** When an unused session would end by itself. */
  endsAt(session: Session): string {
    return formatTime(session.last_use + IDLE_MS);
  }

  list(): OpenSession[] {
    this.#forgetOld();
    return [...this.#sessions.values()].map((session) => ({
      id: session.id,
      label: session.label,
      role: session.caller.role,
      world_id: session.caller.world_id,
      opened_by: session.opened_by,
      since: formatTime(session.since),
      last_use: formatTime(session.last_use),
    }));
  }

  #endByHash(hash: string, why: string): boolean {
    const isThere = this.#sessions.delete(hash);
    if (!isThere) return false;
    this.#ended.set(hash, why);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED) this.#ended.delete(oldest!);
    return true;
  }

  #forgetOld(): void {
    const now = this.#now();
    for (const [hash, { last_use }] of this.#sessions) {
      if (last_use + IDLE_MS <= now) this.#endByHash(hash, "nobody used it for twelve hours");
    }
    for (const [hash, { ends, session }] of this.#codes) {
      // A code that opened a session is remembered as long as that: it may come a second time.
      const isOver = session === null ? ends <= now : !this.#sessions.has(session) && ends <= now;
      if (isOver) this.#codes.delete(hash);
    }
  }
}

function hashOf(text: string): string {
  return hashToken(text).toString("hex");
}

const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Mac OS X", "Mac"],
  ["Windows", "Windows"],
  ["Linux", "Linux"],
] as const;

/** What a browser calls itself, in two known words: nothing of it is shown as it was sent. */
export function toLabel(userAgent: string | undefined): string {
  const find = (table: readonly (readonly [string, string])[]) =>
    table.find(([mark]) => userAgent?.includes(mark) === true)?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser === undefined) return "a program";
  return system === undefined ? browser : `${browser} on ${system}`;
}
