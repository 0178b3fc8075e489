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
 * Where the value of an RFC 6901 pointer stands in a JSON text that is known to parse: the place of its key in
 * an object, of the value in an array. A pointer that leads nowhere gives the nearest enclosing place.
 */
export function locatePointer(text: string, pointer: string): TextPlace {
  const tokens = pointer.split("/").slice(1);
  let at = skipSpace(text, 0);
  let found = at;
  for (const token of tokens) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const member = text[at] === "{" ? findMember(text, at, key) : text[at] === "[" ? findItem(text, at, key) : null;
    if (member === null) break;
    found = member.place;
    at = member.value;
  }
  return toPlace(text, found);
}

interface Member {
  readonly place: number;
  readonly value: number;
}

function findMember(text: string, open: number, wanted: string): Member | null {
  let at = skipSpace(text, open + 1);
  while (text[at] === '"') {
    const end = skipValue(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (JSON.parse(text.slice(at, end)) === wanted) return { place: at, value };
    at = skipSpace(text, skipValue(text, value));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return null;
}

function findItem(text: string, open: number, wanted: string): Member | null {
  let at = skipSpace(text, open + 1);
  for (let index = 0; at < text.length && text[at] !== "]"; index++) {
    if (String(index) === wanted) return { place: at, value: at };
    at = skipSpace(text, skipValue(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return null;
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

function toPlace(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
