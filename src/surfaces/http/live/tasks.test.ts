import { beforeEach, describe, expect, it } from "vitest";
import type { App } from "../../../app/call.ts";
import type { CallOptions } from "../../../app/compose/compose.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { Tasks } from "./tasks.ts";

interface Begun {
  readonly name: string;
  readonly input: unknown;
  readonly options: CallOptions;
  end(output: unknown): void;
  fail(thrown: unknown): void;
}

let begun: Begun[];
let now: number;
let logged: unknown[];
let tasks: Tasks;

// Calls end when the test says so.
const app = {
  requireCall: async (name: string) => {
    if (name === "no.such") throw new VerbatimError("OPERATION_UNKNOWN");
  },
  callUnknown: (name: string, input: unknown, options: CallOptions) =>
    new Promise((end, fail) => begun.push({ name, input, options, end, fail })),
} as unknown as App;

beforeEach(() => {
  [begun, logged, now] = [[], [], Date.UTC(2026, 4, 3, 9)];
  tasks = new Tasks(
    app,
    (thrown) => logged.push(thrown),
    () => now,
  );
});

const stateOf = (id: string) => tasks.view(id).state;
/** Lets everything that has ended say so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("a task", () => {
  it("runs with its input, tells how far it is and what came of it", async () => {
    const { task_id, state } = await tasks.start("ledger.verify", { full: true }, "k1");
    expect([state, begun[0]!.name, begun[0]!.input]).toEqual(["running", "ledger.verify", { full: true }]);
    begun[0]!.options.progress!.report({ label: "entries", done: 7, total: 9 });
    expect(tasks.view(task_id)).toEqual({
      task_id,
      operation: "ledger.verify",
      state: "running",
      progress: { label: "entries", done: 7, total: 9 },
      made_at: "2026-05-03T09:00:00.000Z",
      ended_at: null,
    });
    now += 5000;
    begun[0]!.end({ ok: true });
    await settle();
    expect(tasks.view(task_id)).toMatchObject({
      state: "done",
      output: { ok: true },
      ended_at: "2026-05-03T09:00:05.000Z",
    });
  });

  it("that fails has the error as every route would tell it, and a bug is written down", async () => {
    const [refused, broken] = [await tasks.start("a.b", {}, "k1"), await tasks.start("a.b", {}, "k2")];
    begun[0]!.fail(new VerbatimError("STORE_BUSY"));
    begun[1]!.fail(new Error("the secret cause"));
    await settle();
    expect(tasks.view(refused.task_id)).toMatchObject({ state: "failed", error: { code: "STORE_BUSY" } });
    expect(tasks.view(broken.task_id)).toMatchObject({ state: "failed", error: { code: "INTERNAL" } });
    expect(JSON.stringify(tasks.view(broken.task_id))).not.toContain("secret");
    expect(logged.map(String)).toContain("Error: the secret cause");
  });

  it("is begun once for one key, and another one under the same key is refused", async () => {
    const first = await tasks.start("a.b", { n: 1 }, "k1");
    expect((await tasks.start("a.b", { n: 1 }, "k1")).task_id).toBe(first.task_id);
    await expect(tasks.start("a.b", { n: 2 }, "k1")).rejects.toMatchObject({ code: "IDEMPOTENCY_BODY_MISMATCH" });
    await expect(tasks.start("a.c", { n: 1 }, "k1")).rejects.toMatchObject({ code: "IDEMPOTENCY_BODY_MISMATCH" });
    expect(begun).toHaveLength(1);
  });

  it("that cannot be is refused at once and leaves nothing", async () => {
    await expect(tasks.start("no.such", {}, "k1")).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
    expect((await tasks.start("a.b", {}, "k1")).state).toBe("running");
  });

  it("is kept for an hour after its end", async () => {
    const { task_id } = await tasks.start("a.b", {}, "k1");
    now += 3_600_000;
    expect(stateOf(task_id)).toBe("running");
    begun[0]!.end({});
    await settle();
    now += 3_599_999;
    expect(stateOf(task_id)).toBe("done");
    now += 1;
    expect(() => stateOf(task_id)).toThrow(expect.objectContaining({ code: "TASK_NOT_FOUND", where: task_id }));
  });
});

describe("several tasks", () => {
  it("run two at a time and in order", async () => {
    const ids: string[] = [];
    for (const key of ["k1", "k2", "k3", "k4"]) ids.push((await tasks.start("a.b", { key }, key)).task_id);
    expect(ids.map(stateOf)).toEqual(["running", "running", "waiting", "waiting"]);
    begun[1]!.end({});
    await settle();
    expect(ids.map(stateOf)).toEqual(["running", "done", "running", "waiting"]);
    expect(begun.map(({ input }) => input)).toEqual([{ key: "k1" }, { key: "k2" }, { key: "k3" }]);
  });

  it("do not wait without an end", async () => {
    for (let i = 0; i < 102; i++) await tasks.start("a.b", {}, `k${i}`);
    await expect(tasks.start("a.b", {}, "more")).rejects.toMatchObject({ code: "RATE_LIMITED" });
  });
});

describe("cancelling", () => {
  it("takes back what waits, and asks what runs to stop", async () => {
    const ids: string[] = [];
    for (const key of ["k1", "k2", "k3"]) ids.push((await tasks.start("a.b", {}, key)).task_id);
    expect(tasks.cancel(ids[2]!).state).toBe("cancelled");
    expect(tasks.cancel(ids[0]!).state).toBe("running");
    expect(begun.map(({ options }) => options.signal!.aborted)).toEqual([true, false]);
    begun[0]!.fail(new VerbatimError("INTERRUPTED"));
    await settle();
    expect(ids.map(stateOf)).toEqual(["cancelled", "running", "cancelled"]);
    expect(tasks.view(ids[0]!)).toMatchObject({ error: { code: "INTERRUPTED" } });
    expect(begun).toHaveLength(2);
  });

  it("comes too late for what ends all the same", async () => {
    const { task_id } = await tasks.start("a.b", {}, "k1");
    tasks.cancel(task_id);
    begun[0]!.end({ landed: true });
    await settle();
    expect(tasks.view(task_id)).toMatchObject({ state: "done", output: { landed: true } });
  });

  it("is what the end of the server does, and it waits for what puts things back", async () => {
    const [running, waiting] = [await tasks.start("a.b", {}, "k1"), await tasks.start("a.b", {}, "k2")];
    const third = await tasks.start("a.b", {}, "k3");
    let isClosed = false;
    const closed = tasks.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect([isClosed, stateOf(third.task_id)]).toEqual([false, "cancelled"]);
    for (const one of begun) one.fail(new VerbatimError("INTERRUPTED"));
    await closed;
    expect([running, waiting].map(({ task_id }) => stateOf(task_id))).toEqual(["cancelled", "cancelled"]);
  });
});
