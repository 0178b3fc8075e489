// Guards: whatever happens to workers and database meanwhile, every effect happens once and none is lost. The whole plan
// is test/long/team.test.ts; this is as much of it as fits into a minute.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { expectOrder, finish, pause, type Reference, readReference, until } from "../support/team-chaos.ts";
import { Crew } from "../support/team-crew.ts";
import { createFleet, type Fleet } from "../support/team-fleet.ts";

const { reason } = await usePostgres();
const POINTS = ["before-intent", "before-push", "after-push", "after-look"];

describe("a fleet of workers in a storm", needs(reason), () => {
  let server: PostgresServer;
  let program: ChildProgram;
  let calm: Fleet;
  let fleet: Fleet;
  let crew: Crew;
  let reference: Reference;

  beforeAll(async () => {
    const [started, built] = await Promise.all([
      startPostgresServer(),
      buildChild("test/fault/children/team-worker.ts"),
    ]);
    if ("reason" in started) throw new Error(started.reason);
    server = started;
    program = built;
    [calm, fleet] = [
      await createFleet(server, "calm", ["harbour", "mill"]),
      await createFleet(server, "storm", ["harbour", "mill"]),
    ];
    for (const one of calm.workspaces) await one.post(1, 0);
    for (const one of calm.workspaces) await one.must("worker", "--once");
    reference = await readReference(calm);
    crew = new Crew(program);
  });

  afterAll(async () => {
    await crew?.remove();
    program?.remove();
    calm?.remove();
    fleet?.remove();
    await server?.stop();
  });

  it("does every job once, in two workspaces with one remote", { timeout: 300_000 }, async () => {
    for (const one of fleet.workspaces) await one.post(1, 0);
    crew.plan(...POINTS);
    for (const [n, one] of fleet.workspaces.entries()) {
      await crew.add(fleet, one, `${n}-a`, fleet.url);
      await crew.add(fleet, one, `${n}-b`, fleet.url);
    }
    await until("some were killed", async () => crew.kills >= POINTS.length);
    await server.crash();
    await pause(1000);
    await server.startAgain();
    await finish(fleet, crew, 180_000);
    expect(await crew.stop()).toEqual([0, 0, 0, 0]);
    await expectOrder(fleet, reference);
    expect(crew.kills).toBe(POINTS.length);
  });
});
