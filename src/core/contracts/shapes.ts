import { z } from "zod";
import { FINDINGS, isVerbatimError } from "../errors/index.ts";
import { MAX_SLICE_LENGTH, mapBudgets, parseSlice, SLICE_PATTERN } from "../text/index.ts";
import { defineForm } from "./form.ts";

/** A SHA-256, or a raw Ed25519 public key: 64 lower-case hex digits. */
export const hashHex = z.string().regex(/^[0-9a-f]{64}$/);

/** An RFC 9562 UUID in lower case, of any version, the nil and the max UUID included. */
export const uuid = z
  .string()
  .regex(
    /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?:0{8}-0{4}-0{4}-0{4}-0{12})|(?:f{8}-f{4}-f{4}-f{4}-f{12}))$/,
    "expected a UUID in lower case",
  );

/** An integer from 0 to 2^53-1. */
export const count = z.int().min(0);

/** A payload in the content store. */
export const payloadRef = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** Strict standard base64 with padding; unused bits are zero. */
export const base64 = z
  .string()
  .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/);

const SYMBOL_ID = /^@[A-Z][A-Z0-9_]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)+$/;
const MAX_SYMBOL_ID = 256;
const SECTION_ID = /^[0-9a-f]{64}$/;

/** Whether a text is a symbol id. */
export function isSymbolId(text: string): boolean {
  return text.length <= MAX_SYMBOL_ID && SYMBOL_ID.test(text);
}

/** Whether a text has the form of a section id. */
export function isSectionId(text: string): boolean {
  return SECTION_ID.test(text);
}

/** `@NAMESPACE/NAME`, at most 256 characters; anything else is SYMBOL_SYNTAX. */
export const symbolId = defineForm(z.string().max(MAX_SYMBOL_ID).regex(SYMBOL_ID), {
  name: "symbol-id",
  codes: { SYMBOL_SYNTAX: FINDINGS.context.SYMBOL_SYNTAX },
  judge: (text) => (isSymbolId(text) ? null : "SYMBOL_SYNTAX"),
});

/** A symbol id or a section id. */
export const symbolOrSectionId = z
  .string()
  .max(MAX_SYMBOL_ID)
  .regex(new RegExp(`${SYMBOL_ID.source}|${SECTION_ID.source}`));

const { SLICE_EMPTY, SLICE_SYNTAX, SLICE_UNBOUNDED } = FINDINGS.context;
const SLICE_CODES = { SLICE_EMPTY, SLICE_SYNTAX, SLICE_UNBOUNDED } as const;

/** The code of a text that is not a slice, or null. */
export function findSliceProblem(text: string): keyof typeof SLICE_CODES | null {
  try {
    parseSlice(text);
    return null;
  } catch (thrown) {
    if (isVerbatimError(thrown) && Object.hasOwn(SLICE_CODES, thrown.code)) {
      return thrown.code as keyof typeof SLICE_CODES;
    }
    throw thrown;
  }
}

/** One of the four slice forms, at most 64 characters. */
export const slice = defineForm(z.string().max(MAX_SLICE_LENGTH).regex(SLICE_PATTERN), {
  name: "slice",
  codes: SLICE_CODES,
  judge: findSliceProblem,
});

// Segments are not empty, `.` or `..`; the class leaves out what no segment may hold.
const SEGMENTS = (banned: string) =>
  `(?!\\.{1,2}(?:/|$))[^/\\\\${banned}]+(?:/(?!\\.{1,2}(?:/|$))[^/\\\\${banned}]+)*$`;

/** Where a source file lies: relative to the root, `/` separated, no control character. */
export const sourcePath = z.string().regex(new RegExp(`^${SEGMENTS("\\u0000-\\u001f\\u007f")}`));

/** A safe path inside the repository. */
export const repoPath = z
  .string()
  .max(4096)
  .regex(new RegExp(`^(?![A-Za-z]:)${SEGMENTS("\\u0000")}`));

/** A safe path inside the repository, or `.` for its root. */
export const repoFolder = z
  .string()
  .max(4096)
  .regex(new RegExp(`^(?:\\.$|(?![A-Za-z]:)${SEGMENTS("\\u0000")})`));

const OUTPUT_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** The name under which an operation offers its output. */
export const outputName = z.string().regex(OUTPUT_NAME);

/** Whether a text is the name of an output. */
export function isOutputName(text: string): boolean {
  return OUTPUT_NAME.test(text);
}

/** The four budgets of a message step (Catalytic Chat Contract, Budget Definitions). */
export const budgets = z.strictObject(mapBudgets(() => count));
