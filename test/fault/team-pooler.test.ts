// Guards: everything of a team works through a pooler in transaction mode with few server connections, and a worker has
// at most four connections, whatever its slots.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChild, type ChildProgram, type RunningChild } from "../support/child.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { findPgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { usePostgres } from "../support/postgres.ts";
import { createTeam, type Team } from "../support/team.ts";
import { expectTeamInOrder } from "../support/team-oracle.ts";

const postgres = await usePostgres();
const END_MS = 90_000;

describe("the connections of a team", needs(postgres.reason), () => {
  let team: Team;
  let program: ChildProgram;
  const running = new Set<RunningChild>();

  beforeAll(async () => {
    [team, program] = await Promise.all([createTeam(postgres), buildChild("test/fault/children/team-worker.ts")]);
  }, 300_000);
  afterAll(async () => {
    for (const child of running) child.process.kill("SIGKILL");
    await Promise.all([...running].map(({ ended }) => ended));
    program?.remove();
    await team?.destroy();
  });

  const start = (env: Record<string, string>) => {
    const child = program.start([team.checkout, "never", "1", "3"], { env: { ...team.env, ...env } });
    running.add(child);
    return child;
  };
  const stop = async (child: RunningChild) => {
    child.process.kill("SIGTERM");
    expect((await child.ended).code).toBe(0);
    running.delete(child);
  };
  const finish = async (look: () => Promise<void>) => {
    const end = performance.now() + END_MS;
    for (;;) {
      await look();
      const [row] = await team.sql("select count(*)::int as n from verbatim.jobs_open");
      if (row!["n"] === 0) return;
      expect(performance.now()).toBeLessThan(end);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  it("are at most four for each worker, whatever its slots", { timeout: END_MS + 30_000 }, async () => {
    const jobs: string[] = [];
    for (let n = 0; n < 4; n++) jobs.push(await team.postWrites(`tide ${n}`, [`high ${n}`]));
    for (let n = 0; n < 6; n++) jobs.push(await team.postReads(`boats ${n}`));
    const worker = start({ PGAPPNAME: "counted" });
    let most = 0;
    await finish(async () => {
      const [row] = await team.sql(
        "select count(*)::int as n from pg_stat_activity where application_name = 'counted'",
      );
      most = Math.max(most, Number(row!["n"]));
    });
    await stop(worker);
    expect(most).toBeGreaterThanOrEqual(2);
    expect(most).toBeLessThanOrEqual(4);
    expect(await expectTeamInOrder(team, jobs)).toEqual(jobs.map(() => "SUCCEEDED"));
  });

  describe("through PgBouncer in transaction mode", needs(findPgBouncer()), () => {
    it("are enough with three for two workers, the command line and everything they ask", {
      timeout: END_MS + 30_000,
    }, async () => {
      const pooler = await startPgBouncer(team.url, join(team.folder, "pooler"), 3);
      try {
        const env = { VERBATIM_DATABASE_URL: pooler.address, VERBATIM_POOLER: "transaction" };
        const through = (...args: string[]) => runHere(args, { cwd: team.checkout, env: { ...team.env, ...env } });
        const jobs: string[] = [];
        const workers = [start(env), start(env)];
        for (let n = 0; n < 3; n++) jobs.push(await team.postWrites(`ebb ${n}`, [`low ${n}`, `slack ${n}`]));
        jobs.push(await team.postReads("more boats"));
        await finish(async () => {
          expect((await through("job", "list", "--json")).exit).toBe(0);
        });
        for (const worker of workers) await stop(worker);
        for (const words of [
          ["store", "status"],
          ["ledger", "verify"],
          ["worker", "list"],
          ["agent", "queued"],
        ]) {
          expect([words, (await through(...words)).exit]).toEqual([words, 0]);
        }
        const states = await Promise.all(jobs.map(async (job) => (await through("job", "status", job)).stdout));
        expect(states.filter((text) => !text.includes("SUCCEEDED"))).toEqual([]);
      } finally {
        await pooler.stop();
      }
    });
  });

  it("know one kind of pooler", async () => {
    const env = { ...team.env, VERBATIM_POOLER: "session" };
    const refused = await runHere(["job", "list"], { cwd: team.checkout, env });
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("VERBATIM_POOLER")]);
  });
});
