/** Line and column, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** RFC 6901: one reference token made safe for a pointer. */
export function toPointerToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Where the values of RFC 6901 pointers stand in a JSON text that is known to parse, in the order of the pointers: the
 * place of its key in an object, of the value in an array. A pointer that leads nowhere gives the nearest enclosing
 * place. Cost: one pass over the text, however many there are.
 */
export function locatePointers(text: string, pointers: readonly string[]): TextPlace[] {
  const root: Wanted = { parts: new Map(), place: skipSpace(text, 0) };
  const found = pointers.map((pointer) => wantPointer(root, pointer));
  visitValue(text, root.place, root);
  const offsets = found.map((chain) => chain.findLast(({ place }) => place !== NOWHERE)!.place);
  return toPlaces(text, offsets);
}

const NOWHERE = -1;

/** A value that someone asked for, and what is asked for inside it. */
interface Wanted {
  readonly parts: Map<string, Wanted>;
  place: number;
}

/** Enters a pointer and gives everything on the way to it. */
function wantPointer(root: Wanted, pointer: string): Wanted[] {
  const chain = [root];
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const { parts } = chain.at(-1)!;
    const part = parts.get(key) ?? { parts: new Map<string, Wanted>(), place: NOWHERE };
    parts.set(key, part);
    chain.push(part);
  }
  return chain;
}

/** Notes the places inside a value and gives the offset after it. */
function visitValue(text: string, start: number, wanted: Wanted | undefined): number {
  const open = text[start];
  if (wanted === undefined || wanted.parts.size === 0 || (open !== "{" && open !== "[")) return skipValue(text, start);
  const close = open === "{" ? "}" : "]";
  let at = skipSpace(text, start + 1);
  for (let index = 0; at < text.length && text[at] !== close; index++) {
    const place = at;
    const end = open === "{" ? skipValue(text, at) : at;
    const key = open === "{" ? (JSON.parse(text.slice(at, end)) as string) : String(index);
    const part = wanted.parts.get(key);
    if (part !== undefined) part.place = place;
    const value = open === "{" ? skipSpace(text, skipSpace(text, end) + 1) : at;
    at = skipSpace(text, visitValue(text, value, part));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return at + 1;
}

/** Offset after the value that starts at `start`, without recursion. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const character = text[at];
    if (character === undefined) return at;
    if (character === '"') {
      at++;
      while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      at++;
    } else if (character === "{" || character === "[") {
      depth++;
      at++;
    } else if (character === "}" || character === "]") {
      depth--;
      at++;
    } else if (depth === 0) {
      while (at < text.length && !/[\s,\]}]/.test(text[at]!)) at++;
    } else at++;
    if (depth <= 0) return at;
  }
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && " \t\n\r".includes(text[at]!)) at++;
  return at;
}

function toPlaces(text: string, offsets: readonly number[]): TextPlace[] {
  const places = new Map<number, TextPlace>();
  let line = 1;
  let lineStart = 0;
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    for (let end = text.indexOf("\n", lineStart); end !== -1 && end < offset; end = text.indexOf("\n", lineStart)) {
      line++;
      lineStart = end + 1;
    }
    places.set(offset, { line, column: offset - lineStart + 1 });
  }
  return offsets.map((offset) => places.get(offset)!);
}
