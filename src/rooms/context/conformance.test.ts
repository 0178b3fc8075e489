import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { formatCanonical, type JsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { CONTEXT_AREAS } from "./conformance.ts";

interface Vector {
  readonly id: string;
  readonly area: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly expected: JsonObject;
}

const file = new URL("../../../test/vectors/context.json", import.meta.url);
const vectors = parseJson(readFileSync(file)) as unknown as readonly Vector[];
const areas = Object.keys(CONTEXT_AREAS) as (keyof typeof CONTEXT_AREAS)[];

function answer(area: keyof typeof CONTEXT_AREAS, input: JsonObject): JsonValue {
  try {
    return CONTEXT_AREAS[area](input, { crypto: nodeCrypto });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return { error: { ...(thrown.details as JsonObject | undefined), code: thrown.code } };
  }
}

describe.each(areas)("vectors of %s", (area) => {
  const own = vectors.filter((vector) => vector.area === area);

  it("exist", () => {
    expect(own.length).toBeGreaterThan(0);
  });

  it.each(own)("$id $name", ({ input, expected }) => {
    const actual = answer(area, input);
    if (expected["error"] === undefined) expect(formatCanonical(actual)).toBe(formatCanonical(expected));
    else expect(actual).toMatchObject(expected);
  });
});

describe("files that a build refuses", () => {
  it("are all named: what name, place, size and bytes say against them", () => {
    const files = {
      "a/../b.md": "x",
      "keys/Server.PEM": "x",
      "docs/.env": "x",
      "docs/.env.example": "x",
      "docs/long.md": "x".repeat(33_554_433),
      "docs/longest.md": "x".repeat(33_554_432),
    };
    expect(answer("context.index", { files, files_b64: { "c.md": "Y/8=" } })).toEqual({
      error: {
        code: "INDEX_SOURCES_INVALID",
        problems: [
          { code: "SOURCE_PATH_INVALID", file_path: "a/../b.md" },
          { code: "SOURCE_NOT_UTF8", file_path: "c.md", byte_offset: 1 },
          { code: "SOURCE_SECRET", file_path: "docs/.env" },
          { code: "SOURCE_TOO_LARGE", file_path: "docs/long.md", bytes: 33_554_433, limit: 33_554_432 },
          { code: "SOURCE_SECRET", file_path: "keys/Server.PEM" },
        ],
      },
    });
  });
});
