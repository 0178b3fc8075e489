import type { LedgerEntry, LineQuote, Range } from "../contracts/context.ts";
import { renderLine } from "../contracts/lint.ts";
import type { Cast } from "../people/cast.ts";
import type { Graphemes, Tokenizer } from "../ports.ts";

interface Ports {
  readonly graphemes: Graphemes;
  readonly tokenizer: Tokenizer;
}

const INVISIBLE = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/**
 * A line as a frame quotes it: whole when its rendered form costs at most the cap, else its first graphemes within half of
 * the cap and its last within the other half. Both parts are exact; there is always something to read.
 */
export function quoteLine({ graphemes, tokenizer }: Ports, cast: Cast, entry: LedgerEntry, cap: number): LedgerEntry {
  const rendered = renderLine(cast, { ...entry, quote: null });
  if (tokenizer.count(rendered) <= cap) return entry;
  const label = rendered.length - entry.text.length;
  const key = `${cap} ${tokenizer.name} ${label} ${rendered}`;
  let quote = latest.get(key);
  if (quote === undefined) {
    quote = cut({ graphemes, tokenizer }, rendered, label, cap);
    if (latest.size >= KEEP_QUOTES) latest.delete(latest.keys().next().value!);
    latest.set(key, quote);
  }
  return { ...entry, quote };
}

// A long line is quoted in every frame after it, in every pass; to find its graphemes takes the longest.
const latest = new Map<string, LineQuote>();
const KEEP_QUOTES = 64;

function cut({ graphemes, tokenizer }: Ports, rendered: string, label: number, cap: number): LineQuote {
  const bounds = boundsOf(graphemes, rendered);
  const half = Math.floor(cap / 2);
  const last = bounds.length - 1;
  const head = bounds[countWhile(last, (i) => tokenizer.count(rendered.slice(0, bounds[i])) <= half)]!;
  const fitting = countWhile(last, (i) => tokenizer.count(rendered.slice(bounds[last - i])) <= half);
  const tail = Math.max(head, bounds[last - fitting]!);
  const parts: Range[] = [];
  if (!INVISIBLE.test(rendered.slice(0, head)) || !INVISIBLE.test(rendered.slice(tail))) {
    if (head > 0) parts.push([0, head]);
    if (tail < rendered.length) parts.push([tail, rendered.length]);
  } else {
    parts.push(firstVisible(rendered));
  }
  return toQuote(rendered, label, parts);
}

/** Where graphemes begin, and the end. */
function boundsOf(graphemes: Graphemes, text: string): number[] {
  const bounds = [0];
  for (const cluster of graphemes.split(text)) bounds.push(bounds.at(-1)! + cluster.length);
  return bounds;
}

/** The largest number up to `most` for which something that only ever stops holding still holds. */
function countWhile(most: number, holds: (count: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** One character that a reader can see; a line without any was never written. */
function firstVisible(text: string): Range {
  let at = 0;
  for (const character of text) {
    if (!INVISIBLE.test(character)) return [at, at + character.length];
    at += character.length;
  }
  return [0, text.length];
}

function toQuote(rendered: string, label: number, parts: readonly Range[]): LineQuote {
  const text = rendered.slice(label);
  const ranges = parts
    .map(([from, to]): Range => [Math.max(0, from - label), Math.max(0, to - label)])
    .filter(([from, to]) => to > from);
  return {
    rendered: parts.map(([from, to]) => rendered.slice(from, to)).join("\n"),
    text: ranges.map(([from, to]) => text.slice(from, to)).join("\n"),
    ranges,
  };
}
