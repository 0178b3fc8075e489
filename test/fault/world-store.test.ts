// A store that fails, a clock that jumps and a worker that comes late: nothing partial, one write bundle, nothing lost.
import { describe, expect, it } from "vitest";
import { VerbatimError } from "../../src/core/errors/index.ts";
import { Beats } from "../../src/rooms/world/beat/beats.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import type { WorldPorts, WorldStore } from "../../src/rooms/world/operations/ports.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();

/** A store whose writes fail while `fault` says so; each write is counted from 1. */
function withFaults(ports: WorldPorts): { readonly ports: WorldPorts; fault: (write: number) => Error | null } {
  let write = 0;
  const faulty = {
    fault: (_: number): Error | null => null,
    ports: {
      ...ports,
      store: {
        ...ports.store,
        read: ((fn) => ports.store.read(fn)) as WorldStore["read"],
        transact: (async (fn) => {
          const failure = faulty.fault(++write);
          return ports.store.transact(async (tx) => {
            const result = await fn(tx);
            // At the very end, when every row is written and only the commit is missing.
            if (failure !== null) throw failure;
            return result;
          });
        }) as WorldStore["transact"],
      } as WorldStore,
    },
  };
  return faulty;
}

async function linesOf({ ports }: Pick<TestWorlds, "ports">, world: string): Promise<string[]> {
  const { entries } = await readPage(ports, world, { viewer: null, after: null, before: null, limit: 50 });
  return entries.map(({ text }) => text);
}

async function stateOf({ ports }: Pick<TestWorlds, "ports">, world: string, requestId: string) {
  return ports.store.read(async (tx) => {
    const row = (await tx.world.find(world))!;
    const stored = await tx.world.invocation(row.number, requestId);
    return { status: stored?.status ?? null, lock: row.lock_holder };
  });
}

