/** Character codes that Markdown gives a meaning. */
export const TAB = 9;
export const LINE_FEED = 10;
export const SPACE = 32;
export const BANG = 33;
export const DOUBLE_QUOTE = 34;
export const HASH_SIGN = 35;
export const AMPERSAND = 38;
export const SINGLE_QUOTE = 39;
export const OPEN_PAREN = 40;
export const CLOSE_PAREN = 41;
export const ASTERISK = 42;
export const PLUS = 43;
export const MINUS = 45;
export const DOT = 46;
export const SLASH = 47;
const ZERO = 48;
const NINE = 57;
export const COLON = 58;
export const SEMICOLON = 59;
export const LESS_THAN = 60;
export const EQUALS = 61;
export const GREATER_THAN = 62;
export const QUESTION = 63;
export const AT_SIGN = 64;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const UNDERSCORE = 95;
export const BACKTICK = 96;
export const TILDE = 126;

const NON_ASCII_SPACE = /\s/;
const NON_ASCII_PUNCTUATION = /[\p{P}\p{S}]/u;

/** Space or tab. */
export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** White space as `\s` of JavaScript has it, which is what the reference implementation goes by. */
export function isSpace(code: number): boolean {
  if (code < 128) return code === SPACE || (code >= 9 && code <= 13);
  return code >= 160 && NON_ASCII_SPACE.test(String.fromCharCode(code));
}

/** The 32 punctuation characters of ASCII, which are also the ones a backslash can escape. */
export function isAsciiPunctuation(code: number): boolean {
  return (
    (code >= 33 && code <= 47) ||
    (code >= 58 && code <= 64) ||
    (code >= 91 && code <= 96) ||
    (code >= 123 && code <= 126)
  );
}

/** Punctuation or a symbol. The reference looks at single UTF-16 units, so no astral character is one. */
export function isPunctuation(code: number): boolean {
  return code < 128 ? isAsciiPunctuation(code) : NON_ASCII_PUNCTUATION.test(String.fromCharCode(code));
}

/** ASCII letter. */
export function isLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}

/** ASCII digit. */
export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** ASCII letter or digit. */
export function isAlphanumeric(code: number): boolean {
  return isLetter(code) || isDigit(code);
}
