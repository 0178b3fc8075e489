import type { JsonValue } from "../../../core/canonical/index.ts";
import type { Problem } from "../../../core/contracts/index.ts";
import { FINDINGS, type Finding, isVerbatimError } from "../../../core/errors/index.ts";
import { type Cast, isReserved } from "../people/cast.ts";
import type { CheckContext } from "./context.ts";
import { PERSON_PATTERN } from "./fields.ts";

/** Everyone who could be someone: a single object says nothing about who lives in its world. */
class Anybody extends Map<string, string> {
  override has(person: string): boolean {
    return PERSON_PATTERN.test(person) && !isReserved("GEORGE", person);
  }
}

const CAST: Cast = {
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Anybody(),
  present: [],
  visibility_default: "presence",
  writer_lint: "report",
};

/** What a check needs to know of a world, where there is none. */
export const CONTEXT: CheckContext = {
  cast: CAST,
  zones: { isKnown: () => true, offsetMinutes: () => 0 },
  graphemes: { split: (whole) => whole },
};

type WorldCode = Finding<"world"> | Finding<"contract">;

/** The first failure is the answer, as everywhere in the World Contracts. */
export function own(codes: readonly WorldCode[], check: (value: JsonValue) => unknown) {
  const says: Readonly<Record<string, string>> = { ...FINDINGS.contract, ...FINDINGS.world };
  return {
    codes: Object.fromEntries(codes.map((code) => [code, says[code]!])),
    check(value: JsonValue): Problem[] {
      try {
        check(value);
        return [];
      } catch (thrown) {
        if (!isVerbatimError(thrown)) throw thrown;
        return [{ code: thrown.code, pointer: thrown.where ?? "", message: thrown.message }];
      }
    },
  };
}

export const SHAPE = ["FIELD_MISSING", "FIELD_TYPE", "FIELD_UNKNOWN"] as const;
export const ENTRY_CODES = [
  ...SHAPE,
  "FIELD_EMPTY",
  "FIELD_VALUE",
  "FIELD_PATTERN",
  "TEXT_HAS_NUL",
  "TEXT_INVISIBLE",
  "TEXT_TOO_LARGE",
  "TIME_FORMAT_INVALID",
  "TIME_OUT_OF_RANGE",
  "VISIBILITY_DUPLICATE",
  "VISIBILITY_EMPTY",
  "VISIBILITY_NOT_EMPTY",
  "VISIBILITY_EXCLUDES_AUTHOR",
  "PERSON_UNKNOWN",
  "CHANNEL_AUTHOR_MISMATCH",
  "AUTHOR_ID_MISMATCH",
] as const;
export const PACK_CODES = [
  ...SHAPE,
  "FIELD_EMPTY",
  "PROVENANCE_EMPTY",
  "PROVENANCE_DUPLICATE",
  "PACK_META_WORD",
  "PACK_DIRECTIVE",
  "PACK_STATE_VARIABLE",
] as const;
