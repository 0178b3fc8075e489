import { describe, expect, it } from "vitest";
import { makeHarbour, openWorlds } from "../../../../test/support/world.ts";
import type { StoredInvocation } from "../ports.ts";
import {
  claimRequest,
  extendLease,
  type InvocationLease,
  isStopRequested,
  releaseLease,
  requestStop,
  requireLease,
  type Turn,
  takeLock,
} from "./claims.ts";

const TIMES = { lease_ms: 60, lock_ms: 20, queue_ms: 30, wait_ms: 25 };

/** A world on a real store, with a clock and a pace that move only when somebody waits or says so. */
async function openClaims() {
  const worlds = await openWorlds();
  const world = await makeHarbour(worlds);
  const time = { now: 1000, slept: [] as number[] };
  /** Done while somebody waits. */
  let meanwhile: (() => Promise<void>) | null = null;
  /** Processes of this machine that have ended. */
  const gone: string[] = [];
  const ports = {
    store: worlds.ports.store,
    clock: { now: () => time.now },
    pace: {
      ...worlds.ports.pace,
      elapsed: () => time.now,
      sleep: async (ms: number) => {
        time.slept.push(ms);
        time.now += ms;
        const next = meanwhile;
        meanwhile = null;
        await next?.();
      },
    },
    times: TIMES,
    worker: {
      name: "here/1/1",
      isGone: (holder: string) => gone.some((name) => holder.startsWith(`${name}/`) || holder === name),
    },
  };
  const row = () => ports.store.read(async (tx) => (await tx.world.find(world))!);
  const { number } = await row();
  const stored = (id: string) => ports.store.read((tx) => tx.world.invocation(number, id));
  return {
    ports,
    world,
    number,
    time,
    gone,
    row,
    stored,
    while: (run: () => Promise<void>) => {
      meanwhile = run;
    },
    claim: (
      request_id: string,
      turn: Turn | null = null,
      more: { body?: string; holder?: string; world_id?: string } = {},
    ) => claimRequest(ports, { world_id: world, request_id, body: "b", holder: "me", ...more }, turn),
    lease: (more: Partial<InvocationLease> = {}): InvocationLease => ({
      world_id: world,
      number,
      request_id: "r1",
      fence: 1,
      holder: "me",
      ...more,
    }),
    lock: (holder: string | null, until: number) =>
      ports.store.transact((tx) => tx.world.setLock(number, holder, until)),
    put: (change: Partial<StoredInvocation>) =>
      ports.store.transact(async (tx) => {
        const old = (await tx.world.invocation(number, "r1"))!;
        await tx.world.putInvocation(number, { ...old, ...change });
      }),
    [Symbol.asyncDispose]: () => worlds[Symbol.asyncDispose](),
  };
}

const held: Turn = { held: () => true, giveUp: () => undefined };

