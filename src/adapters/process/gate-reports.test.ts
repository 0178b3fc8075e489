import { describe, expect, it } from "vitest";
import { GateReports } from "./gate-reports.ts";

const command = { argv: ["true"], cwd: ".", timeout_s: 1 };
const works = [
  { gate: "lite", commands: [command, command], looks: [] },
  { gate: "plan_check", commands: [], looks: ["a", "b"] },
];
const line = (message: object) => Buffer.from(`${JSON.stringify(message)}\n`);
const result = (exit_code: number) => line({ result: { exit_code, ending: "exited", duration_ms: 1 } });
const output = (text: string) => line({ output: "stdout", bytes: Buffer.from(text).toString("base64") });
const gate = (name: string, present: boolean[] = []) => line({ gate: name, present });
const texts = (done: Awaited<ReturnType<GateReports["next"]>>) =>
  done.results.map(
    (one) => `${one.exit_code} ${Buffer.from(one.stdout).toString()}${Buffer.from(one.stderr).toString()}`,
  );

describe("what the gate runner reports", () => {
  it("is put together whole however the bytes are cut", async () => {
    const reports = new GateReports(works);
    const first = reports.next();
    const said = Buffer.concat([output("one "), output("é"), result(0), output("two"), result(3), gate("lite")]);
    for (const byte of said) reports.hear(Uint8Array.of(byte));
    expect(texts(await first)).toEqual(["0 one é", "3 two"]);
    reports.hear(gate("plan_check", [true, false]));
    reports.finish(0, "");
    expect((await reports.next()).present).toEqual([true, false]);
    expect(reports.problem).toBeNull();
  });

  it("counts as failed where it is missing", async () => {
    const reports = new GateReports(works);
    reports.hear(Buffer.concat([result(0), output("half")]));
    reports.finish(137, "killed");
    expect(texts(await reports.next())).toEqual(["0 ", "137 halfkilled\n"]);
    expect((await reports.next()).present).toEqual([false, false]);
  });

  it.each([
    ["no JSON", Buffer.from("hello\n")],
    ["an unknown message", line({ verdict: "PASS" })],
    ["more results than commands", Buffer.concat([result(0), result(0), result(0)])],
    ["the end of another gate", Buffer.concat([result(0), result(0), gate("full")])],
    ["the end of a gate whose commands did not run", Buffer.concat([result(0), gate("lite")])],
    ["too few answers", Buffer.concat([result(0), result(0), gate("lite"), gate("plan_check", [true])])],
    ["a message after the end", Buffer.concat([result(1), gate("lite"), gate("plan_check", [true, true]), result(0)])],
    ["an exit code that is none", Buffer.concat([result(-1)])],
  ])("is not believed any more after %s", (_, bytes) => {
    const reports = new GateReports(works);
    reports.hear(bytes);
    expect(reports.problem).not.toBeNull();
  });

  it("hands a failure of the view on to whoever waits", async () => {
    const reports = new GateReports(works);
    const waiting = reports.next();
    reports.fail(new Error("no view"));
    await expect(waiting).rejects.toThrow("no view");
    await expect(reports.next()).rejects.toThrow("no view");
  });
});
