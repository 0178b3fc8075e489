import {
  encodeUtf8,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedByCodePoint,
} from "../../core/canonical/index.ts";
import { resolveContext } from "../../core/contracts/config/index.ts";
import { sourcePath } from "../../core/contracts/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { compileGlob } from "../../core/paths/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import { spaceScripts } from "../../core/text/index.ts";
import type { Section } from "./contracts/index.ts";
import { judgeFile } from "./index/index-survey.ts";
import type { SourceProblem } from "./ports.ts";
import { parseSearchQuery, type SearchQuery } from "./search/search-query.ts";
import { parseHeadingRef } from "./sections/heading-ref.ts";
import { formatSectionLines } from "./sections/section-index.ts";
import { SectionRecord } from "./sections/section-record.ts";
import { sectionsOf } from "./sections/sections.ts";
import { decodeSource, sourcesInvalid } from "./sources/source.ts";
import { parseSymbol, parseSymbolId, resolveSymbol } from "./symbols/symbol.ts";

interface Ports {
  readonly crypto: SyncCrypto;
}

/** What a configuration without any key says. */
const DEFAULTS = resolveContext({});

/** What the areas of the context room answer for a vector's input. */
export const CONTEXT_AREAS = {
  "context.section": (input: JsonObject, { crypto }: Ports): JsonValue => {
    const { file_path, text, b64 } = input;
    const bytes = typeof text === "string" ? encodeUtf8(text) : fromBase64(b64);
    return { sections: sectionsOf(crypto, String(file_path), decodeSource(bytes, String(file_path))) };
  },
  "context.index": (input: JsonObject, { crypto }: Ports): JsonValue => {
    const files = indexFiles(crypto, readFiles(input));
    const record = new SectionRecord(crypto);
    for (const sections of files) {
      for (const section of sections) record.takeNew(section, 0);
      record.endNew(sections[0]!.file_path, sections[0]!.content_hash);
    }
    return { jsonl: files.map(formatSectionLines).join(""), index_hash: record.finish().index_hash };
  },
  "context.symbol-id": (input: JsonObject): JsonValue => {
    parseSymbolId(input["symbol_id"]);
    return { valid: true };
  },
  "context.heading-ref": (input: JsonObject): JsonValue => {
    const { file_path, parts, canonical } = parseHeadingRef(String(input["target_ref"]));
    return { file_path, parts, canonical };
  },
  "context.resolve": (input: JsonObject, { crypto }: Ports): JsonValue => {
    const symbol = parseSymbol(input["symbol"]);
    const files = indexFiles(crypto, readFiles(input));
    const { section_id, file_path, line_start, line_end } = resolveSymbol(symbol, {
      findSection: (id) => files.flat().find((section) => section.section_id === id),
      sectionsOfFile: (path) => files.find(([whole]) => whole?.file_path === path),
    });
    return { section_id, file_path, line_start, line_end };
  },
  "context.glob": (input: JsonObject): JsonValue => ({
    matches: compileGlob(String(input["glob"])).matches(String(input["path"])),
  }),
  "context.search-query": (input: JsonObject): JsonValue => {
    const query = parseSearchQuery(String(input["query"]));
    return {
      terms: query.terms.map(({ text, prefix }) => ({ text, prefix })),
      ignored: query.ignored,
      fts5: toFts5(query),
    };
  },
} as const;

/** Sections of all files in index order; every file that cannot be a source is named. */
function indexFiles(crypto: SyncCrypto, files: ReadonlyMap<string, Uint8Array>): Section[][] {
  const problems: SourceProblem[] = [];
  const sections: Section[][] = [];
  for (const file_path of sortedByCodePoint(files.keys())) {
    const bytes = files.get(file_path)!;
    const problem = sourcePath.safeParse(file_path).success
      ? judgeFile(DEFAULTS, file_path, bytes.length)
      : ({ code: "SOURCE_PATH_INVALID", file_path } as const);
    if (problem !== null) {
      problems.push(problem);
      continue;
    }
    try {
      sections.push(sectionsOf(crypto, file_path, decodeSource(bytes, file_path)));
    } catch (thrown) {
      if (!isVerbatimError(thrown) || thrown.code !== "SOURCE_NOT_UTF8") throw thrown;
      problems.push({ code: thrown.code, ...(thrown.details as { file_path: string; byte_offset: number }) });
    }
  }
  if (problems.length > 0) throw sourcesInvalid(problems);
  return sections;
}

function readFiles(input: JsonObject): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const { files: texts, files_b64: encoded } = input;
  if (isJsonObject(texts)) for (const [path, text] of Object.entries(texts)) files.set(path, encodeUtf8(String(text)));
  if (isJsonObject(encoded)) for (const [path, b64] of Object.entries(encoded)) files.set(path, fromBase64(b64));
  return files;
}

function fromBase64(b64: JsonValue | undefined): Uint8Array {
  return Uint8Array.from(atob(String(b64)), (character) => character.charCodeAt(0));
}

/**
 * How a query was understood, in the form in which the vectors write it down: quoted terms of SQLite FTS5 joined by AND. A term
 * holds no quote, so nothing of it is syntax. Searching itself compares words (search/search-term.ts).
 */
export function toFts5({ terms }: SearchQuery): string {
  // U+0000 would end the text; like any character that is not a letter, it parts words.
  return terms
    .map(({ text, prefix }) => `"${spaceScripts(text).replaceAll("\0", " ")}"${prefix ? " *" : ""}`)
    .join(" AND ");
}
