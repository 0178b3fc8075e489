import { Refused } from "../../api/client.ts";
import { type Line, type Meta, type Page, type Pocket, worldsApi } from "../../api/worlds.ts";

/** One line with what stands beside it. */
export interface Told {
  readonly line: Line;
  readonly meta: Meta;
}

/** What of a story is loaded: a window that slides over it. */
export interface Loaded {
  readonly lines: readonly Told[];
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
  readonly pocket: Pocket | null;
  /** Another number is another place: the list is mounted anew instead of having its rows replaced. */
  readonly place: number;
  /** The line that was jumped to. */
  readonly target: string | null;
  readonly state: "loading" | "here" | "failed";
  readonly problem: unknown;
  /** Lines that came while somebody read elsewhere. */
  readonly unread: number;
  /** Lines that came while the page was open: they are revealed, the others are there. */
  readonly fresh: ReadonlySet<string>;
}

const PAGE = 100;
export const MOST_LOADED = 1000;

/**
 * The lines of one world as one viewer sees them, at most so many at once. Everything on it was committed: pages come from the
 * server, and what happens only says that there is more.
 */
export class StoryWindow {
  readonly #world: string;
  readonly #viewer: string | undefined;
  readonly #listeners = new Set<() => void>();
  #now: Loaded = {
    lines: [],
    hasBefore: false,
    hasAfter: false,
    pocket: null,
    place: 0,
    target: null,
    state: "loading",
    problem: null,
    unread: 0,
    fresh: new Set(),
  };
  #queue: Promise<void> = Promise.resolve();
  /** Something came while a page was on its way. */
  #isMissed = false;
  #isAsking = { older: false, newer: false };

  constructor(world: string, viewer: string | undefined) {
    this.#world = world;
    this.#viewer = viewer;
  }

  readonly read = (): Loaded => this.#now;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** The newest lines, or those around one of them. */
  open(around?: string, isNews = false): void {
    const place = this.#now.place + 1;
    const isEmpty = this.#now.lines.length === 0;
    this.#set(isEmpty ? { state: "loading", place, problem: null } : { place, problem: null });
    this.#enqueue(place, async () => {
      const page = await worldsApi.page(this.#world, {
        viewer: this.#viewer,
        limit: PAGE,
        ...(around === undefined ? {} : { around }),
      });
      const fresh = new Set(isNews ? page.entries.map(({ entry_id }) => entry_id) : []);
      return () => this.#set({ ...contentOf(page), target: around ?? null, state: "here", unread: 0, fresh });
    });
  }

  /** The page before what is loaded; the far side is dropped when there is too much. */
  older(): void {
    const { hasBefore, lines, place } = this.#now;
    const first = lines[0];
    if (!hasBefore || first === undefined || this.#isAsking.older) return;
    this.#isAsking.older = true;
    this.#enqueue(place, async () => {
      const query = { viewer: this.#viewer, limit: PAGE, before: first.meta.cursor };
      const page = await worldsApi.page(this.#world, query).finally(() => {
        this.#isAsking.older = false;
      });
      return () => {
        const all = [...toLines(page), ...this.#now.lines];
        const kept = all.slice(0, MOST_LOADED);
        const hasAfter = this.#now.hasAfter || kept.length < all.length;
        this.#set({ lines: kept, hasBefore: page.has_more_before, hasAfter });
      };
    });
  }

  /** The page after what is loaded. What comes to the end of it while somebody looks is new. */
  newer(isNews = false): void {
    const { hasAfter, lines, place } = this.#now;
    const last = lines.at(-1);
    if (isNews && hasAfter) {
      this.#set({ unread: this.#now.unread + 1 });
      return;
    }
    if (last === undefined) {
      this.open(undefined, isNews);
      return;
    }
    if ((!isNews && !hasAfter) || this.#isAsking.newer) {
      this.#isMissed ||= isNews;
      return;
    }
    this.#isAsking.newer = true;
    this.#enqueue(place, async () => {
      const query = { viewer: this.#viewer, limit: PAGE, after: last.meta.cursor };
      const page = await worldsApi.page(this.#world, query).finally(() => {
        this.#isAsking.newer = false;
      });
      return () => {
        const added = toLines(page);
        const all = [...this.#now.lines, ...added];
        const kept = all.slice(-MOST_LOADED);
        const fresh = isNews
          ? new Set([...this.#now.fresh, ...added.map(({ line }) => line.entry_id)])
          : this.#now.fresh;
        this.#set({
          lines: kept,
          hasBefore: this.#now.hasBefore || kept.length < all.length,
          hasAfter: page.has_more_after,
          pocket: page.pocket,
          ...(isNews ? { fresh, unread: this.#now.unread + added.length } : {}),
        });
        if (!this.#isMissed) return;
        this.#isMissed = false;
        this.newer(true);
      };
    });
  }

  setPocket(pocket: Pocket): void {
    this.#set({ pocket });
  }

  /** Whoever stands at the end has read all of it. */
  caughtUp(): void {
    if (this.#now.unread > 0 && !this.#now.hasAfter) this.#set({ unread: 0 });
  }

  /** One request after another; an answer for a place that was left is dropped. */
  #enqueue(place: number, load: () => Promise<() => void>): void {
    this.#queue = this.#queue.then(async () => {
      if (place !== this.#now.place) return;
      try {
        const apply = await load();
        if (place === this.#now.place) apply();
      } catch (thrown) {
        if (place !== this.#now.place) return;
        // A cursor that means nothing here any more: begin again at the end.
        if (thrown instanceof Refused && thrown.code === "CURSOR_INVALID") {
          this.open();
          return;
        }
        this.#set({ state: this.#now.lines.length === 0 ? "failed" : this.#now.state, problem: thrown });
      }
    });
  }

  #set(change: Partial<Loaded>): void {
    this.#now = { ...this.#now, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function contentOf(page: Page): Pick<Loaded, "lines" | "hasBefore" | "hasAfter" | "pocket"> {
  return {
    lines: toLines(page),
    hasBefore: page.has_more_before,
    hasAfter: page.has_more_after,
    pocket: page.pocket,
  };
}

function toLines(page: Page): Told[] {
  return page.entries.map((line, n) => ({ line, meta: page.meta[n]! }));
}
