import { askBytes, Refused, Unreachable } from "../../../api/client.ts";
import { scriptUrl } from "../../../app/script-url.ts";
import type { TerminalAnswer, TerminalRequest, TerminalView } from "../../../workers/terminal.ts";
import workerUrl from "../../../workers/terminal.ts?worker&url";

/** Seconds that the server may wait for the next byte. */
const WAIT_S = 15;
/** Whoever is further behind than this skips to the end: what is on the screen must be what happens now. */
const MOST_BEHIND = 4 * 1024 * 1024;
const KEPT_BEHIND = 1024 * 1024;
const AGAIN_MS = 1000;

export interface Followed {
  readonly view: TerminalView | null;
  /** Bytes that were recorded, and whether there will be more. */
  readonly size: number;
  readonly ended: boolean;
  readonly skipped: number;
  /** Bytes that were printed before what is shown, and that the record no longer has. */
  readonly lost: number;
  readonly problem: unknown;
}

/** What is printed, through an emulator in a worker: at most one message of visible rows for each frame that is drawn. */
export class OutputFollower {
  readonly #run: string;
  readonly #tell: (now: Followed) => void;
  readonly #stop = new AbortController();
  readonly #worker: Worker;
  #now: Followed = { view: null, size: 0, ended: false, skipped: 0, lost: 0, problem: null };
  #looking: { readonly from: number | null; readonly rows: number } = { from: null, rows: 60 };
  #frame = 0;
  #isAsked = false;
  #written: (() => void) | null = null;

  constructor(run: string, tell: (now: Followed) => void) {
    this.#run = run;
    this.#tell = tell;
    this.#worker = new Worker(scriptUrl(workerUrl) as string, { type: "module" });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<TerminalAnswer>) => {
      if ("written" in data) {
        this.#written?.();
        this.#draw();
        return;
      }
      this.#isAsked = false;
      this.#set({ view: data.view });
    });
    // A worker that fails to load says so here and nowhere else.
    this.#worker.addEventListener("error", (event) => this.#set({ problem: new Error(event.message) }));
    void this.#follow();
  }

  /** Looks at rows from here on; null follows the end. */
  look(from: number | null, rows: number): void {
    this.#looking = { from, rows };
    this.#draw();
  }

  close(): void {
    this.#stop.abort();
    cancelAnimationFrame(this.#frame);
    this.#worker.terminate();
    this.#written?.();
  }

  #set(change: Partial<Followed>): void {
    if (this.#stop.signal.aborted) return;
    this.#now = { ...this.#now, ...change };
    this.#tell(this.#now);
  }

  #draw(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      // The answer to the last question comes first.
      if (this.#isAsked) return this.#draw();
      this.#isAsked = true;
      this.#worker.postMessage(this.#looking satisfies TerminalRequest);
    });
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    for (let from = 0; !signal.aborted; ) {
      try {
        const path = `/runs/${encodeURIComponent(this.#run)}/output?of=output&from=${from}&wait=${WAIT_S}`;
        const answer = await askBytes(path, signal);
        const number = (name: string) => Number(answer.headers.get(name) ?? "0");
        const [size, next] = [number("verbatim-size"), number("verbatim-next")];
        const first = number("verbatim-first");
        const ended = answer.headers.get("verbatim-ended") === "true";
        const bytes = await answer.arrayBuffer();
        this.#set({ size, ended, problem: null });
        if (size - next > MOST_BEHIND) {
          from = size - KEPT_BEHIND;
          this.#worker.postMessage({ reset: true } satisfies TerminalRequest);
          this.#set({ skipped: from });
          continue;
        }
        // Between the beginning of something too long and its newest nothing is kept.
        if (first > from) this.#set({ lost: this.#now.lost + first - from });
        from = next;
        if (bytes.byteLength > 0) await this.#write(bytes);
        if (ended && next >= size) return;
      } catch (thrown) {
        if (signal.aborted) return;
        this.#set({ problem: thrown });
        // Silence and an ended session pass; any other refusal stays one.
        const passes = thrown instanceof Unreachable || (thrown instanceof Refused && thrown.status === 401);
        if (!passes) return;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** The next piece is fetched when this one was taken in: nothing piles up. */
  #write(bytes: ArrayBuffer): Promise<void> {
    return new Promise((resolve) => {
      this.#written = () => {
        this.#written = null;
        resolve();
      };
      this.#worker.postMessage({ write: bytes } satisfies TerminalRequest, [bytes]);
    });
  }
}
