import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import type { Clock, Ids, SyncCrypto } from "../../src/core/ports.ts";

/** 2025-01-02T03:04:05.000Z */
export const START_MS = 1_735_787_045_000;

/** A clock that tests move by hand. */
export class HandClock implements Clock {
  #now: number;

  constructor(now = START_MS) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

/** Identifiers that count: the same in every run. */
export function countingIds(): Ids {
  let count = 0;
  return { uuid: () => `00000000-0000-4000-8000-${String(count++).padStart(12, "0")}` };
}

/** Ports that give the same results in every run. */
export function fixedPorts(): { crypto: SyncCrypto; clock: HandClock; ids: Ids } {
  return { crypto: nodeCrypto, clock: new HandClock(), ids: countingIds() };
}
