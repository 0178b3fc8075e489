// From the words of a caller to a JobSpec: what is filled in, what is passed on, what is refused.
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { JsonObject } from "../../../core/canonical/index.ts";
import type { RoomPorts } from "../operations/ports.ts";
import { runInput, toJobSpec } from "./run-input.ts";

const asked: unknown[] = [];
const ports = (file = "{}") =>
  ({
    crypto: nodeCrypto,
    clock: { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) },
    random: { bytes: (count: number) => new Uint8Array(count).fill(0xab) },
    places: () => ({ root: "/r", state: "/r/s", user_state: "/u", config: { durable_roots: ["dist", "out"] } }),
    files: {
      read: async (...args: unknown[]) => {
        asked.push(args);
        return Buffer.from(file);
      },
    },
  }) as unknown as RoomPorts;
const make = (given: object, file?: string) => toJobSpec(ports(file), runInput.parse(given)) as Promise<JsonObject>;
const base = { command: ["make", "all"], domain: ["work"] };
const refusal = (given: object, file?: string) => make(given, file).catch((thrown: unknown) => thrown);

describe("a JobSpec from fields", () => {
  it("has everything that was not said", async () => {
    expect(await make(base)).toEqual({
      schema_version: "cmp01-jobspec-1",
      run_id: "r-20260102t030405z-abababab",
      job_id: `job-${nodeCrypto.sha256('{"argv":["make","all"],"cwd":"."}').slice(0, 16)}`,
      intent: "Run make all",
      determinism: "nondeterministic",
      catalytic_domains: ["work"],
      durable_output_roots: [],
      outputs: { durable_paths: [] },
      command: ["make", "all"],
      cwd: ".",
      env: { allow: ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER"], set: {} },
      inputs: [],
    });
  });

  it("has everything that was said", async () => {
    const given = {
      ...base,
      out: ["dist/a"],
      out_root: ["dist/b"],
      input: ["src"],
      intent: "Build",
      job_id: "j",
      run_id: "r",
      determinism: "deterministic",
      cwd: "sub",
      env: ["MINE", "A=1", "B=x=y", "C="],
      timeout: "5m",
      expect_exit: "0,12",
      guard: "audit",
      network: "none",
      memo: true,
      strict_mtime: true,
    };
    expect(await make(given)).toMatchObject({
      run_id: "r",
      job_id: "j",
      intent: "Build",
      determinism: "deterministic",
      durable_output_roots: ["dist/b"],
      outputs: { durable_paths: ["dist/a"] },
      cwd: "sub",
      env: { allow: expect.arrayContaining(["PATH", "MINE"]), set: { A: "1", B: "x=y", C: "" } },
      inputs: ["src"],
      timeout_ms: 300_000,
      expected_exit_codes: [0, 12],
      guard: "audit",
      network: "none",
      memo: true,
      strict_mtime: true,
    });
  });

  it("takes the configured root of each output", async () => {
    expect((await make({ ...base, out: ["./out/x", "lib/y"] }))["durable_output_roots"]).toEqual(["out"]);
    expect((await make({ ...base, out: ["dist/", "out/x"] }))["durable_output_roots"]).toEqual(["dist", "out"]);
  });

  it("describes the command on one short line", async () => {
    const intent = async (command: string[]) => (await make({ ...base, command }))["intent"];
    expect(await intent(["a", "b\n\u2028c"])).toBe("Run a b c");
    expect(await intent(["x".repeat(300)])).toBe(`Run ${"x".repeat(196)}`);
  });

  it.each([
    ["9ms", 9],
    ["30s", 30_000],
    ["2m", 120_000],
    ["1h", 3_600_000],
  ])("reads %s", async (timeout, ms) => {
    expect((await make({ ...base, timeout }))["timeout_ms"]).toBe(ms);
  });

  it.each([
    [{ domain: ["work"] }, "there is no command"],
    [{ command: ["x"] }, "there is no domain"],
    [{ ...base, timeout: "5" }, "5 is not a duration"],
    [{ ...base, timeout: "5d" }, "5d is not a duration"],
    [{ ...base, timeout: "1234567890s" }, "1234567890s is not a duration"],
    [{ ...base, expect_exit: "0," }, "0, is not a list of exit codes"],
    [{ ...base, expect_exit: "1234" }, "1234 is not a list of exit codes"],
    [{ ...base, expect_exit: "" }, " is not a list of exit codes"],
  ])("is refused: %j", async (given, message) => {
    expect(await refusal(given)).toMatchObject({ code: "USAGE", message });
  });
});

describe("a JobSpec from a file", () => {
  it("is what the file says, and what may be said beside it", async () => {
    expect(await make({ jobspec: "job.json" }, '{"run_id":"a","memo":false}')).toEqual({ run_id: "a", memo: false });
    expect(asked.at(-1)).toEqual(["job.json", 1_048_576]);
    const beside = {
      run_id: "b",
      guard: "landlock",
      network: "none",
      memo: true,
      sign: true,
      tripwire: "report",
      check: true,
    };
    expect(await make({ jobspec: "job.json", ...beside }, '{"run_id":"a"}')).toEqual({
      run_id: "b",
      guard: "landlock",
      network: "none",
      memo: true,
    });
    expect(await make({ jobspec: "job.json" }, "[1]")).toEqual([1]);
  });

  it.each([
    [{ command: ["x"] }, "a command"],
    [{ out_root: ["x"] }, "--out-root"],
    [{ strict_mtime: true }, "--strict-mtime"],
    [{ timeout: "1s" }, "--timeout"],
  ])("takes nothing else beside it: %j", async (given, what) => {
    expect(await refusal({ jobspec: "job.json", ...given })).toMatchObject({
      code: "USAGE",
      message: `${what} cannot be combined with a JobSpec file`,
    });
  });

  it("that is no JSON is refused at its place, and an error of the program is none of it", async () => {
    expect(await refusal({ jobspec: "job.json" }, "{")).toMatchObject({
      code: "JOBSPEC_INVALID",
      where: expect.stringContaining("job.json"),
      details: { errors: [{ code: "JOBSPEC_INVALID", pointer: "" }] },
    });
    const broken = { ...ports(), files: { read: async () => null } } as unknown as RoomPorts;
    await expect(toJobSpec(broken, runInput.parse({ jobspec: "job.json" }))).rejects.toThrow(TypeError);
  });
});
