import { describe, expect, it } from "vitest";
import { hidesCharacters } from "./hidden-characters.ts";

describe("a line hides characters", () => {
  it.each([
    ["a direction control", "if (admin) { // \u202e } begin \u2066"],
    ["a character without width", "pass\u200bword"],
    ["a byte order mark", "\ufeffimport x"],
    ["NUL", "a\u0000b"],
    ["an escape", "a\u001b[2Kb"],
    ["a C1 control", "a\u009bb"],
    ["a carriage return in the middle", "rm -rf /\recho fine"],
    ["a tag character", "a\u{e0041}b"],
    ["a soft hyphen", "ad\u00admin"],
  ])("with %s", (_, line) => {
    expect(hidesCharacters(line)).toBe(true);
  });

  it.each([
    ["a tab", "\tindented"],
    ["a carriage return at its end", "windows\r"],
    ["letters of any script", "Grüße, שלום, 你好, नमस्ते"],
    ["nothing", ""],
  ])("not with %s", (_, line) => {
    expect(hidesCharacters(line)).toBe(false);
  });
});
