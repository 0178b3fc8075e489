import { describe, expect, it } from "vitest";
import { RateLimit } from "./rate.ts";

describe("the rate limit", () => {
  it("allows double the rate at once, then the rate, for each caller by itself", () => {
    const limit = new RateLimit(10);
    for (let i = 0; i < 20; i++) limit.take("a", 0);
    expect(() => limit.take("a", 0)).toThrow("Too many requests");
    limit.take("b", 0);
    limit.take("a", 100);
    expect(() => limit.take("a", 100)).toThrow("Too many requests");
  });

  it("does not count the owner on loopback", () => {
    const limit = new RateLimit(1);
    for (let i = 0; i < 100; i++) limit.take(null, 0);
    expect(() => limit.take("a", 0)).not.toThrow();
  });
});
