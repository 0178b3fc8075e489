// What is made of the gates of one verification: the isolation is played, so nothing is run.
import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../../core/canonical/index.ts";
import { EXPECTED_RESULTS_FILE } from "../../artifacts/expected-results.ts";
import { PLAN_FILE } from "../../artifacts/plan.ts";
import type { GateCommandResult, GateDone } from "../../ports.ts";
import { chooseIsolation, runGates } from "./verify-run.ts";

interface Parts {
  readonly setup?: readonly object[];
  readonly gates?: Readonly<Record<string, readonly object[]>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly objects?: string | null;
  readonly isolation?: string;
}

const result = (exit_code: number, more: Partial<GateCommandResult> = {}): GateCommandResult =>
  ({
    exit_code,
    ending: "exited",
    duration_ms: 5,
    stdout: encodeUtf8("out\n"),
    stderr: encodeUtf8("err\n"),
    ...more,
  }) as GateCommandResult;
const done = (results: readonly GateCommandResult[] = [], present: readonly boolean[] = []): GateDone => ({
  results,
  present,
});

/** What was found, or what was thrown instead. */
type Found = Awaited<ReturnType<typeof runGates>> & { readonly thrown?: unknown };

function play({ setup = [], gates = {}, files = {}, objects = null, isolation = "auto" }: Parts = {}) {
  const events: string[] = [];
  let isInterrupted = false;
  const run = {
    id: "run-1",
    state: { direct: null },
    base: { objects },
    ports: {
      env: { PATH: "/bin", SECRET: "x" },
      repoRoot: "/r",
      clock: { now: () => 0 },
      config: {
        verify: {
          setup,
          gates: new Map(Object.entries(gates)),
          env_allow: ["PATH"],
          share: [{ path: "m" }],
          isolation,
        },
      },
      isolations: { choose: async (name: string) => name },
    },
    read: (path: string) => (files[path] === undefined ? null : encodeUtf8(files[path])),
    folder: { size: (path: string) => files[path]?.length ?? null },
    behaviorIds: () => null,
    knownGates: null,
  };
  const session = {
    run,
    signal: null,
    event: async (role: string, event: string, _: string, { gate }: { gate: string }) =>
      void events.push(`${role} ${event} ${gate}`),
    throwIfInterrupted: () => {
      if (isInterrupted) throw new Error("interrupted");
    },
  };
  const verify = async (names: readonly string[], dones: readonly GateDone[], closing: object = {}) => {
    let opened: object = {};
    let closed = 0;
    const played = [...dones];
    const open = async (asked: object) => {
      opened = asked;
      return { next: async () => played.shift()!, close: async () => (closed++, closing) };
    };
    const found = await runGates(
      session as never,
      { open } as never,
      { root: "/copy" } as never,
      { gates: names } as never,
    ).catch((thrown: unknown) => ({ thrown }));
    return { found: found as Found, opened, closed };
  };
  const interrupt = () => {
    isInterrupted = true;
  };
  return { session, events, verify, interrupt };
}

describe("a gate", () => {
  it("passes when its commands do, and is written down with what they said", async () => {
    const { verify, events } = play({ gates: { lint: [{ argv: ["lint", "a b"] }] } });
    const { found, closed } = await verify(["lint"], [done([result(0)])], { catalytic_run_id: "v-1" });
    expect(found).toEqual({
      commands: [{ cmd: "lint 'a b'", exit_code: 0, gate: "lint", duration_ms: 5 }],
      failures: [],
      executed: ["lint"],
      stdout: encodeUtf8("$ lint 'a b'\nout\n"),
      stderr: encodeUtf8("$ lint 'a b'\nerr\n"),
      catalytic_run_id: "v-1",
    });
    expect([events, closed]).toEqual([["verifier GATE_PASSED lint"], 1]);
  });

  it("fails when one of its commands does, and says which and how", async () => {
    const { verify, events } = play({ gates: { lint: [{ argv: ["a"] }, { argv: ["b"] }] } });
    const { found } = await verify(["lint"], [done([result(0), result(127, { ending: "not_found" })])]);
    expect(found).toMatchObject({
      failures: [{ kind: "command_not_found", id: "lint[1]", message: "b: exit code 127\nout\n\nerr" }],
      executed: ["lint"],
    });
    expect(events).toEqual(["verifier GATE_FAILED lint"]);
  });

  it("that nobody configured fails; one that was configured to do nothing passes and is told", async () => {
    const { verify, events } = play({ gates: { empty: [] } });
    const { found } = await verify(["missing", "empty"], [done(), done()]);
    expect(found).toMatchObject({
      failures: [{ kind: "gate_missing", id: "missing", message: "no commands are configured for the gate missing" }],
      executed: ["missing", "empty"],
    });
    expect(events).toEqual(["verifier GATE_FAILED missing", "verifier GATE_EMPTY empty", "verifier GATE_PASSED empty"]);
  });

  it("is not failed by the one before it", async () => {
    const { verify, events } = play({ gates: { bad: [{ argv: ["a"] }], good: [{ argv: ["b"] }] } });
    await verify(["bad", "good"], [done([result(1)]), done([result(0)])]);
    expect(events).toEqual(["verifier GATE_FAILED bad", "verifier GATE_PASSED good"]);
  });

  it("named like the set-up is still a gate, and the set-up is none", async () => {
    const { verify, events } = play({ setup: [{ argv: ["install"] }], gates: { setup: [{ argv: ["a"] }] } });
    const { found } = await verify(["setup"], [done([result(3)]), done([result(0)])]);
    expect(found).toMatchObject({ failures: [{ id: "setup[0]" }], executed: ["setup"] });
    expect(events).toEqual(["verifier GATE_PASSED setup"]);
    const bare = play({ gates: { lint: [{ argv: ["a"] }] } });
    await bare.verify(["lint"], [done([result(0)])]);
    expect(bare.events).toEqual(["verifier GATE_PASSED lint"]);
  });

  it("of the product itself is judged by it, with the evidence that was there where the commands ran", async () => {
    const files = {
      [PLAN_FILE]: "",
      [EXPECTED_RESULTS_FILE]:
        "R001: x\nAcceptance: y\nEvidence: src/a, artifacts/verify_report.json, logs/gone, TRACE.md, src/b\nRelated-Gates: lite\n",
      "TRACE.md": "# TRACE\n",
    };
    const missing = async (present: readonly boolean[]) => {
      const { found } = await play({ files }).verify(["plan_check"], [done([], present)]);
      expect(found.commands).toEqual([
        { cmd: "verbatim:plan_check", exit_code: 1, gate: "plan_check", duration_ms: 0 },
      ]);
      return found.failures.filter(({ kind }) => kind === "evidence_missing").map(({ message }) => message);
    };
    expect(await missing([true, true])).toEqual(["R001: logs/gone does not exist"]);
    expect(await missing([false, true])).toEqual(["R001: src/a does not exist", "R001: logs/gone does not exist"]);
    expect(await missing([true])).toEqual(["R001: logs/gone does not exist", "R001: src/b does not exist"]);
  });
});

