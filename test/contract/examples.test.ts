// Every contract object and every example file below contracts/: adding a file adds a test.
import { describe, expect, it } from "vitest";
import { toContractPath } from "../../src/app/hall/contract-files.ts";
import { CONTRACTS, toContractId } from "../../src/app/hall/contracts.ts";
import { exportSchema } from "../../src/core/contracts/index.ts";
import { compileSchema } from "../../src/core/contracts/schema-check.ts";
import { FINDINGS } from "../../src/core/errors/index.ts";
import { type Expected, judgeExample, listExampleFolders, listExamples } from "../support/contract-examples.ts";

const byText = (all: readonly Expected[]) => all.map((one) => JSON.stringify(one)).sort();

describe.each(CONTRACTS.map((contract) => [toContractId(contract), contract] as const))("%s", (_, contract) => {
  const examples = listExamples(contract);
  const valid = examples.filter(({ kind }) => kind === "valid");
  const invalid = examples.filter(({ kind }) => kind === "invalid");

  it("has at least two valid and five invalid examples", () => {
    expect(valid.length).toBeGreaterThanOrEqual(2);
    expect(invalid.length).toBeGreaterThanOrEqual(5);
  });

  it("has an invalid example for every code it can raise", () => {
    const shown = new Set(invalid.flatMap((example) => example.expect.map(({ code }) => code)));
    expect([...contract.codes.keys()].filter((code) => !shown.has(code))).toEqual([]);
  });

  it("raises only codes that the table of findings explains", () => {
    const tables: Readonly<Record<string, object>> = FINDINGS;
    const known = { ...FINDINGS.contract, ...tables[contract.room] };
    expect([...contract.codes.keys()].filter((code) => !(code in known))).toEqual([]);
  });

  it.each(valid.map((example) => [example.file, example] as const))("accepts %s", async (_file, example) => {
    expect(await judgeExample(example)).toEqual([]);
  });

  it.each(invalid.map((example) => [example.file, example] as const))(
    "refuses %s for its reasons",
    async (_file, example) => {
      expect(example.expect.length).toBeGreaterThan(0);
      expect(byText(await judgeExample(example))).toEqual(byText(example.expect));
    },
  );

  // A text object has a line parser and no schema: there is nothing to test, so nothing to skip.
  if (contract.media === "text") return;
  it("publishes a schema that accepts every valid example", () => {
    const published = compileSchema(exportSchema(contract.schema));
    const problems = valid.flatMap(({ instance }) => ("value" in instance ? published.check(instance.value) : []));
    expect(problems).toEqual([]);
  });
});

describe("the folder of examples", () => {
  it("has no examples of an object that does not exist", () => {
    const known = CONTRACTS.map(toContractPath);
    expect(listExampleFolders().filter((folder) => !known.includes(folder))).toEqual([]);
  });

  it("names every object once", () => {
    const names = CONTRACTS.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
  });
});
