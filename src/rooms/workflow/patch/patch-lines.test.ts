import { describe, expect, it } from "vitest";
import { fromByteText, PatchLines, toByteText } from "./patch-lines.ts";

const lines = (text: string) => new PatchLines(Buffer.from(text, "latin1"));

describe("the lines of a patch", () => {
  it("are counted with and without a last line feed", () => {
    expect(["", "a", "a\n", "a\nb", "\n\n"].map((text) => lines(text).count)).toEqual([0, 1, 1, 2, 2]);
  });

  it("are read without their line feed and with their CR", () => {
    const some = lines("ab\n\nc\r\nd");
    expect([0, 1, 2, 3].map((at) => some.text(at))).toEqual(["ab", "", "c\r", "d"]);
  });

  it("say their first byte, which an empty line and a missing one do not have", () => {
    const some = lines("a\n\n\u00ff");
    expect([0, 1, 2, 3].map((at) => some.first(at))).toEqual([0x61, -1, 0xff, -1]);
  });

  it("begin with a text only when all of it stands in the line", () => {
    const some = lines("--- a\n--\nx");
    expect(some.startsWith(0, "--- ")).toBe(true);
    expect(some.startsWith(0, "--- b")).toBe(false);
    expect(some.startsWith(1, "--\nx")).toBe(false);
    expect(some.startsWith(1, "--")).toBe(true);
    expect(some.startsWith(2, "x")).toBe(true);
    expect(some.startsWith(2, "xy")).toBe(false);
    expect(some.startsWith(3, "")).toBe(false);
  });

  it("are empty when there is nothing, or only a CR", () => {
    const some = lines("\n\r\n \n\rx\n\r\r\nx\n\r");
    expect([0, 1, 2, 3, 4, 5, 6].map((at) => some.isEmpty(at))).toEqual([true, true, false, false, false, false, true]);
  });

  it("are cut out byte for byte", () => {
    const some = lines("a\nb\r\nc");
    expect(Buffer.from(some.slice(1, 2)).toString("latin1")).toBe("b\r\n");
    expect(Buffer.from(some.slice(0, 3)).toString("latin1")).toBe("a\nb\r\nc");
  });

  it("have numbers from 1, to which every byte up to its line feed belongs", () => {
    const some = lines("ab\ncd\n");
    expect([0, 2, 3, 5].map((at) => some.lineOf(at))).toEqual([1, 1, 2, 2]);
  });
});

describe("bytes as a text", () => {
  it.each([0, 1, 8191, 8192, 8193, 20_000])("keep every one of %i bytes, there and back", (length) => {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 7) % 256);
    const text = toByteText(bytes);
    expect(text).toBe(Buffer.from(bytes).toString("latin1"));
    expect(Buffer.from(fromByteText(text)).equals(bytes)).toBe(true);
  });
});
