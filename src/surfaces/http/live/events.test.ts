import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { App } from "../../../app/call.ts";
import { Sessions } from "../access/sessions.ts";
import { Events } from "./events.ts";
import { Tasks } from "./tasks.ts";

let isBroken: boolean;
let looks: number;
let logged: string[];

// A ledger without entries, which can be out of order.
const app = {
  requireCall: async () => undefined,
  callUnknown: async () => ({ big: "answer" }),
  call: async () => {
    looks++;
    if (isBroken) throw new Error("the disk is gone");
    return { total: 0, entries: [] };
  },
} as unknown as App;

beforeEach(() => {
  vi.useFakeTimers();
  [isBroken, looks, logged] = [false, 0, []];
});

afterEach(() => {
  vi.useRealTimers();
});

const make = () => {
  const tasks = new Tasks(app);
  return { tasks, events: new Events(app, new Sessions(), tasks, (thrown) => logged.push(String(thrown))) };
};

describe("looking at the ledger", () => {
  it("happens only while somebody listens", async () => {
    const { events } = make();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(looks).toBe(0);
    const stream = events.open(null, null);
    await vi.advanceTimersByTimeAsync(1000);
    expect(looks).toBeGreaterThan(0);
    await stream.cancel();
    const before = looks;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(looks).toBe(before);
  });

  it("rests after it failed, and goes on when the ledger is back", async () => {
    const { events } = make();
    isBroken = true;
    events.open(null, null);
    await vi.advanceTimersByTimeAsync(10_300);
    expect(logged).toEqual(Array.from({ length: 3 }, () => "Error: the disk is gone"));
    isBroken = false;
    const before = looks;
    await vi.advanceTimersByTimeAsync(6000);
    expect(looks).toBeGreaterThan(before + 1);
    expect([logged.length, events.clients]).toEqual([3, 1]);
    await events.close();
  });
});

it("what tasks did while nobody listened is not told later", async () => {
  const { tasks, events } = make();
  await tasks.start("a.b", {}, "unheard");
  await vi.advanceTimersByTimeAsync(1000);
  const reader = events.open(null, null).pipeThrough(new TextDecoderStream()).getReader();
  await vi.advanceTimersByTimeAsync(1000);
  await tasks.start("a.c", {}, "heard");
  await vi.advanceTimersByTimeAsync(1000);
  await events.close();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  expect(text).toContain('"operation":"a.c"');
  expect(text).not.toContain('"operation":"a.b"');
});

it("two hundred listen at once, the next one is refused, and may come when somebody has left", async () => {
  const { events } = make();
  const listening = Array.from({ length: 200 }, () => events.open(null, null));
  expect(() => events.open(null, null)).toThrow(expect.objectContaining({ code: "SSE_LIMIT" }));
  expect(events.clients).toBe(200);
  await listening[0]!.cancel();
  events.open(null, null);
  expect(() => events.open(null, null)).toThrow(expect.objectContaining({ code: "SSE_LIMIT" }));
  await events.close();
  expect(events.clients).toBe(0);
});
