import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import {
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../src/core/canonical/index.ts";

type Area = (input: JsonObject, ports: { crypto: typeof nodeCrypto }) => JsonValue | Promise<JsonValue>;

/** Answers every vector of these areas of the hall, each as a test of its own. */
export function describeHallVectors(what: string, answers: Readonly<Record<string, Area>>): void {
  const areas = new Map<unknown, Area>(Object.entries(answers));
  const file = readFileSync(new URL("../vectors/bundle.json", import.meta.url));
  const vectors = (parseJson(file) as JsonObject[]).filter((vector) => areas.has(vector["area"]));

  describe(`vectors of ${what}`, () => {
    it("finds a vector for every area", () => {
      expect(new Set(vectors.map((vector) => vector["area"]))).toEqual(new Set(areas.keys()));
    });

    it.each(vectors.map((vector) => [vector["id"], vector["name"], vector] as const))(
      "%s %s",
      async (_id, _name, vector) => {
        const { area, input, expected } = vector;
        if (!isJsonObject(input) || expected === undefined) throw new Error("not a vector");
        expect(formatCanonical(await areas.get(area)!(input, { crypto: nodeCrypto }))).toBe(formatCanonical(expected));
      },
    );
  });
}
