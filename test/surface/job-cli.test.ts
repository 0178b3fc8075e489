import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";

/** Jobs as people and scripts meet them: exit codes, files, standard input, JSON Lines, signals. */

const RUN = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";
const BUDGETS = { max_symbols: 9, max_sections: 9, max_bytes_expanded: 999, max_expands_per_step: 9 };

const MESSAGE = {
  intent: "read the log",
  refs: ["@LOG/DAY"],
  ops: [
    { type: "READ", target: "@LOG/DAY", params: { output: "day" } },
    { type: "READ", target: "@LOG/DAY", params: { slice: "head(1)" } },
  ],
  budgets: BUDGETS,
  required_outputs: ["day"],
};

async function openHarbour() {
  const cwd = join(makeFolder(), "harbour");
  mkdirSync(join(cwd, "LAW", "CANON"), { recursive: true });
  writeFileSync(join(cwd, "LAW", "CANON", "DAY.md"), "# Day\nTwo boats came in.\nThe lamp was lit.\n");
  const run = (args: readonly string[], stdin?: string) =>
    runHere(args, { cwd, ...(stdin === undefined ? {} : { stdin }) });
  await run(["index", "build"]);
  await run(["symbol", "add", "@LOG/DAY", "--file", "LAW/CANON/DAY.md", "--slice", "lines[1:3]"]);
  const size = async () => (JSON.parse((await run(["ledger", "show", "--json"])).stdout) as { total: number }).total;
  return { cwd, run, size };
}

describe("verbatim job", () => {
  it("plans without writing, posts, runs and shows receipts as canonical lines", async () => {
    const { run, size } = await openHarbour();
    const text = JSON.stringify(MESSAGE);
    const before = await size();
    expect((await run(["job", "plan", "-", "--run-id", RUN], text)).exit).toBe(0);
    expect(await size()).toBe(before);
    const posted = await run(["job", "post", "-", "--run-id", RUN, "--json"], text);
    const { job_id, existing } = JSON.parse(posted.stdout) as { job_id: string; existing: boolean };
    expect([posted.exit, existing]).toEqual([0, false]);
    expect((await run(["job", "receipts", job_id])).stdout).toBe("no step has finished yet\n");
    expect((await run(["job", "run", job_id, "--workers", "3"])).exit).toBe(0);
    expect((await run(["job", "run", job_id])).exit).toBe(0);
    const lines = (await run(["job", "receipts", job_id, "--json"])).stdout.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { status: string }).status)).toEqual(["SUCCESS", "SUCCESS"]);
    expect(lines[0]).toMatch(/^\{"actions":\[\{"result":\{"bytes":36,/);
    expect((await run(["job", "cancel", job_id])).stdout).toContain("it had already finished");
    expect((await run(["ledger", "verify"])).exit).toBe(0);
  });

  it.each([
    ["a breach in a plan", ["plan"], { budgets: { ...BUDGETS, max_expands_per_step: 1 } }, 1, "BUDGET_EXPANDS"],
    ["an unknown symbol", ["post"], { refs: ["@LOG/DAY", "@LOG/DAI"] }, 1, "@LOG/DAY"],
    ["a missing field", ["post"], { intent: undefined }, 2, "MESSAGE_FIELD_MISSING at /intent"],
    ["a breach when it runs", ["submit"], { budgets: { ...BUDGETS, max_bytes_expanded: 36 } }, 1, "JOB_FAILED"],
  ])("exits as the document says for %s", async (_, verb, change, exit, hint) => {
    const { run } = await openHarbour();
    const result = await run(["job", ...verb, "-"], JSON.stringify({ ...MESSAGE, ...change }));
    expect(result.exit).toBe(exit);
    expect(result.stdout + result.stderr).toContain(hint);
  });

  it("refuses what is not JSON, too long or absent with exit 2 and records nothing", async () => {
    const { cwd, run, size } = await openHarbour();
    const before = await size();
    writeFileSync(join(cwd, "long.json"), `"${"a".repeat(17 * 1024 * 1024)}"`);
    const broken = await run(["job", "post", "-"], '{"intent": "a", "intent": "b"}');
    const long = await run(["job", "post", "long.json"]);
    const absent = await run(["job", "post", "gone.json"]);
    const unknown = await run(["job", "status", "job_0000000000000000"]);
    const codes = [broken, long, absent, unknown].map(({ exit, stderr }) => [exit, /error\[(\w+)\]/.exec(stderr)?.[1]]);
    expect(codes).toEqual([
      [2, "JSON_DUPLICATE_KEY"],
      [2, "MESSAGE_TOO_LARGE"],
      [2, "FILE_NOT_FOUND"],
      [2, "JOB_UNKNOWN"],
    ]);
    expect(await size()).toBe(before);
  });

  it("refuses a run id that is no UUID and more than 16 workers", async () => {
    const { run } = await openHarbour();
    for (const args of [
      ["post", "-", "--run-id", "run-1"],
      ["submit", "-", "--workers", "17"],
    ]) {
      const { exit, stderr } = await run(["job", ...args], JSON.stringify(MESSAGE));
      expect([exit, stderr]).toEqual([2, expect.stringContaining("INPUT_INVALID")]);
    }
  });

  it.each(["SIGINT", "SIGTERM"] as const)("a worker ends well on %s, having run what was posted", async (signal) => {
    const { cwd, run } = await openHarbour();
    const { job_id } = JSON.parse((await run(["job", "post", "-", "--json"], JSON.stringify(MESSAGE))).stdout) as {
      job_id: string;
    };
    const bin = new URL("../../bin/verbatim.js", import.meta.url).pathname;
    const env = { PATH: process.env["PATH"], HOME: join(cwd, "..", "home") };
    const worker = spawn(process.execPath, [bin, "job", "worker", "--workers", "2"], { cwd, env });
    let said = "";
    worker.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    const ended = new Promise<number | null>((done) => worker.on("close", done));
    const state = async () =>
      (JSON.parse((await run(["job", "status", job_id, "--json"])).stdout) as { state: string }).state;
    await expect.poll(state, { timeout: 200_000 }).toBe("SUCCEEDED");
    worker.kill(signal);
    expect([await ended, said]).toEqual([0, "2 steps done\n"]);
  });
});
