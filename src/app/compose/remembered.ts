import { formatTime } from "../../core/time.ts";
import type { Output } from "../operations.ts";
import type { Remembered } from "../studio/ports.ts";
import type { Composition } from "./compose.ts";

/** The long looks whose last result a page shows without taking another one. */
interface Looks {
  verified?: Remembered<Output<"ledger.verify">>;
  diagnosed?: Remembered<Output<"hall.doctor">>;
}

// As long as the workspace stays open: after a restart nobody has looked.
const looks = new WeakMap<Composition, Looks>();

/** Keeps what a look found, with the time it ended. */
export function remember<K extends keyof Looks>(
  composition: Composition,
  kind: K,
  found: NonNullable<Looks[K]>["found"],
): void {
  looks.set(composition, { ...looks.get(composition), [kind]: { at: formatTime(composition.clock.now()), found } });
}

/** What the last look of a kind found, or null. */
export function recall<K extends keyof Looks>(composition: Composition, kind: K): NonNullable<Looks[K]> | null {
  return looks.get(composition)?.[kind] ?? null;
}
