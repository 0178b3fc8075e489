import {
  Float,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedByCodePoint,
  toPointerToken,
} from "../../../core/canonical/index.ts";
import type { LoreRule } from "../contracts/records.ts";
import { TO_EVERYBODY, toThose } from "../contracts/visibility.ts";
import { WORLD } from "../people/cast.ts";
import { MAX_KEY, MAX_KEYS } from "../people/lore-writing.ts";
import { type ImportedLine, isBlank, type LoreAudience, type Losses } from "./lines.ts";

/** A line of lore and what brings it. */
export interface ReadLore {
  readonly line: ImportedLine;
  readonly rule: LoreRule;
}

export interface LoreLines {
  readonly lore: readonly ReadLore[];
  readonly not_imported: readonly string[];
}

/** Where the two kinds of books keep the same. */
interface Names {
  readonly keys: string;
  readonly also: string;
  readonly order: string;
  /** Members of a book are read from here too. */
  readonly inner: string | null;
}

const BOOK: Names = { keys: "keys", also: "secondary_keys", order: "insertion_order", inner: "extensions" };
const WORLD_INFO: Names = { keys: "key", also: "keysecondary", order: "order", inner: null };

interface Reading {
  readonly audience: LoreAudience;
  /** Puts names into a text that stands somewhere. */
  readonly expand: (text: string, where: string) => string;
  readonly losses: Losses;
}

/** Lore lines of a book with an array of entries, by (insertion_order, position). */
export function readLoreBook(book: JsonValue | undefined, where: string, reading: Reading): LoreLines {
  const entries = isJsonObject(book) && Array.isArray(book["entries"]) ? (book["entries"] as readonly JsonValue[]) : [];
  if (isJsonObject(book) && book["recursive_scanning"] === true)
    reading.losses.add("recursion", `${where}/recursive_scanning`);
  return readEntries(
    entries.map((entry, i) => [`${where}/entries/${i}`, entry] as const),
    BOOK,
    reading,
  );
}

/** Lore lines of a world-info file, whose entries are an object: by order, then by key. */
export function readWorldInfo(entries: JsonObject, reading: Reading): LoreLines {
  const named = sortedByCodePoint(Object.keys(entries)).map(
    (key) => [`/entries/${toPointerToken(key)}`, entries[key]!] as const,
  );
  return readEntries(named, WORLD_INFO, reading);
}

function readEntries(
  entries: readonly (readonly [string, JsonValue])[],
  names: Names,
  { audience, expand, losses }: Reading,
): LoreLines {
  const visibility = audience === "public" ? TO_EVERYBODY : toThose([WORLD]);
  const lore: ReadLore[] = [];
  const not_imported: string[] = [];
  for (const [where, value] of entries) {
    const entry = isJsonObject(value) ? value : {};
    const text = typeof entry["content"] === "string" ? entry["content"] : "";
    if (isBlank(text)) continue;
    const from = `${where}/content`;
    if (entry["enabled"] === false || entry["disable"] === true) {
      not_imported.push(from);
      continue;
    }
    const author = { author_id: WORLD, author_class: "WORLD" } as const;
    const line: ImportedLine = { author, channel: "VOICE", text: expand(text, from), visibility, from };
    lore.push({ line, rule: readRule(entry, where, names, expand, losses) });
  }
  const ordered = lore.map((one, i) => ({ one, i })).sort((a, b) => a.one.rule.order - b.one.rule.order || a.i - b.i);
  return { lore: ordered.map(({ one }) => one), not_imported };
}

function readRule(entry: JsonObject, where: string, names: Names, expand: Reading["expand"], losses: Losses): LoreRule {
  const extensions = names.inner === null ? undefined : entry[names.inner];
  const inner = isJsonObject(extensions) ? extensions : {};
  const member = (name: string) => (Object.hasOwn(inner, name) ? inner[name] : entry[name]);
  const isPattern = entry["use_regex"] === true;
  const readKeys = (name: string): string[] => {
    const list = Array.isArray(entry[name]) ? (entry[name] as readonly JsonValue[]) : [];
    const keys: string[] = [];
    for (const [i, key] of list.entries()) {
      if (typeof key !== "string" || isBlank(key)) continue;
      const at = `${where}/${name}/${i}`;
      const word = expand(key, at).trim();
      // Patterns are never run: matched as words they would mean something else.
      if (isPattern || /^\/.+\/[a-z]*$/s.test(key)) losses.add("regex_key", at);
      else if (word.length > MAX_KEY) losses.add("long_key", at);
      else if (keys.length >= MAX_KEYS) losses.add("too_many_keys", at);
      else if (!keys.includes(word)) keys.push(word);
    }
    return keys;
  };
  const keys = readKeys(names.keys);
  const also = entry["selective"] === true ? readKeys(names.also) : [];
  const logic = member("selectiveLogic");
  if (also.length > 1 && logic === NOT_ALL) losses.add("not_all", where);
  if (member("useProbability") !== false && isBelow(member("probability"), 100)) losses.add("probability", where);
  if (isSet(member("delayUntilRecursion") ?? member("delay_until_recursion"))) losses.add("recursion", where);
  if (member("caseSensitive") === true || member("case_sensitive") === true) losses.add("case", where);
  return {
    keys,
    also,
    match: logic === AND_ALL ? "all" : logic === NOT_ANY || logic === NOT_ALL ? "not" : "any",
    always: entry["constant"] === true,
    order: toOrder(entry[names.order]),
    enabled: true,
  };
}

// How the further keys of an entry narrow it, as the program that writes these files counts. Not all of several keys is
// narrowed to none of them.
const NOT_ALL = 1;
const NOT_ANY = 2;
const AND_ALL = 3;

function isSet(value: JsonValue | undefined): boolean {
  return value === true || (typeof value === "number" && value > 0);
}

function isBelow(value: JsonValue | undefined, limit: number): boolean {
  const number = value instanceof Float ? value.value : value;
  return typeof number === "number" && number < limit;
}

const MAX_ORDER = 1_000_000_000;

function toOrder(value: JsonValue | undefined): number {
  const number = value instanceof Float ? value.value : typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number") return 0;
  return Math.trunc(Math.max(-MAX_ORDER, Math.min(MAX_ORDER, number)));
}
