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
