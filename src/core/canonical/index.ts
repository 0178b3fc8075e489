export { formatFloat } from "./float.ts";
export { hashCanonical, isHash } from "./hash.ts";
export { locatePointer, locatePointers, type TextPlace, toPointerToken } from "./locate.ts";
export { foldLineEnds } from "./newline.ts";
export { compareCodePoints, sortedByCodePoint, sortedUnique } from "./order.ts";
export { type ParseOptions, parseJson } from "./parse.ts";
export { codePointLength, decodeUtf8, encodeUtf8, findIllFormed, utf8Length } from "./utf8.ts";
export { Float, isJsonObject, type JsonObject, type JsonValue } from "./value.ts";
export { formatCanonical, formatString, MAX_DEPTH, toCanonicalFile } from "./write.ts";
