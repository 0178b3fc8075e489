import { z } from "zod";
import { decodeUtf8, encodeUtf8, isHash, type JsonValue } from "../../../core/canonical/index.ts";
import {
  budgets,
  count,
  type DerivedCheck,
  defineContract,
  hashHex,
  isSectionId,
  type NamedCheck,
  payloadRef,
  readInteger,
  readText,
  slice,
  sourcePath,
  symbolId,
  symbolOrSectionId,
  textUpTo,
  uuid,
} from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";
import { sectionId } from "../sections/section-rows.ts";

/** Code points of a heading's text; longer ones are cut when the heading is read. */
const MAX_HEADING = 1024;
const MAX_TARGET_REF = 4096;

export const sectionSchema = z.strictObject({
  section_id: hashHex,
  file_path: sourcePath,
  heading_path: z.array(textUpTo(MAX_HEADING)),
  line_start: count,
  line_end: count,
  content_hash: hashHex,
});

const lineRange: NamedCheck = {
  code: "LINE_RANGE_INVALID",
  summary: FINDINGS.context.LINE_RANGE_INVALID,
  run: (value) => {
    const start = readInteger(value, "line_start");
    const end = readInteger(value, "line_end");
    return start !== null && end !== null && start > end ? ["/line_end"] : [];
  },
};

const ownId: DerivedCheck<Section> = {
  code: "SECTION_ID_MISMATCH",
  summary: FINDINGS.context.SECTION_ID_MISMATCH,
  async run({ section_id, file_path, line_start, line_end, content_hash }, crypto) {
    const id = await sectionId(crypto, file_path, line_start, line_end, content_hash);
    return id === section_id ? [] : ["/section_id"];
  },
};

/** Catalytic Chat Contract, Section. */
export const SECTION = defineContract({
  room: "context",
  name: "section",
  title: "Section",
  summary: "A range of lines of a source file, addressed by hash. Lines count from 0; line_end is exclusive.",
  schema: sectionSchema,
  checks: [lineRange],
  derived: [ownId],
});

/** One line of the exported index. */
const SECTION_INDEX_LINE = defineContract({
  room: "context",
  name: "section-index-line",
  title: "SECTION_INDEX line",
  summary: "One Section of the exported index. Lines are sorted by path, start, end descending, heading depth.",
  media: "jsonl",
  schema: sectionSchema,
  checks: [lineRange],
  derived: [ownId],
});

export const TARGET_TYPES = ["SECTION", "FILE", "HEADING"] as const;

export const symbolSchema = z.strictObject({
  symbol_id: symbolId,
  target_type: z.enum(TARGET_TYPES),
  target_ref: textUpTo(MAX_TARGET_REF),
  default_slice_policy: slice,
});

/** Catalytic Chat Contract, Symbol. */
export const SYMBOL = defineContract({
  room: "context",
  name: "symbol",
  title: "Symbol",
  summary: "A stable name for a section, a file or a heading, with the slice that is read when none is given.",
  schema: symbolSchema,
  checks: [
    {
      code: "TARGET_SYNTAX",
      summary: FINDINGS.context.TARGET_SYNTAX,
      run: (value) => (isTargetRef(value) ? [] : ["/target_ref"]),
    },
  ],
});

/** Whether the reference has the form its type asks for; a wrong type is for the schema to report. */
function isTargetRef(symbol: JsonValue): boolean {
  const ref = readText(symbol, "target_ref");
  if (ref === null) return true;
  switch (readText(symbol, "target_type")) {
    case "SECTION":
      return isSectionId(ref);
    case "FILE":
      return sourcePath.safeParse(ref).success;
    case "HEADING":
      return isHeadingRef(ref);
    default:
      return true;
  }
}

/** `path#Part/Part`: one `#`, a path that is not empty, and percent escapes that are UTF-8. */
function isHeadingRef(ref: string): boolean {
  const [path, parts, ...more] = ref.split("#");
  if (path === undefined || parts === undefined || more.length > 0) return false;
  return sourcePath.safeParse(decodePercent(path)).success && decodePercent(parts) !== null;
}

/** The text with every `%XX` replaced by its byte, or null when an escape or the bytes are not right. */
function decodePercent(text: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null;
  const pieces = text.split(/%([0-9A-Fa-f]{2})/);
  const bytes = pieces.flatMap((piece, i) => (i % 2 === 0 ? [...encodeUtf8(piece)] : [Number.parseInt(piece, 16)]));
  return decodeUtf8(Uint8Array.from(bytes));
}

export const expansionSchema = z.strictObject({
  run_id: uuid,
  symbol_or_section_id: symbolOrSectionId,
  slice,
  content_hash: hashHex,
  payload_ref: payloadRef,
});

/** Catalytic Chat Contract, Expansion. */
const EXPANSION = defineContract({
  room: "context",
  name: "expansion",
  title: "Expansion",
  summary: "A slice that was actually read: what was asked for, the hash of the content and where it is stored.",
  schema: expansionSchema,
  checks: [
    {
      code: "PAYLOAD_REF_MISMATCH",
      summary: FINDINGS.context.PAYLOAD_REF_MISMATCH,
      run: (value) => {
        const ref = readText(value, "payload_ref");
        const hash = readText(value, "content_hash");
        if (ref === null || hash === null || !payloadRef.safeParse(ref).success || !isHash(hash)) return [];
        return ref === `sha256:${hash}` ? [] : ["/payload_ref"];
      },
    },
  ],
});

/** Catalytic Chat Contract, Budget Definitions. */
const BUDGETS = defineContract({
  room: "context",
  name: "budgets",
  title: "Budgets",
  summary: "The four limits on what one message step may expand. Using exactly the limit is allowed.",
  schema: budgets,
});

/** An addressed part of a file: its id, its place and the hash of its text. */
export type Section = z.infer<typeof sectionSchema>;
/** A name for a section, a file or a heading, with the slice it is read by. */
export type SymbolRecord = z.infer<typeof symbolSchema>;
/** The record of a cut that was read: what was asked for, and the hash of what came. */
export type Expansion = z.infer<typeof expansionSchema>;

/** The contract objects of the room. */
export const CONTEXT_CONTRACTS = [SECTION, SECTION_INDEX_LINE, SYMBOL, EXPANSION, BUDGETS] as const;
