import type { App } from "../../app/call.ts";
import type { CallOptions } from "../../app/compose/compose.ts";

/**
 * Builds what is missing or stale in the index before a call reads it, where the server may. Calls that come together
 * take turns: only one process builds at a time, and the others would be refused as busy.
 */
export class FreshIndex {
  readonly #app: App;
  #last: Promise<unknown> = Promise.resolve();

  constructor(app: App) {
    this.#app = app;
  }

  /** Ends when the index is what the files are now; one that is current costs a look at each file. */
  async ensure(options: CallOptions): Promise<void> {
    const before = this.#last;
    const mine = (async () => {
      await before;
      await this.#app.call("context.index-build", {}, options);
    })();
    // Whoever comes next waits for the end of this turn, however it ends.
    this.#last = mine.catch(() => undefined);
    await mine;
  }
}