describe.each([
  { name: "SQLite", reason: null, url: async () => undefined },
  {
    name: "PostgreSQL",
    reason: postgres.reason,
    url: async () => (await postgres.createDatabase()).url,
  },
])("a world whose store fails on $name", ({ reason, url }) => {
  async function open(model?: ListedModel): Promise<TestWorlds & { readonly world: string }> {
    const address = await url();
    const worlds = await openWorlds({
      ...(address === undefined ? {} : { url: address }),
      ...(model === undefined ? {} : { models: model }),
      times: { wait_ms: 0, queue_ms: 50 },
    });
    const world = await makeHarbour(worlds, model === undefined ? {} : OLLAMA);
    await setPresence(worlds.ports, world, ["GEORGE", "ANA"]);
    return { ...worlds, world };
  }

  it(
    "says so with 503, writes nothing, lets go of the claim, and runs the same request later",
    needs(reason),
    async () => {
      await using worlds = await open();
      const { world } = worlds;
      const faulty = withFaults(worlds.ports);
      const beats = new Beats(faulty.ports);
      // The claim is the first write and the bundle the second.
      faulty.fault = (write) => (write === 2 ? new VerbatimError("DISK_FULL") : null);
      const refused = beats.invoke(world, envelope("r1", "The tide is out."));
      await expect(refused).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await linesOf(worlds, world)).toEqual([]);
      expect(await stateOf(worlds, world, "r1")).toEqual({ status: "RELEASED", lock: null });
      await beats.invoke(world, envelope("r1", "The tide is out."));
      expect(await linesOf(worlds, world)).toEqual(["The tide is out.", "I hear you."]);
      expect((await verifyWorld(worlds.ports, world)).ok).toBe(true);
    },
  );

  it("asks for patience when a request comes again while another process works on it", needs(reason), async () => {
    const model = new ListedModel(says("ANA", "I hear you."));
    await using worlds = await open(model);
    const { world, beats } = worlds;
    let again: Promise<unknown> = Promise.resolve();
    model.before = async () => {
      again = worlds.another().invoke(world, envelope("r1", "The tide is out."));
      await again.catch(() => undefined);
    };
    await beats.invoke(world, envelope("r1", "The tide is out."));
    await expect(again).rejects.toMatchObject({
      code: "REQUEST_PENDING",
      exit: 4,
      details: { request_id: "r1", status: "PENDING" },
    });
    expect(await linesOf(worlds, world)).toEqual(["The tide is out.", "I hear you."]);
  });

  it("lets go of the claim as soon as the store writes again, when it could not at once", needs(reason), async () => {
    await using worlds = await open();
    const { world } = worlds;
    const faulty = withFaults(worlds.ports);
    const beats = new Beats(faulty.ports);
    faulty.fault = (write) => (write >= 2 ? new VerbatimError("FOLDER_READ_ONLY") : null);
    const refused = beats.invoke(world, envelope("r1", "The tide is out."));
    await expect(refused).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await stateOf(worlds, world, "r1")).status).toBe("PENDING");
    await expect(beats.invoke(world, envelope("r2", "Another."))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    faulty.fault = () => null;
    await beats.invoke(world, envelope("r1", "The tide is out."));
    expect(await linesOf(worlds, world)).toEqual(["The tide is out.", "I hear you."]);
  });

  it("lets go of the claim of a refresh that could not be stored", needs(reason), async () => {
    await using worlds = await open();
    const { world } = worlds;
    const faulty = withFaults(worlds.ports);
    const beats = new Beats(faulty.ports);
    const refresh = { ...(envelope("look", "") as object), mode: { kind: "NO_OP" } } as never;
    faulty.fault = (write) => (write === 2 ? new VerbatimError("DISK_FULL") : null);
    await expect(beats.invoke(world, refresh)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await stateOf(worlds, world, "look")).status).toBe("RELEASED");
    const answer = await beats.invoke(world, refresh);
    expect(answer).toMatchObject({ replayed: false, headers: { "Verbatim-Beat-Result": "REFRESH" } });
    expect((await beats.invoke(world, refresh)).body).toBe(answer.body);
  });

  it("lets a worker that comes too late write nothing", needs(reason), async () => {
    const model = new ListedModel(says("ANA", "In time."), says("ANA", "Late."));
    await using worlds = await open(model);
    const { world } = worlds;
    const second = worlds.another();
    let now = Date.now();
    const clock = { now: () => now };
    const late = new Beats({ ...worlds.ports, clock });
    model.before = async () => {
      model.before = null;
      // The first worker sleeps through its lease and the lock; the same request is sent to another one.
      now -= 3_600_000;
      await worlds.ports.store.transact(async (tx) => {
        const row = (await tx.world.hold(world))!;
        const stored = (await tx.world.invocation(row.number, "r1"))!;
        await tx.world.putInvocation(row.number, { ...stored, lease_until: 0 });
        await tx.world.setLock(row.number, row.lock_holder, 0);
      });
      await second.invoke(world, envelope("r1", "Is anybody here?"));
    };
    const fenced = late.invoke(world, envelope("r1", "Is anybody here?"));
    await expect(fenced).rejects.toMatchObject({ code: "WORLD_BUSY" });
    expect(await linesOf(worlds, world)).toEqual(["Is anybody here?", "In time."]);
    const again = await late.invoke(world, envelope("r1", "Is anybody here?"));
    expect(again.replayed).toBe(true);
    expect((await verifyWorld(worlds.ports, world)).ok).toBe(true);
  });

  it("does not let a host clock that jumps back touch the time of the world or a beat", needs(reason), async () => {
    await using worlds = await open();
    const { world } = worlds;
    let now = Date.now();
    const beats = new Beats({ ...worlds.ports, clock: { now: () => (now -= 3_600_000) } });
    const first = JSON.parse((await beats.invoke(world, envelope("r1", "One."))).body) as never;
    const second = JSON.parse((await beats.invoke(world, envelope("r2", "Two."))).body) as never;
    const timesOf = (output: { stream: { entries: { created_at_world: string }[] } }) =>
      output.stream.entries.map(({ created_at_world }) => created_at_world);
    const start = "2026-01-01T07:30:00+00:00";
    expect([...timesOf(first), ...timesOf(second)]).toEqual([start, start, start, start]);
    expect(await linesOf(worlds, world)).toHaveLength(4);
    expect((await verifyWorld(worlds.ports, world)).ok).toBe(true);
  });
});
