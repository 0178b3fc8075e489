import { describe, expect, it } from "vitest";
import { LeaseTable } from "../conformance-leases.ts";
import type { Candidate } from "../contracts/rows.ts";
import { decideClaim, decideRenewal, LEASE_MS } from "./lease.ts";

const TTL = 100;
const mira = (token: number) => ({ worker: "mira", token });
const tomas = (token: number) => ({ worker: "tomas", token });

describe("claims", () => {
  it("give a WRITE or EXECUTE only when everything before it is committed", () => {
    const table = new LeaseTable(["READ", "WRITE", "READ", "EXECUTE"], TTL, null);
    expect(table.claim("mira", 0)).toEqual({ ordinal: 1, token: 1, expires: 100 });
    expect(table.claim("tomas", 0)).toBe("NO_STEP");
    expect(table.finish(1, "COMMITTED", mira(1), 1)).toBe("COMMITTED");
    expect(table.claim("tomas", 1)).toEqual({ ordinal: 2, token: 1, expires: 101 });
  });

  it("give nothing behind a WRITE that is not committed", () => {
    const table = new LeaseTable(["WRITE", "READ"], TTL, null);
    table.claim("mira", 0);
    expect(table.claim("tomas", 50)).toBe("NO_STEP");
    expect(table.finish(1, "COMMITTED", mira(1), 60)).toBe("COMMITTED");
    expect(table.claim("tomas", 60)).toMatchObject({ ordinal: 2 });
  });

  it("give an expired step before a later one that was never claimed", () => {
    const table = new LeaseTable(["READ", "READ", "READ"], TTL, null);
    table.claim("mira", 0);
    table.claim("tomas", 50);
    expect(table.claim("ines", 100)).toEqual({ ordinal: 1, token: 2, expires: 200 });
    expect(table.claim("ines", 120)).toEqual({ ordinal: 3, token: 1, expires: 220 });
    expect(table.claim("ines", 149)).toBe("NO_STEP");
    expect(table.claim("ines", 150)).toEqual({ ordinal: 2, token: 2, expires: 250 });
  });

  it("go as far as the step that breaks a budget and no further", () => {
    const table = new LeaseTable(["READ", "READ", "READ"], TTL, 2);
    expect(table.claim("mira", 0)).toMatchObject({ ordinal: 1 });
    expect(table.claim("tomas", 0)).toMatchObject({ ordinal: 2 });
    expect(table.claim("ines", 0)).toBe("NO_STEP");
    expect(table.finish(1, "COMMITTED", mira(1), 1)).toBe("COMMITTED");
    expect(table.finish(2, "FAILED", tomas(1), 1)).toBe("FAILED");
    expect(table.claim("ines", 1)).toBe("JOB_FAILED");
    expect(table.statuses).toEqual(["COMMITTED", "FAILED", "PENDING"]);
  });
});

describe("the end of a step", () => {
  it("checks final first, then the holder, then the time, then the order", () => {
    const table = new LeaseTable(["READ", "READ"], TTL, null);
    table.claim("mira", 0);
    table.claim("tomas", 0);
    expect(table.finish(2, "COMMITTED", mira(1), 200)).toBe("LEASE_LOST");
    expect(table.finish(2, "COMMITTED", tomas(2), 200)).toBe("LEASE_LOST");
    expect(table.finish(2, "COMMITTED", tomas(1), 100)).toBe("LEASE_EXPIRED");
    expect(table.finish(2, "FAILED", tomas(1), 99)).toBe("STEP_OUT_OF_ORDER");
    expect(table.finish(1, "COMMITTED", mira(1), 99)).toBe("COMMITTED");
    expect(table.finish(1, "FAILED", tomas(9), 500)).toBe("STEP_FINAL");
    expect(table.renew(1, mira(1), 99)).toBe("STEP_FINAL");
  });

  it("of a step behind a failed one never comes", () => {
    const table = new LeaseTable(["READ", "READ"], TTL, null);
    table.claim("mira", 0);
    table.claim("tomas", 0);
    expect(table.finish(1, "FAILED", mira(1), 1)).toBe("FAILED");
    expect(table.finish(2, "COMMITTED", tomas(1), 2)).toBe("STEP_OUT_OF_ORDER");
    expect(table.finish(2, "FAILED", tomas(1), 2)).toBe("STEP_OUT_OF_ORDER");
  });

  it("needs a claim", () => {
    const table = new LeaseTable(["READ"], TTL, null);
    expect(table.finish(1, "COMMITTED", mira(0), 0)).toBe("LEASE_LOST");
    expect(table.renew(1, mira(0), 0)).toBe("LEASE_LOST");
  });
});

describe("what the store says about a step", () => {
  const candidate = (more: Partial<Candidate>): Candidate => ({
    ordinal: 1,
    status: "PENDING",
    lease_expires_ms: null,
    fencing_token: 4,
    ...more,
  });
  const view = { failed: false, lowest: 1, barrier: null, breach_ordinal: null, candidates: [] };

  it("lasts a minute unless told otherwise", () => {
    expect(LEASE_MS).toBe(60_000);
  });

  it.each<[Partial<Candidate>, boolean]>([
    [{}, true],
    [{ status: "LEASED", lease_expires_ms: 50 }, true],
    [{ status: "LEASED", lease_expires_ms: 51 }, false],
    [{ status: "LEASED", lease_expires_ms: null }, false],
    [{ status: "COMMITTED", lease_expires_ms: 10 }, false],
    [{ status: "FAILED", lease_expires_ms: 10 }, false],
  ])("%j can be claimed at 50: %s", (more, free) => {
    const answer = decideClaim({ ...view, candidates: [candidate(more)] }, 50, 100);
    expect(answer).toEqual(free ? { ordinal: 1, token: 5, expires: 150 } : "NO_STEP");
  });

  it("tells a job that is done from one that failed", () => {
    expect(decideClaim({ ...view, lowest: null, candidates: [candidate({})] }, 0, 1)).toBe("JOB_DONE");
    expect(decideClaim({ ...view, lowest: null, failed: true }, 0, 1)).toBe("JOB_FAILED");
  });

  it("without an end of its lease is held by nobody", () => {
    const step = { status: "LEASED", lease_owner: "mira", lease_expires_ms: null, fencing_token: 1 } as const;
    expect(decideRenewal(step, mira(1), 0)).toBe("LEASE_EXPIRED");
    expect(decideRenewal({ ...step, status: "PENDING" }, mira(1), 0)).toBe("LEASE_LOST");
  });
});
