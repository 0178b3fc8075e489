import { expect, it } from "vitest";
import type { GateCommandResult } from "../ports.ts";
import { toTail } from "./command-ending.ts";

const ended = (stdout: string, stderr: string): GateCommandResult => ({
  ending: "exited",
  exit_code: 1,
  duration_ms: 1,
  stdout: Buffer.from(stdout),
  stderr: Buffer.from(stderr),
});

it("what npm says around a script does not hide what the script said", () => {
  const stdout = "\n> app@1.0.0 test\n\n  1) days\n     365 == 366\n";
  const stderr =
    "npm warn Unknown user config\nnpm error Lifecycle script `test` failed\nnpm error\nnpm errors are lines\n";
  expect(toTail(ended(stdout, stderr))).toEqual([
    "> app@1.0.0 test",
    "  1) days",
    "     365 == 366",
    "npm errors are lines",
  ]);
});

it("where npm alone said something, that is told", () => {
  expect(toTail(ended("", "npm error Missing script: test\n"))).toEqual(["npm error Missing script: test"]);
});

it("only the end of a long output is told, with its indentation and without empty lines", () => {
  const lines = Array.from({ length: 30 }, (_, i) => `  line ${i}`);
  expect(toTail(ended(`${lines.join("\n\n")}   \n`, ""))).toEqual(lines.slice(-20));
});

const PASSING = Array.from({ length: 30 }, (_, i) => `ok ${i + 1} - Error: number ${i} is shown`);
const TOTALS = ["1..31", "# tests 31", "# suites 0", "# pass 30", "# fail 1", "# duration_ms 93.872286"];

it.each([
  [
    "Node in a pipe",
    [...PASSING, "not ok 31 - a date", "  ---", "  error: '1 !== 2'", "  ...", ...TOTALS],
    "not ok 31 - a date",
  ],
  ["one package of several", ["not ok 1 - row", ...TOTALS, ...PASSING, ...TOTALS], "not ok 1 - row"],
  ["pytest", [">   assert 1 == 3", "E   assert 1 == 3", ...PASSING, "1 failed in 0.1s"], "E   assert 1 == 3"],
  ["Go", ["=== RUN TestTide", "--- FAIL: TestTide (0.00s)", ...PASSING, "FAIL"], "--- FAIL: TestTide (0.00s)"],
  ["Cargo", ["   Compiling tide", "error[E0599]: no method", ...PASSING], "error[E0599]: no method"],
  [
    "TypeScript",
    ["> tsc", "a.ts(1,2): error TS2304: Cannot find name", ...PASSING],
    "a.ts(1,2): error TS2304: Cannot find name",
  ],
  [
    "a linter, with the file",
    ["> eslint .", "/srv/lib/tide.js", "  1:9  warning  odd", "  3:2  error  no such name", "✖ 1 problem (1 error)"],
    "/srv/lib/tide.js",
  ],
  ["a test that fails before the linter", ["✖ high tide", "lib/tide.js", "  3:2  error  no such name"], "✖ high tide"],
  [
    "a mark, before an error that a passing test printed",
    ["Error: simulated", "✖ high tide", "1 !== 2"],
    "✖ high tide",
  ],
])("what is told begins where something failed: %s", (_runner, lines, first) => {
  const told = toTail(ended(lines.join("\n"), ""));
  expect([told[0], told.length <= 20]).toEqual([first, true]);
  expect(told).not.toContain("# tests 31");
});
