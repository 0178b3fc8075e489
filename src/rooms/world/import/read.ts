import {
  decodeUtf8,
  formatCanonical,
  isJsonObject,
  type JsonValue,
  parseJson,
  utf8Length,
} from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { MAX_TEXT_BYTES } from "../contracts/fields.ts";
import type { Cast } from "../people/cast.ts";
import type { Inflater } from "../ports.ts";
import { MAX_LEVELS } from "../writer/output.ts";
import { type CardOptions, readCard, unknownFormat } from "./card.ts";
import { isZip, readCharxCard } from "./charx.ts";
import { readChat } from "./chat.ts";
import { type ImportPlan, isBlank } from "./lines.ts";
import { readLoreBook, readWorldInfo } from "./lore.ts";
import { isPng, readPngCard } from "./png.ts";

export const MAX_IMPORT_BYTES = 32 * 1024 * 1024;
const MAX_JSON_BYTES = 8 * 1024 * 1024;
const MAX_LINES = 10_000;

/** What a card, lorebook or chat would write. Nothing in the file is run and nothing is fetched. */
export function readImport(cast: Cast, bytes: Uint8Array, options: CardOptions, inflater: Inflater): ImportPlan {
  if (bytes.length > MAX_IMPORT_BYTES) throw tooLarge(`the file has ${bytes.length} bytes`);
  const json = isPng(bytes) ? readPngCard(inflater, bytes) : isZip(bytes) ? readCharxCard(inflater, bytes) : bytes;
  const text = decodeUtf8(json);
  if (text === null) throw unknownFormat("the file is not UTF-8 text");
  const plan = readText(cast, text, json.length, options);
  if (plan.lines.length > MAX_LINES) throw tooLarge(`the file has ${plan.lines.length} lines`);
  for (const { text: line, from } of plan.lines) {
    if (utf8Length(line) > MAX_TEXT_BYTES) throw tooLarge(`the text at ${from} is longer than ${MAX_TEXT_BYTES} bytes`);
    if (line.includes("\0")) throw new VerbatimError("TEXT_HAS_NUL", { where: from });
  }
  return plan;
}

function readText(cast: Cast, text: string, size: number, options: CardOptions): ImportPlan {
  // One value of such a size is refused before it is parsed; a chat is parsed line by line.
  if (size > MAX_JSON_BYTES) {
    const firstLine = text.slice(0, Math.max(0, text.indexOf("\n")));
    if (firstLine === "" || tryJson(firstLine) === null) throw tooLarge(`the JSON has ${size} bytes`);
    return readChat(cast, text);
  }
  const value = tryJson(text);
  return value === null ? readChat(cast, text) : readJson(cast, value, options);
}

function tryJson(text: string): JsonValue | null {
  try {
    return parseJson(text, { maxDepth: MAX_LEVELS });
  } catch (thrown) {
    // A chat is one object a line, so as a whole it is not JSON.
    if (isVerbatimError(thrown) && thrown.code === "JSON_SYNTAX") return null;
    throw thrown;
  }
}

function readJson(cast: Cast, value: JsonValue, options: CardOptions): ImportPlan {
  if (!isJsonObject(value)) throw unknownFormat("the file is not a JSON object");
  const { entries, data } = value;
  const spec = value["spec"] ?? undefined;
  const lore = (version: string, { lines, not_imported }: ReturnType<typeof readLoreBook>): ImportPlan => ({
    version,
    title: toTitle(isJsonObject(data) ? data["name"] : value["name"]),
    people: [],
    present_after: cast.present,
    lines,
    not_imported,
  });
  if (spec === "lorebook_v3") return lore("LOREBOOK", readLoreBook(data, "/data", options.lore));
  if (spec === undefined && isJsonObject(entries)) return lore("WORLD_INFO", readWorldInfo(entries, options.lore));
  if (spec === undefined && Array.isArray(entries)) return lore("LOREBOOK", readLoreBook(value, "", options.lore));
  if (spec === undefined && typeof value["mes"] === "string") return readChat(cast, formatCanonical(value));
  return readCard(cast, value, options);
}

function toTitle(name: JsonValue | undefined): string | null {
  return typeof name === "string" && !isBlank(name) ? [...name].slice(0, 80).join("") : null;
}

function tooLarge(message: string): VerbatimError {
  return new VerbatimError("IMPORT_TOO_LARGE", { message });
}
