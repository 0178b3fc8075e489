import {
  Float,
  isJsonObject,
  type JsonValue,
  sortedByCodePoint,
  toPointerToken,
} from "../../../core/canonical/index.ts";
import { TO_EVERYBODY, toThose } from "../contracts/visibility.ts";
import { WORLD } from "../people/cast.ts";
import { type ImportedLine, isBlank, type LoreAudience } from "./lines.ts";

interface LoreEntry {
  readonly from: string;
  readonly content: string;
  readonly order: number;
  readonly enabled: boolean;
}

interface LoreLines {
  readonly lines: readonly ImportedLine[];
  readonly not_imported: readonly string[];
}

/** Lore lines of a book with an array of entries, by (insertion_order, position). Keys and regexes are never run. */
export function readFirstLoreBook(book: JsonValue | undefined, where: string, audience: LoreAudience): LoreLines {
  const entries = isJsonObject(book) && Array.isArray(book["entries"]) ? (book["entries"] as readonly JsonValue[]) : [];
  const read = entries.map((item, i) => readEntry(item, `${where}/entries/${i}`, "insertion_order"));
  return toLines(read, audience);
}

/** Lore lines of a world-info file, whose entries are an object: by order, then by key. */
export function readFirstWorldInfo(entries: { readonly [key: string]: JsonValue }, audience: LoreAudience): LoreLines {
  const read = sortedByCodePoint(Object.keys(entries)).map((key) =>
    readEntry(entries[key]!, `/entries/${toPointerToken(key)}`, "order"),
  );
  return toLines(read, audience);
}

function toLines(entries: readonly LoreEntry[], audience: LoreAudience): LoreLines {
  const visibility = audience === "public" ? TO_EVERYBODY : toThose([WORLD]);
  const kept = entries.filter(({ enabled, content }) => enabled && !isBlank(content));
  const ordered = kept.map((entry, i) => ({ entry, i })).sort((a, b) => a.entry.order - b.entry.order || a.i - b.i);
  return {
    lines: ordered.map(({ entry }) => ({
      author: { author_id: WORLD, author_class: "WORLD" },
      channel: "VOICE",
      text: entry.content,
      visibility,
      from: entry.from,
    })),
    not_imported: entries.filter(({ enabled, content }) => !enabled && !isBlank(content)).map(({ from }) => from),
  };
}

function readEntry(value: JsonValue, where: string, orderField: "insertion_order" | "order"): LoreEntry {
  const entry = isJsonObject(value) ? value : {};
  const content = typeof entry["content"] === "string" ? entry["content"] : "";
  return {
    from: `${where}/content`,
    content,
    order: toNumber(entry[orderField]),
    enabled: entry["enabled"] !== false && entry["disable"] !== true,
  };
}

function toNumber(value: JsonValue | undefined): number {
  if (value instanceof Float) return value.value;
  return typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : 0;
}
