import { Refused, Unreachable } from "../../api/client.ts";
import type { BeatStatus } from "../../api/world-stream.ts";
import { type BeatEnd, type Declared, newRequestId, sendBeat, type Wishes } from "../../api/worlds.ts";

/** Words on their way. They are no lines before the server has committed them, and stand outside of the story. */
export interface Sent {
  readonly request_id: string;
  readonly text: string;
  readonly wishes: Wishes;
  readonly declared: Declared | null;
  readonly state: "sending" | "unanswered" | "refused";
  readonly problem: unknown;
}

/** How the last beat ended that this page or somebody else began. */
export interface Ending extends BeatEnd {
  readonly request_id: string;
}

export interface Desk {
  readonly sent: readonly Sent[];
  readonly statuses: ReadonlyMap<string, BeatStatus>;
  readonly ended: Ending | null;
}

const AGAIN_MS = 2000;
const KEY = "verbatim-sent";

/** What is being said in one world. Sending again what got no answer uses the same id, so it happens once. */
export class Sending {
  readonly #world: string;
  readonly #listeners = new Set<() => void>();
  #now: Desk = { sent: [], statuses: new Map(), ended: null };
  #isOver = false;

  constructor(world: string) {
    this.#world = world;
  }

  readonly read = (): Desk => this.#now;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** What was on its way when the page was left or loaded again is sent on. */
  resume(operator: string): void {
    this.#isOver = false;
    if (this.#now.sent.length > 0) return;
    for (const one of readKept(this.#world)) this.#begin({ ...one, state: "sending", problem: null }, operator);
  }

  send(operator: string, text: string, wishes: Wishes = {}, declared: Declared | null = null): void {
    const one: Sent = { request_id: newRequestId(), text, wishes, declared, state: "sending", problem: null };
    this.#begin(one, operator);
  }

  /** Takes back what was refused, for whoever wants to change it. */
  take(request_id: string): void {
    this.#set({ sent: this.#now.sent.filter((one) => one.request_id !== request_id) });
  }

  status(status: BeatStatus): void {
    const statuses = new Map(this.#now.statuses);
    if (status.phase === "DONE") {
      statuses.delete(status.request_id);
      const { request_id, result, code } = status;
      this.#set({ statuses, ended: result === null ? this.#now.ended : { request_id, result, code } });
      return;
    }
    statuses.set(status.request_id, status);
    this.#set({ statuses });
  }

  /** Nobody looks any more; what is on its way stays written down. */
  leave(): void {
    this.#isOver = true;
  }

  #begin(one: Sent, operator: string): void {
    this.#set({ sent: [...this.#now.sent, one], ended: null });
    void this.#run(one, operator);
  }

  async #run({ request_id, text, wishes, declared }: Sent, operator: string): Promise<void> {
    for (;;) {
      try {
        const end = await sendBeat(this.#world, operator, request_id, text, wishes, declared);
        const statuses = new Map(this.#now.statuses);
        statuses.delete(request_id);
        const sent = this.#now.sent.filter((one) => one.request_id !== request_id);
        this.#set({ sent, statuses, ended: { request_id, ...end } });
        return;
      } catch (thrown) {
        const isAway = thrown instanceof Unreachable || (thrown instanceof Refused && thrown.status === 401);
        this.#change(request_id, { state: isAway ? "unanswered" : "refused", problem: thrown });
        if (!isAway) return;
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      if (this.#isOver || !this.#now.sent.some((one) => one.request_id === request_id)) return;
    }
  }

  #change(request_id: string, change: Partial<Sent>): void {
    this.#set({ sent: this.#now.sent.map((one) => (one.request_id === request_id ? { ...one, ...change } : one)) });
  }

  #set(change: Partial<Desk>): void {
    const before = this.#now.sent;
    this.#now = { ...this.#now, ...change };
    if (this.#now.sent !== before) keep(this.#world, this.#now.sent);
    for (const listener of this.#listeners) listener();
  }
}

type Kept = Pick<Sent, "request_id" | "text" | "wishes" | "declared">;

/** In this tab only, as the session is. */
function keep(world: string, sent: readonly Sent[]): void {
  const waiting = sent.filter(({ state }) => state !== "refused");
  const kept = waiting.map(({ request_id, text, wishes, declared }): Kept => ({ request_id, text, wishes, declared }));
  if (kept.length === 0) sessionStorage.removeItem(`${KEY} ${world}`);
  else sessionStorage.setItem(`${KEY} ${world}`, JSON.stringify(kept));
}

function readKept(world: string): Kept[] {
  try {
    return JSON.parse(sessionStorage.getItem(`${KEY} ${world}`) ?? "[]") as Kept[];
  } catch {
    return [];
  }
}
