import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { parseVectors } from "./vector.ts";

function unfold(input: string): unknown {
  const text = `[{"id":"a","area":"b","name":"c","input":{"x":${input}},"expected":null}]`;
  return parseVectors(encodeUtf8(text), "vectors.json")[0]?.input["x"];
}

function codeOf(input: string): unknown {
  try {
    return unfold(input);
  } catch (thrown) {
    return isVerbatimError(thrown) ? thrown.code : thrown;
  }
}

describe("a text in a vector", () => {
  it("may be given as UTF-16 units, however many, and repeated", () => {
    expect(unfold('{"$units":[55357]}')).toBe("\ud83d");
    expect(unfold('{"$units":[]}')).toBe("");
    expect(unfold(`{"$units":[${Array.from({ length: 200_000 }, () => 97).join(",")}]}`)).toBe("a".repeat(200_000));
    expect(unfold('{"$repeat":{"text":{"$units":[97]},"times":3}}')).toBe("aaa");
    expect(unfold('{"$repeat":{"text":"a","times":0}}')).toBe("");
  });

  it.each([
    '{"$units":[65536]}',
    '{"$units":[-1]}',
    '{"$units":[1.0]}',
    '{"$units":["a"]}',
    '{"$repeat":{"text":"a","times":-1}}',
    '{"$repeat":{"text":"a","times":1.5}}',
    '{"$repeat":{"text":"ab","times":99999999}}',
    '{"$repeat":{"times":1}}',
  ])("%s is refused", (input) => {
    expect(codeOf(input)).toBe("VECTOR_FILE_INVALID");
  });
});
