import {
  decodeUtf8,
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  utf8Length,
} from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { MAX_TEXT_BYTES } from "../contracts/fields.ts";
import { MAX_IMPORT_ENTRIES } from "../contracts/write-bundle.ts";
import type { Cast } from "../people/cast.ts";
import type { Inflater } from "../ports.ts";
import { MAX_LEVELS } from "../writer/output.ts";
import { readCard } from "./card.ts";
import { readChat } from "./chat.ts";
import { findCard } from "./find-card.ts";
import { readFirstLoreBook, readFirstWorldInfo } from "./first-lore.ts";
import { type ImportOptions, type ImportPlan, isBlank, Losses, NOTHING_BESIDES } from "./lines.ts";
import { type LoreLines, readLoreBook, readWorldInfo } from "./lore.ts";
import { expandMacros, namesChar } from "./macros.ts";
import { importTooLarge, unknownFormat } from "./refusals.ts";
import { parsePlainly, requireWellFormed } from "./well-formed.ts";

export const MAX_IMPORT_BYTES = 32 * 1024 * 1024;
const MAX_JSON_BYTES = 8 * 1024 * 1024;
/** Lines of a chat; each ten thousand of them are a record of their own. */
const MAX_CHAT_LINES = 1_000_000;

/** What a card, lorebook or chat would write. Nothing in the file is run and nothing is fetched. */
export function readImport(cast: Cast, bytes: Uint8Array, options: ImportOptions, inflater: Inflater): ImportPlan {
  if (bytes.length > MAX_IMPORT_BYTES) throw importTooLarge(`the file has ${bytes.length} bytes`);
  const { json, picture } = findCard(inflater, bytes, options.rules ?? 1);
  const text = decodeUtf8(json);
  if (text === null) throw unknownFormat("the file is not UTF-8 text");
  const plan = readText(
    cast,
    options.rules === 2 && text.startsWith("\ufeff") ? text.slice(1) : text,
    json.length,
    options,
  );
  requireWritable(plan, options);
  return picture === null ? plan : { ...plan, picture };
}

/** Refuses what a world cannot hold. */
export function requireWritable(plan: ImportPlan, { rules }: ImportOptions): void {
  const most = plan.version === "CHAT" && rules === 2 ? MAX_CHAT_LINES : MAX_IMPORT_ENTRIES;
  if (plan.lines.length > most) throw importTooLarge(`the file has ${plan.lines.length} lines`);
  for (const { text: line, from } of plan.lines) {
    if (utf8Length(line) > MAX_TEXT_BYTES)
      throw importTooLarge(`the text at ${from} is longer than ${MAX_TEXT_BYTES} bytes`, from);
    if (line.includes("\0")) throw new VerbatimError("TEXT_HAS_NUL", { where: from });
  }
  for (const { display_name } of plan.people) {
    if (display_name.includes("\0")) throw new VerbatimError("TEXT_HAS_NUL", { where: "name" });
  }
}

function readText(cast: Cast, text: string, size: number, options: ImportOptions): ImportPlan {
  // One value of such a size is refused before it is parsed; a chat is parsed line by line.
  if (size > MAX_JSON_BYTES) {
    const firstLine = text.slice(0, Math.max(0, text.indexOf("\n")));
    if (firstLine === "" || tryJson(firstLine, 1) === null) throw importTooLarge(`the JSON has ${size} bytes`);
    return readChat(cast, text, options);
  }
  const value = tryJson(text, options.rules ?? 1);
  return value === null ? readChat(cast, text, options) : readJson(cast, value, options);
}

function tryJson(text: string, rules: 1 | 2): JsonValue | null {
  try {
    return parseJson(text, { maxDepth: MAX_LEVELS });
  } catch (thrown) {
    // A chat is one object a line, so as a whole it is not JSON.
    if (isVerbatimError(thrown) && thrown.code === "JSON_SYNTAX") return null;
    // Half of a pair in a chat is told by its line. A plain parser takes it, and then the place can be found.
    if (isVerbatimError(thrown) && thrown.code === "JSON_LONE_SURROGATE" && rules === 2) {
      const value = parsePlainly(text);
      if (value === null) return null;
      requireWellFormed(value);
    }
    throw thrown;
  }
}

function readJson(cast: Cast, value: JsonValue, options: ImportOptions): ImportPlan {
  if (!isJsonObject(value)) throw unknownFormat("the file is not a JSON object");
  const { entries, data } = value;
  const spec = value["spec"] ?? undefined;
  const isBook = spec === "lorebook_v3" || (spec === undefined && Array.isArray(entries));
  if (isBook || (spec === undefined && isJsonObject(entries))) {
    const title = toTitle(isJsonObject(data) ? data["name"] : value["name"]);
    const plan = options.rules === 2 ? readLore(cast, value, options) : readFirstLore(value, options);
    return { ...plan, title, present_after: cast.present };
  }
  if (spec === undefined && typeof value["mes"] === "string") return readChat(cast, formatCanonical(value), options);
  return readCard(cast, value, options);
}

type BookPlan = Omit<ImportPlan, "title" | "present_after">;

function readFirstLore(value: JsonObject, { lore: audience }: ImportOptions): BookPlan {
  const { entries, data, spec } = value;
  const made = (version: string, { lines, not_imported }: ReturnType<typeof readFirstLoreBook>): BookPlan => ({
    ...NOTHING_BESIDES,
    version,
    people: [],
    lines,
    not_imported,
  });
  if (spec === "lorebook_v3") return made("LOREBOOK", readFirstLoreBook(data, "/data", audience));
  if (isJsonObject(entries)) return made("WORLD_INFO", readFirstWorldInfo(entries, audience));
  return made("LOREBOOK", readFirstLoreBook(value, "", audience));
}

/** Lore that no card came with: nobody is its character. */
function readLore(cast: Cast, value: JsonObject, { lore: audience, expand_names }: ImportOptions): BookPlan {
  requireWellFormed(value);
  const losses = new Losses();
  const expand = (text: string, where: string): string => {
    if (!expand_names) return text;
    if (namesChar(text)) losses.add("char_macro", where);
    return expandMacros(text, { user: cast.operator_name, char: null });
  };
  const reading = { audience, expand, losses };
  const { entries, data, spec } = value;
  const made = (version: string, { lore, not_imported }: LoreLines): BookPlan => ({
    ...NOTHING_BESIDES,
    version,
    people: [],
    lines: lore.map(({ line }) => line),
    not_imported,
    background: lore.map((_, i) => i),
    lore: lore.map(({ rule }, index) => ({ index, ...rule })),
    lost: losses.list(),
  });
  if (spec === "lorebook_v3") return made("LOREBOOK", readLoreBook(data, "/data", reading));
  if (isJsonObject(entries)) return made("WORLD_INFO", readWorldInfo(entries, reading));
  return made("LOREBOOK", readLoreBook(value, "", reading));
}

function toTitle(name: JsonValue | undefined): string | null {
  return typeof name === "string" && !isBlank(name) && name.isWellFormed() ? [...name].slice(0, 80).join("") : null;
}
