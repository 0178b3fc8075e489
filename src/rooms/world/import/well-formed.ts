import { isJsonObject, type JsonValue, toPointerToken } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { MAX_LEVELS } from "../writer/output.ts";
import { unknownFormat } from "./refusals.ts";

/** Refuses half of a surrogate pair anywhere in a file, before anything of it is planned. */
export function requireWellFormed(value: JsonValue, where = "", depth = 0): void {
  if (depth > MAX_LEVELS) throw unknownFormat("the file is nested too deep", where);
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw illFormed(where);
  } else if (Array.isArray(value)) {
    for (const [i, item] of (value as readonly JsonValue[]).entries())
      requireWellFormed(item, `${where}/${i}`, depth + 1);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      // A key that cannot be written down cannot be pointed at either.
      if (!key.isWellFormed()) throw illFormed(where);
      requireWellFormed(item, `${where}/${toPointerToken(key)}`, depth + 1);
    }
  }
}

export function illFormed(where: string): VerbatimError {
  return new VerbatimError("TEXT_NOT_WELL_FORMED", { where });
}

/** What a parser gives that takes half a pair as it is; null where the text is not JSON. */
export function parsePlainly(text: string): JsonValue | null {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
