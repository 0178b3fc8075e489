import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { conformancePorts } from "../../src/app/compose/conformance.ts";
import { runVectors } from "../../src/app/conformance/runner.ts";
import { parseVectors } from "../../src/app/conformance/vector.ts";
import { WORKFLOW_ROOM_AREAS } from "../../src/app/conformance/workflow-areas.ts";

// Cases at the edges of the Artifact Contracts: limits and one more than them, which of two faults is told, and where.
// The expectations were worked out from the contract's text.

interface Case {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: unknown;
}

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const areas = read("workflow-derived.json") as Readonly<Record<string, readonly Case[]>>;

/** A run whose candidate is accepted; the cases of the state machine say what is different in theirs. */
const accepted = (read("../vectors/workflow.json") as (Case & { readonly id: string })[]).find(
  ({ id }) => id === "wf-T13",
)!;

function toInput(area: string, { input }: Case): object {
  if (area !== "state-machine") return input;
  const base = structuredClone(accepted.input) as Record<string, Record<string, unknown>>;
  const { drop = [], ...changes } = input;
  for (const path of drop as string[]) delete base["run_files"]![path];
  for (const [key, change] of Object.entries(changes)) {
    const isMap = typeof change === "object" && !Array.isArray(change);
    base[key] = (isMap ? { ...base[key], ...change } : change) as Record<string, unknown>;
  }
  return base;
}

it.each(Object.keys(areas))("%s answers at its edges as the contract says", async (area) => {
  const cases = areas[area]!.map((one) => ({
    id: one.name,
    area: `workflow.${area}`,
    name: one.name,
    input: toInput(area, one),
    expected: one.expected,
  }));
  const vectors = parseVectors(Buffer.from(JSON.stringify(cases)), "workflow-derived.json");
  const report = await runVectors(vectors, new Map(Object.entries(WORKFLOW_ROOM_AREAS)), conformancePorts);
  expect(report.mismatches).toEqual([]);
  expect(report.passed).toBe(cases.length);
});
