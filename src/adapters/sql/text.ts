import { VerbatimError } from "../../core/errors/index.ts";

/** Refuses a text that a database would cut at U+0000, reject, or change where a surrogate stands alone. */
export function requireStorableText(text: string): void {
  if (text.includes("\0")) throw notStorable(text, "U+0000", text.indexOf("\0"));
  if (!text.isWellFormed()) throw notStorable(text, "half of a surrogate pair", findLoneSurrogate(text));
}

function notStorable(text: string, what: string, offset: number): VerbatimError {
  return new VerbatimError("STORE_TEXT_INVALID", {
    message: `the text contains ${what}`,
    where: `character ${offset} of ${text.length}`,
    details: { offset },
  });
}

function findLoneSurrogate(text: string): number {
  let offset = 0;
  for (const character of text) {
    if (!character.isWellFormed()) break;
    offset += character.length;
  }
  return offset;
}
