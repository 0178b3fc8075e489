import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { formatCanonical, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../canonical/index.ts";
import { TRUST_AREAS } from "./conformance.ts";

type Area = (input: JsonObject, ports: { crypto: typeof nodeCrypto }) => JsonValue | Promise<JsonValue>;

const AREAS = new Map<unknown, Area>(Object.entries(TRUST_AREAS));
const file = readFileSync(new URL("../../../test/vectors/bundle.json", import.meta.url));
const vectors = (parseJson(file) as JsonObject[]).filter((vector) => AREAS.has(vector["area"]));

describe("vectors of trust", () => {
  it("finds a vector for every area", () => {
    expect(new Set(vectors.map((vector) => vector["area"]))).toEqual(new Set(AREAS.keys()));
  });

  it.each(vectors.map((vector) => [vector["id"], vector["name"], vector] as const))(
    "%s %s",
    async (_id, _name, vector) => {
      const { area, input, expected } = vector;
      if (!isJsonObject(input) || expected === undefined) throw new Error("not a vector");
      expect(formatCanonical(await AREAS.get(area)!(input, { crypto: nodeCrypto }))).toBe(formatCanonical(expected));
    },
  );
});
