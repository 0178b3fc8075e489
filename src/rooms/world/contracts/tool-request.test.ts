import { expect, it } from "vitest";
import type { JsonValue } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { Cast } from "../people/cast.ts";
import { checkToolRequest } from "./tool-request.ts";

const cast: Cast = {
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Map([["ANA", "Ana"]]),
  present: ["ANA", "GEORGE"],
  visibility_default: "presence",
  writer_lint: "report",
};

function refusal(tool: JsonValue): string | null {
  try {
    checkToolRequest({ tool }, { cast, request_id: "req-1", actor: "WORLD" }, "short");
    return null;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return `${thrown.code} ${thrown.where}`;
  }
}

it("whoever is neither the operator nor registered is unknown, however the id is spelled", () => {
  const search = (person_id: JsonValue) => ({ name: "LEDGER_SEARCH", query_text: "tea", constraints: { person_id } });
  expect(refusal(search("ANA"))).toBeNull();
  expect(refusal(search("GEORGE"))).toBeNull();
  for (const id of ["ZOE", "ana", "WORLD", "ANA B"]) {
    expect(refusal(search(id)), id).toBe("PERSON_UNKNOWN /tool/constraints/person_id");
  }
  expect(refusal(search(""))).toBe("FIELD_EMPTY /tool/constraints/person_id");
});

it("a capsule without a person is refused at its place in the order, before fields nobody knows", () => {
  const where = "/tool/constraints/person_id";
  expect(refusal({ name: "CAPSULE_GET" })).toBe(`FIELD_MISSING ${where}`);
  expect(refusal({ name: "CAPSULE_GET", constraints: { zeal: 1 } })).toBe(`FIELD_MISSING ${where}`);
  expect(refusal({ name: "CAPSULE_GET", constraints: { limit: 0 } })).toBe(
    "LIMIT_OUT_OF_RANGE /tool/constraints/limit",
  );
  expect(refusal({ name: "CAPSULE_GET", constraints: { person_id: "ANA", zeal: 1 } })).toBe(
    "FIELD_UNKNOWN /tool/constraints/zeal",
  );
});
