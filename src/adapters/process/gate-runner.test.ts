import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GATE_RUNNER_SCRIPT } from "./gate-runner-script.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-command-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Ends at once; something that left its group says one more word a moment later and holds the pipe until then. */
const LATE = [
  "sh",
  "-c",
  "setsid sh -c 'touch gone; sleep 0.3; echo late; touch said' & while [ ! -e gone ]; do sleep 0.01; done",
];
/** As long as the pipes are left open for, and a little more. */
const OVER_MS = 1300;

describe("what a command printed", () => {
  it("is told by the gate runner although it was stopped until the time for reading it was over", async () => {
    const work = [{ gate: "g", commands: [{ argv: LATE, cwd: "", timeout_s: 60 }], looks: [], required: true }];
    const argv = ["--input-type=commonjs", "-e", GATE_RUNNER_SCRIPT, "--", JSON.stringify(work)];
    const runner = spawn(process.execPath, argv, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const said = text(runner.stdout);
    while (!existsSync(join(folder, "gone"))) await wait(5);
    await wait(50);
    runner.kill("SIGSTOP");
    await wait(OVER_MS);
    while (!existsSync(join(folder, "said"))) await wait(5);
    runner.kill("SIGCONT");
    const lines = (await said)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toEqual({ output: "stdout", bytes: Buffer.from("late\n").toString("base64") });
    expect(lines.slice(1)).toMatchObject([{ result: { exit_code: 0, ending: "exited" } }, { gate: "g" }]);
  });
});
