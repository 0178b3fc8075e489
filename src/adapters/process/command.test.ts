import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildChild } from "../../../test/support/child.ts";
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

/** Stops a reader from when it has heard that LATE ended until the time for reading what it said is over. */
async function stopOverTheEnd(reader: ChildProcess): Promise<void> {
  while (!existsSync(join(folder, "gone"))) await wait(5);
  // Nobody is left to be waited for: the end was heard.
  const children = `/proc/${reader.pid}/task/${reader.pid}/children`;
  while (existsSync(children) && readFileSync(children, "utf8") !== "") await wait(5);
  await wait(50);
  reader.kill("SIGSTOP");
  await wait(OVER_MS);
  while (!existsSync(join(folder, "said"))) await wait(5);
  reader.kill("SIGCONT");
}

describe("what a command printed", () => {
  it("is told by who ran it although it was stopped until the time for reading it was over", async () => {
    const program = await buildChild("test/support/command-child.ts");
    try {
      const { process: reader, lines, ended } = program.start(LATE, { cwd: folder });
      await stopOverTheEnd(reader);
      expect(await ended).toMatchObject({ code: 0, errors: "" });
      expect(JSON.parse(lines[0]!)).toEqual({ exit_code: 0, ending: "exited", stdout: "late\n" });
    } finally {
      program.remove();
    }
  });

  it("is told by the gate runner although it was stopped until the time for reading it was over", async () => {
    const work = [{ gate: "g", commands: [{ argv: LATE, cwd: "", timeout_s: 60 }], looks: [], required: true }];
    const argv = ["--input-type=commonjs", "-e", GATE_RUNNER_SCRIPT, "--", JSON.stringify(work)];
    const runner = spawn(process.execPath, argv, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const said = text(runner.stdout);
    await stopOverTheEnd(runner);
    const lines = (await said)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toEqual({ output: "stdout", bytes: Buffer.from("late\n").toString("base64") });
    expect(lines.slice(1)).toMatchObject([{ result: { exit_code: 0, ending: "exited" } }, { gate: "g" }]);
  });
});
