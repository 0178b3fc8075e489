import type { CapHit, Caps, HeldBy } from "../../../core/contracts/caps.ts";
import type { WatchedCaps } from "../ports.ts";

/** What became of the caps of a command. */
export interface CapsOutcome {
  readonly wanted: Caps;
  /** What saw to each; null: the command was never started. */
  readonly mechanism: HeldBy | null;
  /** The first that was too much. */
  readonly hit: CapHit | null;
}

/** Listens to what a guard says about the caps of one command. */
export class RunCaps {
  #outcome: CapsOutcome;

  constructor(wanted: Caps) {
    this.#outcome = { wanted, mechanism: null, hit: null };
  }

  get outcome(): CapsOutcome {
    return this.#outcome;
  }

  /** For the launch; `onHeld` also hears it before the command starts. */
  watch(onHeld?: (held: HeldBy) => void): WatchedCaps {
    return {
      ...this.#outcome.wanted,
      onHeld: (mechanism) => {
        this.#outcome = { ...this.#outcome, mechanism };
        onHeld?.(mechanism);
      },
      onHit: (hit) => {
        this.#outcome = { ...this.#outcome, hit };
      },
    };
  }
}
