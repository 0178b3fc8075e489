import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { decodeSource, sourcesInvalid, toSourceContent } from "./source.ts";

describe("the content of a source", () => {
  it.each([
    ["a\r\nb\r\n", "a\nb\n"],
    ["a\rb\r", "a\nb\n"],
    ["a\r\r\nb", "a\n\nb"],
    ["a\n\rb", "a\n\nb"],
    ["\ufeffa\r\n", "\ufeffa\n"],
    ["a\0\u000b\u000c\u0085\u2028\u2029b", "a\0\u000b\u000c\u0085\u2028\u2029b"],
    ["", ""],
  ])("%j is %j", (raw, text) => {
    const content = decodeSource(encodeUtf8(raw), "a.md");
    expect(content.text).toBe(text);
    expect(content.bytes).toEqual(encodeUtf8(text));
    expect(toSourceContent(raw)).toEqual(content);
  });

  it("is the given bytes, not a copy, when there is no carriage return", () => {
    const bytes = encodeUtf8("# A\ncaf\u00e9\n");
    expect(decodeSource(bytes, "a.md").bytes).toBe(bytes);
  });

  it.each([
    [[0x6f, 0x6b, 0xff], 2],
    [[0xc0, 0x80], 0],
    [[0x61, 0xed, 0xa0, 0x80], 1],
    [[0x61, 0xe2, 0x82], 1],
    [[0xf4, 0x90, 0x80, 0x80], 0],
    [[0xef, 0xbb, 0xbf, 0x80], 3],
    [[0xe2, 0x82, 0xac, 0x0d, 0x0a, 0xbf], 5],
  ])("that is not UTF-8 is refused with the offset of the first bad byte: %j", (bytes, byte_offset) => {
    expect(() => decodeSource(Uint8Array.from(bytes), "a.md")).toThrowError(
      expect.objectContaining({ code: "SOURCE_NOT_UTF8", details: { file_path: "a.md", byte_offset } }),
    );
  });

  it("names every file that cannot be indexed, none is skipped", () => {
    const problems = [
      { code: "SOURCE_NOT_UTF8", file_path: "a.md", byte_offset: 3 },
      { code: "SOURCE_TOO_LARGE", file_path: "b.md", bytes: 9, limit: 8 },
    ] as const;
    const error = sourcesInvalid(problems);
    expect(error).toMatchObject({ code: "INDEX_SOURCES_INVALID", exit: 1, where: "a.md@3", details: { problems } });
    expect(error.message).toContain("and 1 more");
  });
});
