import type { UserTerminal } from "../../../rooms/catalytic/index.ts";
import type { Size } from "./control-ports.ts";

const USUAL: Size = { rows: 24, columns: 80 };

/** One terminal of an agent for several people: the one who started it, and all who attached. The last one that typed sets the size. */
export class SharedTerminal implements UserTerminal {
  readonly errors: boolean;
  readonly #own: UserTerminal | null;
  /** Null: that of the terminal the run was started in. */
  #size: Size | null = null;
  #onInput: (bytes: Uint8Array) => void = () => undefined;
  #onResize: () => void = () => undefined;

  constructor(own: UserTerminal | null) {
    this.#own = own;
    this.errors = own?.errors ?? true;
  }

  size(): Size {
    return this.#size ?? this.#own?.size() ?? USUAL;
  }

  connect(onInput: (bytes: Uint8Array) => void, onResize: () => void): (onOtherScreen: boolean) => void {
    this.#onInput = onInput;
    this.#onResize = onResize;
    const leave = this.#own?.connect(
      (bytes) => {
        this.#take(null);
        onInput(bytes);
      },
      () => this.#take(null, true),
    );
    return (onOtherScreen) => {
      this.#onInput = () => undefined;
      this.#onResize = () => undefined;
      leave?.(onOtherScreen);
    };
  }

  /** Somebody who attached typed. */
  type(bytes: Uint8Array, size: Size | null): void {
    if (size !== null) this.#take(size);
    this.#onInput(bytes);
  }

  /** Somebody who attached has a terminal of this size now. */
  resize(size: Size): void {
    this.#take(size, true);
  }

  #take(size: Size | null, isNew = false): void {
    const before = this.size();
    this.#size = size;
    const now = this.size();
    if (isNew || now.rows !== before.rows || now.columns !== before.columns) this.#onResize();
  }
}
