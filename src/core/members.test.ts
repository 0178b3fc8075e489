import { describe, expect, it } from "vitest";
import { Float, type JsonValue, parseJson } from "./canonical/index.ts";
import { COUNT, checkMembers, describeProblems, type FieldProblem, HASH, TEXT } from "./members.ts";

const RULES = { name: TEXT, hash: HASH, size: COUNT };

function problemsOf(value: JsonValue): string[] {
  const problems: FieldProblem[] = [];
  checkMembers(value, "/at", RULES, problems, ["name"]);
  return problems.map(({ code, pointer }) => `${code} ${pointer}`);
}

describe("members", () => {
  const good = { name: "x", hash: "a".repeat(64), size: 3 };

  it("fit when all are there in their form; optional ones may be absent", () => {
    const { name: _gone, ...rest } = good;
    expect(problemsOf(good)).toEqual([]);
    expect(problemsOf(rest)).toEqual([]);
    expect(problemsOf({ ...good, size: 0 })).toEqual([]);
    expect(problemsOf({ ...good, size: Number.MAX_SAFE_INTEGER })).toEqual([]);
  });

  it("are all reported: missing and wrong ones by rule, unknown ones by code point", () => {
    const value = parseJson('{"\\ue000":1,"\\ud83d\\ude00":1,"a/b~":1,"__proto__":1,"name":null,"hash":"A"}');
    expect(problemsOf(value)).toEqual([
      "FIELD_TYPE /at/name",
      "FIELD_VALUE /at/hash",
      "FIELD_MISSING /at/size",
      "FIELD_UNKNOWN /at/__proto__",
      "FIELD_UNKNOWN /at/a~1b~0",
      "FIELD_UNKNOWN /at/\ue000",
      "FIELD_UNKNOWN /at/😀",
    ]);
  });

  it("that count are integers by their text, from 0 to 2^53-1", () => {
    for (const size of [new Float(3), 0.5, "3", null, true]) {
      expect(problemsOf({ ...good, size })).toEqual(["FIELD_TYPE /at/size"]);
    }
    for (const size of [-1, 2n ** 53n, -(2n ** 80n)]) {
      expect(problemsOf({ ...good, size })).toEqual(["FIELD_VALUE /at/size"]);
    }
  });

  it("are only those of objects", () => {
    for (const value of [null, [], "x", 1, new Float(1)]) expect(problemsOf(value)).toEqual(["FIELD_TYPE /at"]);
  });

  it("are described by the first problem and the number of others", () => {
    const problems: FieldProblem[] = [];
    checkMembers([], "", RULES, problems);
    expect(describeProblems("the thing", problems)).toBe("the thing: it must be an object");
    checkMembers({}, "/x", RULES, problems);
    expect(describeProblems("the thing", problems.slice(1))).toBe("the thing: /x/name is missing, and 2 more");
  });
});
