import { describe, expect, it } from "vitest";
import { findContract } from "./contracts.ts";

describe("finding a contract object", () => {
  it.each(["jobs/message", "message"])("takes %s", (id) => {
    expect(findContract(id).title).toBe("Message");
  });

  it("answers a mistyped name with the nearest ones", () => {
    const problem = { code: "CONTRACT_UNKNOWN", details: { nearest: ["bundle-manifest"] } };
    expect(() => findContract("bundle-manifset")).toThrowError(expect.objectContaining(problem));
    expect(() => findContract("jobs/bundle-manifset")).toThrowError(
      expect.objectContaining({ details: { nearest: ["jobs/bundle-manifest"] } }),
    );
  });

  it("does not find what every object inherits", () => {
    expect(() => findContract("constructor")).toThrowError(expect.objectContaining({ code: "CONTRACT_UNKNOWN" }));
  });
});
