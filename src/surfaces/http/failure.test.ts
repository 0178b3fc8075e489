import { describe, expect, it } from "vitest";
import { VerbatimError } from "../../core/errors/index.ts";
import { toErrorBody } from "./failure.ts";

describe("an error over HTTP", () => {
  it("has the status of its code, and says what, where and what to do", () => {
    const error = new VerbatimError("JOB_UNKNOWN", { message: "there is no job x", where: "/job", fix: "Look." });
    expect(toErrorBody(error)).toEqual({
      status: 404,
      body: {
        error: { code: "JOB_UNKNOWN", message: "there is no job x", where: "/job", fix: "Look.", details: null },
      },
      headers: {},
    });
  });

  it("of a request that is still being worked on is no error: ask again in two seconds", () => {
    const details = { request_id: "r1", status: "PENDING" };
    expect(toErrorBody(new VerbatimError("REQUEST_PENDING", { details }))).toEqual({
      status: 202,
      body: details,
      headers: { "Retry-After": "2" },
    });
  });

  it("says when to come back, or that a token is needed", () => {
    const { status, headers } = toErrorBody(new VerbatimError("RATE_LIMITED", { details: { retry_after_s: 7 } }));
    expect([status, headers]).toEqual([429, { "Retry-After": "7" }]);
    expect(toErrorBody(new VerbatimError("AUTH_REQUIRED")).headers).toEqual({ "WWW-Authenticate": "Bearer" });
  });

  it("tells a stranger nothing about a failure that nobody foresaw", () => {
    const { status, body } = toErrorBody(new Error("password is hunter2"));
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain("hunter2");
  });
});
