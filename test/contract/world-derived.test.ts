import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { conformancePorts } from "../../src/app/compose/conformance.ts";
import { WORLD_ROOM_AREAS } from "../../src/app/conformance/areas.ts";
import { runVectors } from "../../src/app/conformance/runner.ts";
import { parseVectors } from "../../src/app/conformance/vector.ts";

// Vectors of the World Contracts with one thing changed, and what the contract says of that: limits and one more than
// them, which of two faults is told, and where. The expectations were worked out from the contract's text.

interface Vector {
  readonly id: string;
  readonly area: string;
  readonly name: string;
  readonly input: object;
  expected: unknown;
}

interface Case {
  readonly base: string;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly unset?: readonly string[];
  /** `valid`, or a code and a pointer; an object where an area answers more. */
  readonly expected: unknown;
}

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const bases = new Map((read("../vectors/world.json") as Vector[]).map((vector) => [vector.id, vector]));

/** The object or list that holds the last part of a pointer, and that part. */
function locate(root: object, pointer: string): [holder: Record<string, unknown>, key: string] {
  const parts = pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = parts.pop()!;
  return [parts.reduce((at, part) => at[part] as Record<string, unknown>, root as Record<string, unknown>), key];
}

function toVector({ base, set = {}, unset = [], expected }: Case, i: number): Vector {
  const { area, input, expected: answer } = bases.get(base)!;
  const changed = structuredClone(input);
  for (const pointer of unset) {
    const [holder, key] = locate(changed, pointer);
    delete holder[key];
  }
  for (const [pointer, value] of Object.entries(set)) {
    const [holder, key] = locate(changed, pointer);
    holder[key] = value;
  }
  return { id: `derived-${i}`, area, name: base, input: changed, expected: toExpected(expected, changed, answer) };
}

function toExpected(expected: unknown, input: object, answer: unknown): unknown {
  if (typeof expected !== "string") return expected;
  if (expected !== "valid") {
    const [code, where] = expected.split(" ");
    return { error: { code, ...(where === undefined ? {} : { where: where === '""' ? "" : where }) } };
  }
  // An envelope is also shown with every absent field written as null; the bases are complete.
  const isShown = typeof answer === "object" && answer !== null && "normalized" in answer;
  return isShown ? { valid: true, normalized: (input as { readonly value: unknown }).value } : { valid: true };
}

it("a vector with one thing changed is answered as the contract says", async () => {
  const cases = (read("world-derived.json") as Case[]).map(toVector);
  const vectors = parseVectors(Buffer.from(JSON.stringify(cases)), "world-derived.json");
  const report = await runVectors(vectors, new Map(Object.entries(WORLD_ROOM_AREAS)), conformancePorts);
  expect(report.mismatches).toEqual([]);
  expect(report.passed).toBe(cases.length);
  expect(cases.length).toBeGreaterThan(350);
});
