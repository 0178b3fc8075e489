import { expect, it } from "vitest";
import { Session } from "./session.ts";

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("a session that was asked to end by %s says so, and the program ends with %i", (signal, exit) => {
  const session = new Session({} as never, {} as never, new AbortController().signal, () => signal);
  expect(() => session.throwIfInterrupted()).toThrow(
    expect.objectContaining({ code: "INTERRUPTED", details: { signal }, exit }) as Error,
  );
});

it("a session that nobody interrupted goes on", () => {
  const session = new Session({} as never, {} as never, new AbortController().signal, () => null);
  expect(session.throwIfInterrupted()).toBeUndefined();
});