describe("a claim", () => {
  it("is new, and takes the lock only where it is its turn", async () => {
    await using it = await openClaims();
    const run = { result: "RUN", number: it.number, fence: 1 };
    expect(await it.claim("r1")).toEqual({ ...run, locked: false });
    expect((await it.row()).lock_holder).toBe(null);
    expect(await it.claim("r2", { ...held, held: () => false })).toEqual({ ...run, locked: false });
    expect((await it.row()).lock_holder).toBe(null);
    expect(await it.claim("r3", held)).toEqual({ ...run, locked: true });
    expect(await it.row()).toMatchObject({ lock_holder: "me", lock_until: 1020 });
    expect(await it.stored("r3")).toEqual({
      request_id: "r3",
      body_sha256: "b",
      status: "PENDING",
      fence: 1,
      lease_until: 1060,
      outcome: null,
      headers: '{"by":"here/1/1"}',
    });
  });

  it.each<[string | null, number, boolean]>([
    [null, 5000, true],
    ["me", 5000, true],
    ["other", 1000, true],
    ["other", 1001, false],
  ])("finds the lock with %s until %i: taken %s", async (holder, until, locked) => {
    await using it = await openClaims();
    await it.lock(holder, until);
    expect(await it.claim("r1", held)).toMatchObject({ locked });
    expect((await it.row()).lock_holder).toBe(locked ? "me" : holder);
  });

  it("of a world that is not there is refused", async () => {
    await using it = await openClaims();
    await expect(it.claim("r1", null, { world_id: "w_none" })).rejects.toMatchObject({
      code: "WORLD_NOT_FOUND",
      where: "w_none",
    });
  });

  it("with another body is refused, also when the first is done", async () => {
    await using it = await openClaims();
    await it.claim("r1");
    for (const status of ["PENDING", "RELEASED", "DONE"] as const) {
      await it.put({ status });
      await expect(it.claim("r1", null, { body: "c" })).rejects.toMatchObject({
        code: "IDEMPOTENCY_BODY_MISMATCH",
        where: "/request_id",
      });
    }
    expect(it.time.slept).toEqual([]);
  });

  it("of what is done is answered with what is stored", async () => {
    await using it = await openClaims();
    await it.claim("r1");
    await it.put({ status: "DONE", outcome: "{}", headers: "{}" });
    expect(await it.claim("r1")).toEqual({ result: "REPLAY", stored: await it.stored("r1") });
  });

  it("waits for the first, longer each time, gives up its turn, and ends as pending", async () => {
    await using it = await openClaims();
    await it.claim("r1");
    let gaveUp = 0;
    const turn = { held: () => true, giveUp: () => void gaveUp++ };
    await expect(it.claim("r1", turn)).rejects.toMatchObject({
      code: "REQUEST_PENDING",
      details: { request_id: "r1", status: "PENDING" },
    });
    expect([it.time.slept, gaveUp]).toEqual([[5, 10, 20], 3]);
  });

  it("does not wait once more when its time is exactly over", async () => {
    await using it = await openClaims();
    const claims = { ...it.ports, times: { ...TIMES, wait_ms: 15 } };
    const request = { world_id: it.world, request_id: "r1", body: "b", holder: "me" };
    await claimRequest(claims, request, null);
    await expect(claimRequest(claims, request, null)).rejects.toMatchObject({ code: "REQUEST_PENDING" });
    expect(it.time.slept).toEqual([5, 10]);
    await it.lock("other", 9000);
    await expect(takeLock(it.ports, it.world, "me", 5)).rejects.toMatchObject({ code: "WORLD_BUSY" });
    expect(it.time.slept).toEqual([5, 10, 5]);
  });

  it("waits at most a fifth of a second at a time", async () => {
    await using it = await openClaims();
    const claims = { ...it.ports, times: { ...TIMES, lease_ms: 100_000, wait_ms: 800 } };
    const request = { world_id: it.world, request_id: "r1", body: "b", holder: "me" };
    await claimRequest(claims, request, null);
    await expect(claimRequest(claims, request, null)).rejects.toMatchObject({ code: "REQUEST_PENDING" });
    expect(it.time.slept).toEqual([5, 10, 20, 40, 80, 160, 200, 200, 200]);
  });

  it("goes on where the first let go while it waited, with the next fence", async () => {
    await using it = await openClaims();
    await it.claim("r1");
    it.while(() => it.put({ status: "RELEASED" }));
    expect(await it.claim("r1")).toMatchObject({ result: "RUN", fence: 2 });
  });

  it("takes over what has had no sign of life for too long", async () => {
    await using it = await openClaims();
    await it.claim("r1");
    it.time.now = 1060;
    expect(await it.claim("r1")).toMatchObject({ result: "RUN", fence: 2 });
    expect(it.time.slept).toEqual([]);
  });

  it("takes over at once what a process had that is gone, and its lock with it; somebody else's is left alone", async () => {
    await using it = await openClaims();
    const other = { ...it.ports, worker: { ...it.ports.worker, name: "here/7/7" } };
    const request = { world_id: it.world, request_id: "r1", body: "b", holder: "here/7/7/x" };
    await claimRequest(other, request, { held: () => true, giveUp: () => undefined });
    expect(await it.row()).toMatchObject({ lock_holder: "here/7/7/x" });
    await expect(takeLock(it.ports, it.world, "me", 5)).rejects.toMatchObject({ code: "WORLD_BUSY" });
    it.gone.push("here/77/7");
    await expect(takeLock(it.ports, it.world, "me", 5)).rejects.toMatchObject({ code: "WORLD_BUSY" });
    it.gone.push("here/7/7");
    it.time.slept.length = 0;
    expect(await it.claim("r1", { held: () => true, giveUp: () => undefined })).toMatchObject({
      fence: 2,
      locked: true,
    });
    expect(await it.row()).toMatchObject({ lock_holder: "me" });
    expect(it.time.slept).toEqual([]);
  });
});

