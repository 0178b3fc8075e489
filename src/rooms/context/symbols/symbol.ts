import { codePointLength, isHash, isJsonObject } from "../../../core/canonical/index.ts";
import { isSymbolId, sourcePath } from "../../../core/contracts/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { parseSlice } from "../../../core/text/index.ts";
import { type SymbolRecord, TARGET_TYPES } from "../contracts/index.ts";
import { LONGEST_TARGET_REF, parseHeadingRef, targetSyntax } from "../sections/heading-ref.ts";

/** What a symbol points to, once its reference is understood. */
export type Target =
  | { readonly type: "SECTION"; readonly section_id: string }
  | { readonly type: "FILE"; readonly file_path: string }
  | { readonly type: "HEADING"; readonly file_path: string; readonly parts: readonly string[] };

const FIELDS = ["symbol_id", "target_type", "target_ref", "default_slice_policy"] as const;

/**
 * Checks a symbol id, or throws SYMBOL_SYNTAX.
 *
 * @example
 * parseSymbolId("@TIDES/LOW"); // => "@TIDES/LOW"
 * parseSymbolId("TIDES"); // throws SYMBOL_SYNTAX
 */
export function parseSymbolId(value: unknown): string {
  if (typeof value === "string" && isSymbolId(value)) return value;
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : `a value of type ${typeof value}`;
  throw new VerbatimError("SYMBOL_SYNTAX", { message: `${shown} is not a symbol id`, where: "/symbol_id" });
}

/**
 * Reads a Symbol (Catalytic Chat Contract): exactly its four fields, each of the right form, the first wrong one in
 * their order is reported: SYMBOL_INVALID, SYMBOL_SYNTAX, TARGET_SYNTAX or a code of slices. The reference of a
 * heading comes out in canonical form. Whether the target exists and the slice fits is for the index to say.
 *
 * @example
 * const symbol = parseSymbol({
 *   symbol_id: "@TIDES/LOW",
 *   target_type: "HEADING",
 *   target_ref: "docs/tides.md#Tides/Low",
 *   default_slice_policy: "head(5)",
 * });
 * symbol.target_type; // => "HEADING"
 */
export function parseSymbol(value: unknown): SymbolRecord {
  if (!isJsonObject(value)) throw invalidSymbol("", "a symbol must be a JSON object");
  for (const field of FIELDS) if (!Object.hasOwn(value, field)) throw invalidSymbol(`/${field}`, `${field} is missing`);
  for (const field of Object.keys(value)) {
    if (!FIELDS.some((known) => known === field)) throw invalidSymbol(`/${field}`, "a symbol does not have this field");
  }
  const symbol_id = parseSymbolId(value["symbol_id"]);
  const target_type = TARGET_TYPES.find((type) => type === value["target_type"]);
  if (target_type === undefined) throw invalidSymbol("/target_type", "target_type must be SECTION, FILE or HEADING");
  const { target_ref: ref, default_slice_policy } = value;
  if (typeof ref !== "string") throw invalidSymbol("/target_ref", "target_ref must be a string");
  parseTarget({ target_type, target_ref: ref });
  if (typeof default_slice_policy !== "string") {
    throw invalidSymbol("/default_slice_policy", "default_slice_policy must be a slice");
  }
  parseSlice(default_slice_policy);
  const target_ref = target_type === "HEADING" ? parseHeadingRef(ref).canonical : ref;
  return { symbol_id, target_type, target_ref, default_slice_policy };
}

/** Understands the reference of a symbol, or throws TARGET_SYNTAX. */
export function parseTarget(symbol: Pick<SymbolRecord, "target_type" | "target_ref">): Target {
  const { target_type, target_ref } = symbol;
  switch (target_type) {
    case "SECTION":
      if (!isHash(target_ref)) throw targetSyntax(target_ref, "is not a section id of 64 lower-case hex digits");
      return { type: "SECTION", section_id: target_ref };
    case "HEADING": {
      const { file_path, parts } = parseHeadingRef(target_ref);
      requireSourcePath(target_ref, file_path);
      return { type: "HEADING", file_path, parts };
    }
    default:
      if (target_ref === "") throw targetSyntax(target_ref, "does not name a file");
      if (codePointLength(target_ref) > LONGEST_TARGET_REF) {
        throw targetSyntax(target_ref, `is longer than ${LONGEST_TARGET_REF} characters`);
      }
      requireSourcePath(target_ref, target_ref);
      return { type: "FILE", file_path: target_ref };
  }
}

/** A path that no source file can have is not one of an index that lacks it. */
function requireSourcePath(target_ref: string, path: string): void {
  if (path.isWellFormed() && sourcePath.safeParse(path).success) return;
  throw targetSyntax(
    target_ref,
    "is not a source path: it must be relative to the root, with / between names, no . or .. segments and no control characters",
  );
}

function invalidSymbol(where: string, message: string): VerbatimError {
  return new VerbatimError("SYMBOL_INVALID", { message, where });
}
