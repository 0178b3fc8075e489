import { describe, expect, it } from "vitest";
import { runSteps, type Steps } from "./awaitable.ts";

function* add(parts: readonly (number | Promise<number>)[]): Steps<number> {
  let sum = 0;
  for (const part of parts) sum += typeof part === "number" ? part : ((yield part) as number);
  return sum;
}

function* recover(part: Promise<number>): Steps<string> {
  try {
    return String(yield part);
  } catch (thrown) {
    return `recovered from ${String(thrown)}`;
  }
}

describe("steps", () => {
  it("are done at once when nothing has to be waited for", () => {
    expect(runSteps(add([1, 2, 3]))).toBe(6);
  });

  it("wait for every promise in turn", async () => {
    const sum = runSteps(add([1, Promise.resolve(2), 3, Promise.resolve(4)]));
    expect(sum).toBeInstanceOf(Promise);
    expect(await sum).toBe(10);
  });

  it("get a rejection as a throw at their own place", async () => {
    expect(await runSteps(recover(Promise.reject("x")))).toBe("recovered from x");
    await expect(runSteps(add([Promise.reject(new Error("no"))]))).rejects.toThrow("no");
  });
});
