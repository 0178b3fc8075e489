import { expect, it } from "vitest";
import { dropControls, showLine, showPlace, showText, showWritten } from "./plain-text.ts";

// Everything that could draw on a terminal or turn a line round, and its neighbours that may be shown.
const DANGEROUS = [0x00, 0x08, 0x0b, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0x061c, 0x200e, 0x200f, 0x2028, 0x2029].concat(
  [0x202a, 0x202e, 0x2066, 0x2069],
);
const HARMLESS = [0x20, 0x7e, 0xa0, 0x061b, 0x061d, 0x200d, 0x2010, 0x2027, 0x202f, 0x2065, 0x206a, 0x1f600];

it.each(DANGEROUS)("U+%s is never shown as it is, by any of the ways to show text", (point) => {
  const text = `a${String.fromCodePoint(point)}b`;
  expect([showLine(text), showText(text)]).toEqual(["a\ufffdb", "a\ufffdb"]);
  expect(dropControls(text)).toBe("ab");
  expect(showWritten(text)).toBe(`a\\u{${point.toString(16)}}b`);
  expect(showPlace(text)).not.toContain(String.fromCodePoint(point));
});

it.each(HARMLESS)("U+%s is shown as it is", (point) => {
  const text = `a${String.fromCodePoint(point)}b`;
  expect([showLine, showText, showWritten, showPlace, dropControls].map((show) => show(text))).toEqual(
    Array(5).fill(text),
  );
});

it("keeps line feeds where there may be several lines, and tabs in quoted text", () => {
  expect(showLine("a\n\tb")).toBe("a\ufffd\ufffdb");
  expect(showText("a\n\tb")).toBe("a\n\tb");
  expect(showWritten("a\n\tb")).toBe("a\n\\u{9}b");
});
