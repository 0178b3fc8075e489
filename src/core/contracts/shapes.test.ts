import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LAWFUL_PATHS, PATH_ATTACKS } from "../../../test/support/path-attacks.ts";
import { type JsonObject, parseJson } from "../canonical/index.ts";
import { decodeBase64 } from "../trust/index.ts";
import {
  base64,
  findSliceProblem,
  isSymbolId,
  repoFolder,
  repoPath,
  slice,
  sourcePath,
  symbolId,
  uuid,
} from "./shapes.ts";

interface Vector extends JsonObject {
  area: string;
  name: string;
  input: JsonObject;
  expected: JsonObject & { error?: JsonObject & { code: string } };
}

const vectors = parseJson(readFileSync(new URL("../../../test/vectors/context.json", import.meta.url))) as Vector[];
const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, text: string) =>
  schema.safeParse(text).success;

describe("the published pattern of a slice", () => {
  const all = vectors.filter(({ area }) => area === "context.slice").map(({ input }) => String(input["slice"]));
  // That a range ends where it starts is more than a pattern can see.
  const slices = [...new Set(all)].filter((text) => findSliceProblem(text) !== "SLICE_EMPTY");

  it.each(slices)("takes exactly the slices: %j", (text) => {
    expect(accepts(slice, text)).toBe(findSliceProblem(text) === null);
  });
});

describe("a symbol id", () => {
  const ids = vectors.filter(({ area }) => area === "context.symbol-id");

  it.each(ids.map((vector) => [vector.name, vector] as const))("%s", (_name, { input, expected }) => {
    const text = String(input["symbol_id"]);
    expect(isSymbolId(text)).toBe(expected.error === undefined);
    expect(accepts(symbolId, text)).toBe(expected.error === undefined);
  });
});

describe("a path", () => {
  // How many bytes a name has and whether a text is well formed is more than a pattern can see.
  const attacks = PATH_ATTACKS.filter(({ path, reason }) => path.isWellFormed() && reason !== "PATH_TOO_LONG");

  it.each(attacks)("in the configuration refuses $what", ({ path }) => {
    expect(accepts(repoPath, path)).toBe(false);
  });

  it.each(LAWFUL_PATHS)("may be %j", (path) => {
    expect(accepts(repoPath, path)).toBe(true);
    expect(accepts(repoFolder, path)).toBe(true);
  });

  it("of a folder may be the root", () => {
    expect(accepts(repoFolder, ".")).toBe(true);
    expect(accepts(repoPath, ".")).toBe(false);
    expect(accepts(repoFolder, "./src")).toBe(false);
  });

  it("of a source holds no control character, and may hold a colon", () => {
    expect(accepts(sourcePath, "a:b/c.md")).toBe(true);
    expect(accepts(sourcePath, "a\u007f.md")).toBe(false);
    expect(accepts(sourcePath, "a\n.md")).toBe(false);
    expect(accepts(sourcePath, "..a/.b/c..md")).toBe(true);
  });
});

describe("base64", () => {
  it.each(["", "e30=", "e31=", "e30", "ZQ==", "ZR==", "Z===", "ab+/", "ab-_", "ab+/\n", "====", "e3 0="])(
    "%j is what the decoder takes, no more and no less",
    (text) => {
      expect(accepts(base64, text)).toBe(decodeBase64(text) !== null);
    },
  );
});

describe("a UUID", () => {
  it.each([
    ["7d0b1c9e-52a4-4f3b-9c77-1e2f3a4b5c6d", true],
    ["24d18618-22d2-8d02-8b38-6451d9294335", true],
    ["00000000-0000-0000-0000-000000000000", true],
    ["ffffffff-ffff-ffff-ffff-ffffffffffff", true],
    ["7D0B1C9E-52A4-4F3B-9C77-1E2F3A4B5C6D", false],
    ["7d0b1c9e-52a4-9f3b-9c77-1e2f3a4b5c6d", false],
    ["7d0b1c9e-52a4-4f3b-7c77-1e2f3a4b5c6d", false],
    ["7d0b1c9e52a44f3b9c771e2f3a4b5c6d", false],
  ])("%s: %s", (text, lawful) => {
    expect(accepts(uuid, text)).toBe(lawful);
  });
});
