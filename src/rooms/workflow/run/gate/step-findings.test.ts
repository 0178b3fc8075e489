import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../../core/canonical/index.ts";
import { VERIFY_REPORT_FILE } from "../../artifacts/verify-report.ts";
import { PATCH_GATE_FILE } from "./gate-record.ts";
import { listFindings, readFailures } from "./step-findings.ts";

const runOf = (files: Readonly<Record<string, string>>, last: string | null = null) =>
  ({
    state: { candidates: last === null ? [] : [{ state: last }] },
    read: (path: string) => (files[path] === undefined ? null : encodeUtf8(files[path])),
  }) as never;
const FAILURES = [{ kind: "TEST_FAILED", id: "unit", message: "first line\nsecond line" }];
const REPORT = { [VERIFY_REPORT_FILE]: JSON.stringify({ failures: FAILURES }) };
const step = (parts: object) => ({ state: "waiting", code: null, findings: [], ...parts }) as never;

describe("the failures of a verification", () => {
  it("are those of the report that can be read", () => {
    expect(readFailures(runOf(REPORT))).toEqual(FAILURES);
    const halves = [{ kind: "A", id: "b" }, { kind: "A", message: "c" }, { id: "b", message: "c" }, 7, ...FAILURES];
    expect(readFailures(runOf({ [VERIFY_REPORT_FILE]: JSON.stringify({ failures: halves }) }))).toEqual(FAILURES);
  });

  it.each(["", "{", "[]", "null", "{}"])("are none when the report is %j, or missing", (text) => {
    expect(readFailures(runOf({ [VERIFY_REPORT_FILE]: text }))).toEqual([]);
    expect(readFailures(runOf({}))).toEqual([]);
  });
});

describe("what is wrong where a run stands", () => {
  it("is what the verification said, with its first line", () => {
    const fix = "See logs/verify.stderr.log.";
    const found = { code: "TEST_FAILED", file: VERIFY_REPORT_FILE, line: null, message: "unit: first line", fix };
    expect(listFindings(runOf(REPORT), step({ code: "VERIFY_FAILED" }))).toEqual([found]);
    expect(listFindings(runOf(REPORT, "verify_failed"), step({ state: "stopped" }))).toEqual([found]);
    expect(listFindings(runOf(REPORT, "verify_failed"), step({}))).toEqual([]);
  });

  it("is why the patch was refused, rule by rule, or as a whole", () => {
    const gate = (result: object) => runOf({ [PATCH_GATE_FILE]: JSON.stringify({ result }) }, "rejected");
    const findings = [{ code: "POLICY_LIMIT", rule: "size", path: "a.txt" }, { rule: "count" }];
    expect(listFindings(gate({ line: 3, findings }), step({ state: "stopped" }))).toMatchObject([
      { code: "POLICY_LIMIT", line: 3, message: "size a.txt" },
      { code: "PATCH_REJECTED", line: 3, message: "count" },
    ]);
    expect(listFindings(gate({ line: "3", rule: "size" }), step({ code: "PATCH_REJECTED" }))).toMatchObject([
      { code: "PATCH_REJECTED", line: null, message: "size" },
    ]);
  });

  it("is otherwise what the step itself found", () => {
    expect(listFindings(runOf({}), step({ findings: [{ code: "X" }] }))).toEqual([{ code: "X" }]);
  });
});
