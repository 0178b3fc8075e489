import type { LineageRow } from "../ports.ts";

/** Stretches of rows that a world is read from at most, its own included; a fork that had more gets rows of its own. */
export const MAX_SEGMENTS = 32;

/** Where a fork begins: numbers of the last line and the last message that it shares. */
interface ForkPoint {
  readonly wseq: number;
  readonly message: number;
}

/** Whose rows a fork of a world shares, given whose rows that world shares itself. Oldest first, none of them empty. */
export function shareRows(parent: number, lineage: readonly LineageRow[], { wseq, message }: ForkPoint): LineageRow[] {
  const shared: LineageRow[] = [];
  let last = { wseq: 0, message: 0 };
  const open = Number.MAX_SAFE_INTEGER;
  for (const row of [...lineage, { ancestor: parent, upto_wseq: open, upto_message: open }]) {
    const upto = { wseq: Math.min(row.upto_wseq, wseq), message: Math.min(row.upto_message, message) };
    if (upto.wseq === last.wseq && upto.message === last.message) continue;
    shared.push({ ancestor: row.ancestor, upto_wseq: upto.wseq, upto_message: upto.message });
    last = upto;
  }
  // A fork of a world without lines shares nothing, which is not the same as having rows of its own for everything.
  return shared.length > 0 ? shared : [{ ancestor: parent, upto_wseq: 0, upto_message: 0 }];
}