describe("the lock of a world", () => {
  it("is taken where it is free, one's own, or has run out", async () => {
    await using it = await openClaims();
    for (const [holder, until] of [
      [null, 0],
      ["me", 9000],
      ["other", 1000],
    ] as const) {
      await it.lock(holder, until);
      await takeLock(it.ports, it.world, "me", 30);
      expect(await it.row()).toMatchObject({ lock_holder: "me", lock_until: 1020 });
    }
    expect(it.time.slept).toEqual([]);
  });

  it("is waited for, and not longer than said", async () => {
    await using it = await openClaims();
    await it.lock("other", 9000);
    await expect(takeLock(it.ports, it.world, "me", 400)).rejects.toMatchObject({
      code: "WORLD_BUSY",
      where: it.world,
    });
    expect(it.time.slept).toEqual([5, 10, 20, 40, 80, 100, 100, 100]);
    expect((await it.row()).lock_holder).toBe("other");
    it.while(() => it.lock(null, 0));
    await takeLock(it.ports, it.world, "me", 400);
    expect((await it.row()).lock_holder).toBe("me");
  });

  it("of a world that is not there is never free", async () => {
    await using it = await openClaims();
    await expect(takeLock(it.ports, "w_none", "me", 5)).rejects.toMatchObject({ code: "WORLD_BUSY", where: "w_none" });
  });
});

describe("stopping", () => {
  it("reaches a request that somebody works on, and no other", async () => {
    await using it = await openClaims();
    await it.claim("r1");
    expect(isStopRequested(await it.stored("r1"))).toBe(false);
    expect(await requestStop(it.ports, it.world, "r1")).toBe(true);
    expect(isStopRequested(await it.stored("r1"))).toBe(true);
    const asked = (await it.stored("r1"))!;
    for (const status of ["RELEASED", "DONE"] as const) expect(isStopRequested({ ...asked, status })).toBe(false);
    for (const status of ["RELEASED", "DONE"] as const) {
      await it.put({ status, headers: null });
      expect(await requestStop(it.ports, it.world, "r1")).toBe(false);
      expect((await it.stored("r1"))?.headers).toBe(null);
    }
    expect(isStopRequested(null)).toBe(false);
  });

  it("is refused for a world or a request that is not there, and for control writes", async () => {
    await using it = await openClaims();
    await expect(requestStop(it.ports, "w_none", "r1")).rejects.toMatchObject({ code: "WORLD_NOT_FOUND" });
    await expect(requestStop(it.ports, it.world, "r1")).rejects.toMatchObject({
      code: "INVOCATION_NOT_FOUND",
      where: "r1",
    });
    await it.claim("control/k");
    await expect(requestStop(it.ports, it.world, "control/k")).rejects.toMatchObject({ code: "INVOCATION_NOT_FOUND" });
  });
});

describe("a lease", () => {
  const LOST = [
    ["another fence", { fence: 2 }],
    ["another holder", { holder: "other" }],
    ["another request", { request_id: "r2" }],
    ["a world that is not there", { world_id: "w_none" }],
  ] as const;
  const check = (it: Awaited<ReturnType<typeof openClaims>>, lease: InvocationLease) =>
    it.ports.store.transact(async (tx) => requireLease(tx, await tx.world.hold(lease.world_id), lease));

  it("holds on to its claim and its lock", async () => {
    await using it = await openClaims();
    await it.claim("r1", held);
    it.time.now = 1015;
    expect(await extendLease(it.ports, it.lease())).toBe(true);
    expect(await it.row()).toMatchObject({ lock_holder: "me", lock_until: 1035 });
    expect(await it.stored("r1")).toMatchObject({ status: "PENDING", fence: 1, lease_until: 1075 });
    expect(await check(it, it.lease())).toEqual(await it.stored("r1"));
  });

  it.each(LOST)("with %s holds nothing", async (_what, more) => {
    await using it = await openClaims();
    await it.claim("r1", held);
    const before = [await it.row(), await it.stored("r1")];
    it.time.now = 1015;
    expect(await extendLease(it.ports, it.lease(more))).toBe(false);
    await expect(check(it, it.lease(more))).rejects.toMatchObject({ code: "WORLD_BUSY" });
    expect([await it.row(), await it.stored("r1")]).toEqual(before);
  });

  it("lets go of both, so that the same request can come again", async () => {
    await using it = await openClaims();
    await it.claim("r1", held);
    await requestStop(it.ports, it.world, "r1");
    await releaseLease(it.ports, it.lease());
    expect(await it.row()).toMatchObject({ lock_holder: null, lock_until: 0 });
    expect(await it.stored("r1")).toMatchObject({ status: "RELEASED", fence: 1, headers: null });
    expect(await it.claim("r1")).toMatchObject({ result: "RUN", fence: 2 });
  });

  it("that was lost leaves what others have", async () => {
    await using it = await openClaims();
    await it.claim("r1", held);
    await releaseLease(it.ports, it.lease({ fence: 2 }));
    expect(await it.stored("r1")).toMatchObject({ status: "PENDING" });
    expect((await it.row()).lock_holder).toBe(null);
    await it.lock("other", 9000);
    await releaseLease(it.ports, it.lease());
    expect(await it.stored("r1")).toMatchObject({ status: "RELEASED" });
    expect(await it.row()).toMatchObject({ lock_holder: "other", lock_until: 9000 });
  });
});
