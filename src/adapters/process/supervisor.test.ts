import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Supervisor } from "./supervisor.ts";

/** A command that never ends by itself, and what was done to it, with the second in which it happened. */
function watch(timeoutMs: number) {
  const done: string[] = [];
  const at = (what: string) => done.push(`${Date.now() / 1000} ${what}`);
  const supervisor = new Supervisor(
    { signal: (name) => at(name), kill: () => at("kill"), destroy: () => at("destroy") },
    timeoutMs,
  );
  return { supervisor, done };
}

describe("a command that does not end", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it("leaves its launcher ten seconds after the time is over, as after too much memory, or its view would be lost", () => {
    const { done } = watch(5000);
    vi.advanceTimersByTime(60_000);
    expect(done).toEqual(["5 SIGTERM", "7 kill", "17 destroy"]);
  });

  it("is killed by the second interruption, and its launcher has as long", () => {
    const { supervisor, done } = watch(1_000_000);
    supervisor.interrupt("SIGINT");
    supervisor.interrupt("SIGINT");
    vi.advanceTimersByTime(60_000);
    expect(done).toEqual(["0 SIGINT", "0 kill", "10 destroy"]);
  });

  it("is ended at once when it took too much, and nothing is done to it once it is gone", async () => {
    const { supervisor, done } = watch(1_000_000);
    supervisor.end();
    supervisor.finish({ code: null, signal: 9, orphans_killed: 0 });
    vi.advanceTimersByTime(60_000);
    expect(done).toEqual(["0 kill"]);
    expect((await supervisor.ended).signal).toBe("SIGKILL");
  });
});