describe("the message of a failure", () => {
  const message = async (argv: readonly string[], stdout: string, stderr = "") => {
    const { verify } = play({ gates: { g: [{ argv }] } });
    const one = result(1, { stdout: encodeUtf8(stdout), stderr: encodeUtf8(stderr) });
    const { found } = await verify(["g"], [done([one])]);
    return found.failures[0]!.message;
  };

  it("has the last twenty lines, and no more than two thousand characters of which the end counts", async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    const told = (await message(["x"], lines.join("\n"))).split("\n");
    expect([told.length, told[0], told[1], told.at(-1)]).toEqual([21, "x: exit code 1", "line 10", "line 29"]);
    const long = await message(["x"], `${"a".repeat(5000)}end`);
    expect([[...long].length, long.endsWith("aend")]).toEqual([2000, true]);
    const wide = await message(["x"], "😀".repeat(3000));
    expect([[...wide].length, wide.isWellFormed()]).toEqual([2000, true]);
  });

  it("has the beginning of a long command", async () => {
    expect(await message(["x".repeat(500)], "")).toBe(`${"x".repeat(500)}: exit code 1\n`);
    expect(await message(["x".repeat(501)], "")).toBe(`${"x".repeat(500)}…: exit code 1\n`);
  });
});

describe("the isolation of a verification", () => {
  it("is given the copy, what may be read, what is shared, and the variables that may be seen", async () => {
    const { opened } = await play({ objects: "/o" }).verify([], []);
    expect(opened).toEqual({
      copy: "/copy",
      reads: ["/r", "/o"],
      works: [],
      shared: ["m"],
      env: expect.objectContaining({ PATH: "/bin", VERBATIM_RUN: "run-1" }),
    });
    expect((opened as { env: object }).env).not.toHaveProperty("SECRET");
    expect((await play().verify([], [])).opened).toMatchObject({ reads: ["/r"] });
  });

  it("fails the verification by what it found when it was closed", async () => {
    const { found } = await play().verify([], [], { problem: "somebody wrote" });
    expect(found).toMatchObject({
      failures: [{ kind: "isolation_violation", id: "isolation_violation", message: "somebody wrote" }],
    });
    expect(found).not.toHaveProperty("problem");
  });

  it("is closed when somebody interrupts, and there is no result", async () => {
    const { verify, interrupt, events } = play({ gates: { lint: [{ argv: ["a"] }] } });
    interrupt();
    const { found, closed } = await verify(["lint"], [done([result(0)])]);
    expect([found, closed, events]).toEqual([{ thrown: new Error("interrupted") }, 1, []]);
    const last = play();
    last.interrupt();
    expect((await last.verify([], [])).found).toEqual({ thrown: new Error("interrupted") });
  });

  it("is a plain copy where nothing is run and the choice is free, and the one that was named otherwise", async () => {
    const choose = (parts: Parts, gates: readonly string[]) =>
      chooseIsolation(play(parts).session as never, { gates } as never) as Promise<unknown>;
    const lint = { lint: [{ argv: ["a"] }], empty: [] };
    expect(await choose({ gates: lint }, ["empty", "plan_check"])).toBe("worktree");
    expect(await choose({ gates: lint }, ["empty", "lint"])).toBe("auto");
    expect(await choose({ setup: [{ argv: ["i"] }] }, [])).toBe("auto");
    expect(await choose({ isolation: "catalytic" }, [])).toBe("catalytic");
  });
});
