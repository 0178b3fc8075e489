import { HASH_SIGN, isAlphanumeric, isDigit, isLetter, SEMICOLON } from "./characters.ts";
import { ENTITY_TABLE } from "./entity-table.ts";

const LONGEST_NAME = 32;
const MOST_HEX_DIGITS = 6;
const MOST_DIGITS = 7;
const REPLACEMENT = "\ufffd";

// HTML reads the numbers 128 to 159 as Windows-1252 where that has a character; zeros stay as they are.
const WINDOWS_1252 = [
  0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0, 0,
  0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
];

let named: ReadonlyMap<string, string> | null = null;

/** The end of what has the form of an entity or numeric character reference at the `&` at an offset, or -1. */
export function scanEntity(text: string, at: number): number {
  let i = at + 1;
  if (text.charCodeAt(i) === HASH_SIGN) {
    const hex = (text.charCodeAt(i + 1) | 32) === 120;
    const start = i + (hex ? 2 : 1);
    const most = hex ? MOST_HEX_DIGITS : MOST_DIGITS;
    i = start;
    while (i - start < most && isDigitOf(text.charCodeAt(i), hex)) i++;
    return i > start && text.charCodeAt(i) === SEMICOLON ? i + 1 : -1;
  }
  if (!isLetter(text.charCodeAt(i))) return -1;
  const start = i;
  while (i - start < LONGEST_NAME && isAlphanumeric(text.charCodeAt(i))) i++;
  return i - start >= 2 && text.charCodeAt(i) === SEMICOLON ? i + 1 : -1;
}

/** The characters of an entity as `scanEntity` found it; an unknown name stays as it is. */
export function decodeEntity(entity: string): string {
  if (entity.charCodeAt(1) !== HASH_SIGN) {
    named ??= readTable();
    return named.get(entity.slice(1, -1)) ?? entity;
  }
  const hex = (entity.charCodeAt(2) | 32) === 120;
  const number = hex ? Number.parseInt(entity.slice(3, -1), 16) : Number.parseInt(entity.slice(2, -1), 10);
  if (number === 0 || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff)) return REPLACEMENT;
  const mapped = number >= 128 && number < 160 ? WINDOWS_1252[number - 128]! : 0;
  return String.fromCodePoint(mapped === 0 ? number : mapped);
}

function isDigitOf(code: number, hex: boolean): boolean {
  return isDigit(code) || (hex && (code | 32) >= 97 && (code | 32) <= 102);
}

function readTable(): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const line of ENTITY_TABLE) {
    for (const entry of line.split(" ")) {
      const [name, ...numbers] = entry.split(/[:+]/) as [string, ...string[]];
      map.set(name, String.fromCodePoint(...numbers.map((number) => Number.parseInt(number, 36))));
    }
  }
  return map;
}
