import type { SyncCrypto } from "../../../core/ports.ts";
import { type Lines, type Numbers, toLines, toNumbers } from "../people/audience.ts";
import { type Effects, mergeEffects, type ReducibleRecord, reduceRecord } from "./reduce.ts";
import type { WorldState } from "./state.ts";

/** A world before a record, as far as rows depend on it. */
export interface WorldBefore {
  readonly state: WorldState;
  readonly numbers: Numbers;
}

/** A record at its position in its stream. */
export interface PlacedRecord {
  readonly record: ReducibleRecord;
  readonly position: number;
}

/** Everything that the tables hold because of some records: rows, who may see each line, and the keys of the index. */
export interface MadeRows {
  readonly effects: Effects;
  readonly lines: Lines;
}

/**
 * Makes what follows from records. A commit writes what it gives for one record, a fork or an import what it gives for all
 * of them, and verification compares the tables with the same; nothing else makes rows or keys, so none of them can differ.
 */
export function makeRows(
  crypto: SyncCrypto,
  before: WorldBefore | null,
  records: readonly [PlacedRecord, ...PlacedRecord[]],
): MadeRows {
  const [{ record, position }] = records;
  let effects = reduceRecord(before?.state ?? null, record, position);
  if (records.length > 1) {
    const all = [effects];
    for (let i = 1; i < records.length; i++) {
      const next = records[i]!;
      all.push(reduceRecord(all[i - 1]!.state, next.record, next.position));
    }
    effects = mergeEffects(all);
  }
  return { effects, lines: toLines(crypto, numbersAfter(before, effects), effects.entries) };
}

function numbersAfter(before: WorldBefore | null, { people, state }: Effects): Numbers {
  if (before === null) return toNumbers(state.settings, people);
  return people.length === 0 ? before.numbers : new Map([...before.numbers, ...toNumbers(state.settings, people)]);
}
