import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { formatContractSchema } from "../../src/app/hall/contract-files.ts";
import { CONTRACTS, toContractId } from "../../src/app/hall/contracts.ts";
import { formatCanonical } from "../../src/core/canonical/index.ts";
import type { JsonContract } from "../../src/core/contracts/index.ts";
import { listExamples } from "../support/contract-examples.ts";

/** The published schemas, judged by a validator that is not ours: anybody can check our objects with them. */

const json = CONTRACTS.filter((one): one is JsonContract => one.media !== "text");
// What a schema always expresses exactly; named checks, text forms and conditional fields are ours alone.
const EXPRESSIBLE = new Set(["FIELD_UNKNOWN"]);

describe.each(json.map((contract) => [toContractId(contract), contract] as const))("%s", (_, contract) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const validate = ajv.compile(JSON.parse(formatContractSchema(contract)) as object);
  const examples = listExamples(contract);

  it("accepts every valid example", () => {
    const values = examples.flatMap((one) => (one.kind === "valid" && "value" in one.instance ? [one] : []));
    expect(values.length).toBeGreaterThan(0);
    for (const { file, instance } of values) {
      const plain: unknown = JSON.parse(formatCanonical("value" in instance ? instance.value : null));
      expect({ file, ok: validate(plain), errors: validate.errors ?? [] }).toEqual({ file, ok: true, errors: [] });
    }
  });

  it("refuses every invalid example whose fault a schema can express", () => {
    for (const { file, kind, expect: faults, instance } of examples) {
      if (kind === "valid" || !("value" in instance) || !faults.some(({ code }) => EXPRESSIBLE.has(code))) continue;
      const plain: unknown = JSON.parse(formatCanonical(instance.value));
      expect({ file, ok: validate(plain) }).toEqual({ file, ok: false });
    }
  });
});
