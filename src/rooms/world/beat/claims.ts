import { VerbatimError } from "../../../core/errors/index.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { StoredInvocation, WorldRow } from "../ports.ts";
import { claim, isControlId, isHolder } from "./idempotency.ts";

type Ports = Pick<WorldPorts, "store" | "clock" | "pace" | "times" | "worker">;

interface Claimed {
  readonly result: "RUN";
  readonly number: number;
  readonly fence: number;
  /** Whether the beat lock was free and taken in the same transaction. */
  readonly locked: boolean;
}

interface Replayed {
  readonly result: "REPLAY";
  readonly stored: StoredInvocation;
}

/** What a worker holds: its claim on the request and, with `holder`, the beat lock of the world. */
export interface InvocationLease {
  readonly world_id: string;
  readonly number: number;
  readonly request_id: string;
  readonly fence: number;
  readonly holder: string;
}

/** The place of a request among those of its own process that want a beat. */
export interface Turn {
  /** Whether the beat lock may be taken together with the claim. */
  held(): boolean;
  /** Called before each wait: whoever waits for the first must not keep the first waiting. */
  giveUp(): void;
}

/** Claims a request; a duplicate waits for the first and is answered with the same bytes. */
export async function claimRequest(
  ports: Ports,
  request: { readonly world_id: string; readonly request_id: string; readonly body: string; readonly holder: string },
  turn: Turn | null,
): Promise<Claimed | Replayed> {
  const end = ports.pace.elapsed() + ports.times.wait_ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, 200)) {
    const answer = await ports.store.transact(async (tx) => {
      const world = await tx.world.hold(request.world_id);
      if (world === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: request.world_id });
      const stored = await tx.world.invocation(world.number, request.request_id);
      const now = ports.clock.now();
      const by = claimedBy(stored);
      const isGone = by !== null && ports.worker.isGone(by);
      const verdict = claim(stored, request.body, now, ports.times.lease_ms, isGone);
      if (!("row" in verdict)) return { verdict, stored };
      await tx.world.putInvocation(world.number, {
        ...verdict.row,
        request_id: request.request_id,
        outcome: null,
        headers: JSON.stringify({ by: ports.worker.name }),
      });
      const locked = turn?.held() === true && isFree(ports, world, request.holder, now);
      if (locked) await tx.world.setLock(world.number, request.holder, now + ports.times.lock_ms);
      return { run: { result: "RUN", number: world.number, fence: verdict.row.fence, locked } as const };
    });
    if ("run" in answer) return answer.run;
    if (answer.verdict.result === "REPLAY") return { result: "REPLAY", stored: answer.stored! };
    if (answer.verdict.result === "BODY_MISMATCH") {
      throw new VerbatimError("IDEMPOTENCY_BODY_MISMATCH", {
        message: `the request id ${request.request_id} was already used with a different body`,
        where: "/request_id",
      });
    }
    if (ports.pace.elapsed() >= end) {
      throw new VerbatimError("REQUEST_PENDING", { details: { request_id: request.request_id, status: "PENDING" } });
    }
    turn?.giveUp();
    await ports.pace.sleep(pause);
  }
}

/** A lock whose process is gone is free at once; that of another machine when its time is over. */
export function isFree(
  ports: Pick<WorldPorts, "worker">,
  world: Pick<WorldRow, "lock_holder" | "lock_until">,
  holder: string,
  now: number,
): boolean {
  const { lock_holder, lock_until } = world;
  return lock_holder === null || lock_holder === holder || lock_until <= now || ports.worker.isGone(lock_holder);
}

/** Takes the beat lock of a world, waiting for whoever has it. */
export async function takeLock(ports: Ports, worldId: string, holder: string, waitMs: number): Promise<void> {
  const end = ports.pace.elapsed() + waitMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const got = await ports.store.transact(async (tx) => {
      const world = await tx.world.hold(worldId);
      const now = ports.clock.now();
      if (world === null || !isFree(ports, world, holder, now)) return false;
      await tx.world.setLock(world.number, holder, now + ports.times.lock_ms);
      return true;
    });
    if (got) return;
    if (ports.pace.elapsed() >= end) throw new VerbatimError("WORLD_BUSY", { where: worldId });
    await ports.pace.sleep(pause);
  }
}

/** What stands in the headers of a pending request: which process works on it, and whether its writer should stop. */
interface PendingHeaders {
  readonly by?: string;
  readonly stop?: "true";
}

function readPending(stored: Pick<StoredInvocation, "status" | "headers"> | null): PendingHeaders {
  if (stored?.status !== "PENDING" || stored.headers === null) return {};
  return JSON.parse(stored.headers) as PendingHeaders;
}

/** The process that claimed a pending request; null for one of an earlier version. */
function claimedBy(stored: StoredInvocation | null): string | null {
  return readPending(stored).by ?? null;
}

/** Asks whoever works on a request to stop its writer; says whether someone does. */
export async function requestStop(ports: Ports, worldId: string, requestId: string): Promise<boolean> {
  return ports.store.transact(async (tx) => {
    const world = await tx.world.hold(worldId);
    if (world === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
    const stored = await tx.world.invocation(world.number, requestId);
    if (stored === null || isControlId(requestId)) {
      throw new VerbatimError("INVOCATION_NOT_FOUND", { where: requestId });
    }
    if (stored.status !== "PENDING") return false;
    await tx.world.putInvocation(world.number, {
      ...stored,
      headers: JSON.stringify({ ...readPending(stored), stop: "true" }),
    });
    return true;
  });
}

/** Whether someone asked for the writer of a pending request to stop. */
export function isStopRequested(stored: StoredInvocation | null): boolean {
  return readPending(stored).stop === "true";
}

/** Shows a sign of life while a slow writer works. False when someone else took over. */
export async function extendLease(ports: Ports, lease: InvocationLease): Promise<boolean> {
  return ports.store.transact(async (tx) => {
    const world = await tx.world.hold(lease.world_id);
    const stored = await tx.world.invocation(lease.number, lease.request_id);
    if (world?.lock_holder !== lease.holder || !isHolder(stored, lease.fence)) return false;
    const now = ports.clock.now();
    await tx.world.putInvocation(lease.number, {
      ...(stored as StoredInvocation),
      lease_until: now + ports.times.lease_ms,
    });
    await tx.world.setLock(lease.number, lease.holder, now + ports.times.lock_ms);
    return true;
  });
}

/** Lets go after a failure, so that the same request can be sent again. */
export async function releaseLease(ports: Ports, lease: InvocationLease): Promise<void> {
  await ports.store.transact(async (tx) => {
    const world = await tx.world.hold(lease.world_id);
    const stored = await tx.world.invocation(lease.number, lease.request_id);
    if (isHolder(stored, lease.fence)) {
      const released = { ...(stored as StoredInvocation), status: "RELEASED", headers: null } as const;
      await tx.world.putInvocation(lease.number, released);
    }
    if (world?.lock_holder === lease.holder) await tx.world.setLock(lease.number, null, 0);
  });
}

/** Throws unless the worker still holds its claim and the lock; a late one writes nothing. */
export async function requireLease(
  tx: { readonly world: { invocation(world: number, id: string): Promise<StoredInvocation | null> } },
  world: WorldRow | null,
  lease: InvocationLease,
): Promise<StoredInvocation> {
  const stored = await tx.world.invocation(lease.number, lease.request_id);
  if (world?.lock_holder === lease.holder && isHolder(stored, lease.fence)) return stored as StoredInvocation;
  throw new VerbatimError("WORLD_BUSY", { message: "another worker took over this request", where: lease.request_id });
}
