import { GUARD_CLASSES, type GuardClass } from "../../../core/contracts/guards.ts";

/** What a command said about writes that the guard refused. */
export interface Refusals {
  readonly lines: number;
  /** The first of them, cut where they are long. */
  readonly shown: readonly string[];
}

const NO_REFUSALS: Refusals = { lines: 0, shown: [] };

const SHOWN = 5;
const MAX_LINE = 200;

/**
 * Lines of a command's standard error in which it complains of a refused write. The kernel tells nobody but the command,
 * so this is all that can be known: a command that says nothing, or says it in another language, is not counted.
 */
export function readRefusals(guard: GuardClass, stderr: Uint8Array): Refusals {
  const words: RegExp | null = GUARD_CLASSES[guard].refusal;
  if (words === null || stderr.length === 0) return NO_REFUSALS;
  const text = new TextDecoder().decode(stderr);
  const shown: string[] = [];
  let lines = 0;
  words.lastIndex = 0;
  for (let found = words.exec(text); found !== null; found = words.exec(text)) {
    const next = text.indexOf("\n", found.index);
    const end = next === -1 ? text.length : next;
    lines++;
    if (shown.length < SHOWN) shown.push(cut(text, text.lastIndexOf("\n", found.index) + 1, end));
    words.lastIndex = end;
  }
  return { lines, shown };
}

function cut(text: string, start: number, end: number): string {
  const line = text.slice(start, Math.min(end, start + MAX_LINE)).toWellFormed();
  return end - start > MAX_LINE ? `${line}...` : line;
}
