import { describe, expect, it } from "vitest";
import { GateReports } from "./gate-reports.ts";

const works = [{ gate: "unit", commands: [{ argv: ["true"], timeout_s: 5, cwd: "." }], looks: [] }] as never;
const say = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`);
const RESULT = { result: { exit_code: 0, ending: "exited", duration_ms: 3 } };

describe("what the gate runner says", () => {
  it("is put together however it is cut", async () => {
    const reports = new GateReports(works);
    const text = [{ output: "stdout", bytes: "aGk=" }, RESULT, { gate: "unit", present: [] }].map(say);
    for (const byte of Buffer.concat(text)) reports.hear(new Uint8Array([byte]));
    const { results } = await reports.next();
    expect(results.map(({ exit_code, stdout }) => [exit_code, Buffer.from(stdout).toString()])).toEqual([[0, "hi"]]);
    expect(reports.problem).toBeNull();
  });

  it.each([
    ["a result too many", [RESULT, RESULT]],
    ["a gate before its results", [{ gate: "unit", present: [] }]],
    ["a gate that is not next", [RESULT, { gate: "lint", present: [] }]],
    ["anything after the last gate", [RESULT, { gate: "unit", present: [] }, RESULT]],
    ["something else", [{ hello: "there" }]],
  ])("is not believed with %s", (_, messages) => {
    const reports = new GateReports(works);
    for (const message of messages) reports.hear(say(message));
    expect(reports.problem).toContain("in the name of the gate runner");
  });

  it("is not believed, and not kept, when a line does not end", () => {
    const reports = new GateReports(works);
    const piece = new Uint8Array(1024 * 1024).fill(0x61);
    for (let i = 0; i < 8; i++) reports.hear(piece);
    expect(reports.problem).toBeNull();
    reports.hear(piece);
    expect(reports.problem).toContain("in the name of the gate runner");
  });
});

describe("a runner that writes first", () => {
  const work = { gate: "lite", commands: [], looks: [] };
  const wrote = { wrote: { path: "a", mode: null } };
  const hear = (...messages: readonly object[]) => {
    const reports = new GateReports([work], true);
    for (const message of messages) reports.hear(Buffer.from(`${JSON.stringify(message)}\n`));
    return reports;
  };

  it("tells what lies where it wrote, and then of its gates", async () => {
    const reports = hear(wrote, { written: 1 }, { gate: "lite", present: [] });
    expect(await reports.written()).toEqual([{ path: "a", mode: null }]);
    expect(await reports.next()).toEqual({ results: [], present: [] });
    expect(reports.problem).toBeNull();
  });

  it.each([
    ["a gate is over before everything was written", [{ gate: "lite", present: [] }]],
    ["the number of paths is another", [wrote, { written: 2 }]],
    ["somebody tells of a write afterwards", [wrote, { written: 1 }, wrote]],
  ])("is not believed when %s", (_, messages) => {
    expect(hear(...messages).problem).toBe("something else wrote in the name of the gate runner");
  });

  it("has not written when it says so, or when it ends before: VERIFY_VIEW_MISMATCH with the path", async () => {
    const refused = hear({ unwritten: { path: "b/c", why: "read-only file system" } });
    refused.finish(70, "ended");
    await expect(refused.written()).rejects.toMatchObject({ code: "VERIFY_VIEW_MISMATCH", where: "b/c" });
    const early = hear(wrote);
    early.finish(1, "ended");
    await expect(early.written()).rejects.toMatchObject({ code: "VERIFY_VIEW_MISMATCH", where: "." });
  });
});
