import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type JsonObject, parseJson } from "../../../core/canonical/index.ts";
import { SECTION, SYMBOL, sectionSchema, symbolSchema } from "./index.ts";

interface Vector extends JsonObject {
  area: string;
  name: string;
  input: JsonObject;
  expected: JsonObject;
}

const vectors = parseJson(readFileSync(new URL("../../../../test/vectors/context.json", import.meta.url))) as Vector[];

describe("a symbol that names a heading", () => {
  const refs = vectors.filter(({ area }) => area === "context.heading-ref");

  it.each(refs.map((vector) => [vector.name, vector] as const))("%s", (_name, { input, expected }) => {
    const symbol = {
      symbol_id: "@CANON/LIGHTS",
      target_type: "HEADING",
      target_ref: String(input["target_ref"]),
      default_slice_policy: "head(1)",
    };
    const codes = SYMBOL.check(symbol).map(({ code, pointer }) => `${code} ${pointer}`);
    expect(codes).toEqual(expected["error"] === undefined ? [] : ["TARGET_SYNTAX /target_ref"]);
  });
});

describe("a section", () => {
  const sections = vectors.filter(
    ({ area, expected }) => area === "context.section" && expected["sections"] !== undefined,
  );

  it.each(sections.map((vector) => [vector.name, vector] as const))(
    "of the vectors fits its contract: %s",
    (_name, { expected }) => {
      const all = expected["sections"] as JsonObject[];
      expect(all.length).toBeGreaterThan(0);
      expect(all.flatMap((section) => SECTION.check(section))).toEqual([]);
    },
  );
});

describe("limits", () => {
  const hash = "0".repeat(64);
  const section = (heading: string) => ({
    section_id: hash,
    file_path: "a.md",
    heading_path: [heading],
    line_start: 0,
    line_end: 1,
    content_hash: hash,
  });
  const symbol = (target_ref: string) => ({
    symbol_id: "@CANON/LIGHTS",
    target_type: "HEADING",
    target_ref,
    default_slice_policy: "head(1)",
  });

  it("count code points, in the published schema and in the operations alike", () => {
    for (const character of ["x", "\u{1f600}"]) {
      expect(SECTION.check(section(character.repeat(1024)))).toEqual([]);
      expect(sectionSchema.safeParse(section(character.repeat(1024))).success).toBe(true);
      expect(SECTION.check(section(character.repeat(1025)))).toMatchObject([{ code: "FIELD_TOO_LONG" }]);
      expect(sectionSchema.safeParse(section(character.repeat(1025))).success).toBe(false);
      expect(SYMBOL.check(symbol(`a.md#${character.repeat(4091)}`))).toEqual([]);
      expect(symbolSchema.safeParse(symbol(`a.md#${character.repeat(4091)}`)).success).toBe(true);
      expect(SYMBOL.check(symbol(`a.md#${character.repeat(4092)}`))).toMatchObject([{ code: "FIELD_TOO_LONG" }]);
      expect(symbolSchema.safeParse(symbol(`a.md#${character.repeat(4092)}`)).success).toBe(false);
    }
  });
});
