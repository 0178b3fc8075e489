// A letter or digit of a script that is written without spaces, with the marks that belong to it.
const UNIT =
  /(?=[\p{L}\p{N}])[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu;
const STARTS_OR_ENDS_SPACED = { start: /^\s/, end: /\s$/ } as const;

/**
 * Puts a space around every character of the scripts that are written without spaces, so that any part of
 * such a text is found as a phrase. Other text stays as it is; existing white space is not doubled.
 */
export function spaceScripts(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const match of text.matchAll(UNIT)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(match[0]);
    at = match.index + match[0].length;
  }
  if (parts.length === 0) return text;
  if (at < text.length) parts.push(text.slice(at));
  let result = parts[0]!;
  for (let i = 1; i < parts.length; i++) {
    const spaced = STARTS_OR_ENDS_SPACED.end.test(parts[i - 1]!) || STARTS_OR_ENDS_SPACED.start.test(parts[i]!);
    result += spaced ? parts[i]! : ` ${parts[i]!}`;
  }
  return result;
}
