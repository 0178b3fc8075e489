import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "./command.ts";
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
  it("is kept although nobody had time to read it until the time for it was over", async () => {
    const { PATH = "" } = process.env;
    const request = {
      argv: LATE,
      cwd: folder,
      env: { PATH },
      timeout_ms: 60_000,
      signal: new AbortController().signal,
    };
    const running = runCommand(request);
    while (!existsSync(join(folder, "gone"))) await wait(5);
    await wait(50);
    // Now this process is as busy as it can be.
    const until = Date.now() + OVER_MS;
    while (Date.now() < until || !existsSync(join(folder, "said")));
    expect((await running).stdout.toString()).toBe("late\n");
  });

  it("is told by the gate runner as well, when it was stopped for so long", async () => {
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
