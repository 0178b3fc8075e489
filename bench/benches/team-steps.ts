import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { findPgBouncer, startPgBouncer } from "../../test/support/pgbouncer.ts";
import type { Bench, Pair } from "../harness.ts";
import { type BenchTeam, nameLog, openTeam, postReads, Workers, withoutPostgres } from "../team-corpus.ts";

const STEPS = 8;
const CORPUS = "jobs of eight READ steps on PostgreSQL, already posted; workers are processes, connected and idle";
const WAITING = "of 5 ms waiting";

interface Race {
  readonly ours: number;
  readonly baseline: number;
  readonly wait_ms: number;
}

/** So many workers against so many others on the same number of jobs. */
async function race(jobs: number, { ours, baseline, wait_ms }: Race): Promise<Pair> {
  const team = await openTeam();
  await nameLog(team);
  const workers = await Workers.start(team, Math.max(ours, baseline), { WAIT_MS: String(wait_ms) });
  // Jobs of the next side are posted after one has ended, outside of its time.
  const run = async (count: number) => {
    const took = await workers.run(count);
    await postReads(team, jobs, STEPS);
    return took;
  };
  await postReads(team, jobs, STEPS);
  return {
    ours: () => run(ours),
    baseline: () => run(baseline),
    async close() {
      await workers.stop();
      await team.close();
    },
  };
}

const shared = { onAsking: true, corpus: CORPUS, unavailable: withoutPostgres, maxRounds: 5 } as const;

export const teamReadFour: Bench = {
  ...shared,
  name: "team-read-4",
  what: `READ steps ${WAITING}: four workers`,
  baseline: "one worker",
  sizes: [24],
  goal: { kind: "rate", atLeast: 2.5 },
  prepare: (size) => race(size, { ours: 4, baseline: 1, wait_ms: 5 }),
};

export const teamReadEight: Bench = {
  ...shared,
  name: "team-read-8",
  what: `READ steps ${WAITING}: eight workers`,
  baseline: "four workers",
  sizes: [32],
  goal: { kind: "rate", atLeast: 1.5 },
  prepare: (size) => race(size, { ours: 8, baseline: 4, wait_ms: 5 }),
};

export const teamReadFree: Bench = {
  ...shared,
  name: "team-read-free",
  what: "READ steps that cost nothing: eight workers",
  baseline: "one worker",
  sizes: [32],
  goal: { kind: "rate", atLeast: 0.9 },
  prepare: (size) => race(size, { ours: 8, baseline: 1, wait_ms: 0 }),
};

const POOL = 8;

export const teamPooler: Bench = {
  ...shared,
  name: "team-pooler",
  what: "READ steps by eight workers through PgBouncer in transaction mode, eight server connections",
  baseline: "eight workers that are connected to PostgreSQL",
  sizes: [32],
  goal: { kind: "rate", atLeast: 0.7 },
  unavailable: () => withoutPostgres() ?? findPgBouncer(),
  async prepare(size) {
    const team = await openTeam();
    await nameLog(team);
    const pooler = await startPgBouncer(team.url, join(team.folder, "pooler"), POOL);
    const through = { VERBATIM_DATABASE_URL: pooler.address, VERBATIM_POOLER: "transaction" };
    const [pooled, direct] = [await Workers.start(team, 8, through), await Workers.start(team, 8)];
    await postReads(team, size, STEPS);
    const run = async (workers: Workers) => {
      const took = await workers.run(8);
      await postReads(team, size, STEPS);
      return took;
    };
    return {
      ours: () => run(pooled),
      baseline: () => run(direct),
      async close() {
        await pooled.stop();
        await direct.stop();
        await pooler.stop();
        await team.close();
      },
    };
  },
};

/** From the post of a job of one step until its receipt is there, by the server's clock. */
async function postToEnd(team: BenchTeam): Promise<number> {
  const [{ ms } = { ms: 0 }] = await team.sql("select extract(epoch from clock_timestamp())::float8 * 1000 as ms");
  await postReads(team, 1, 1);
  const last = `select time, (select count(*)::int from verbatim.jobs_open) as n from verbatim.ledger_entry
    where kind = 'RECEIPT' order by time desc limit 1`;
  for (;;) {
    const [row] = await team.sql(last);
    if (row !== undefined && Number(row["n"]) === 0) return Date.parse(String(row["time"])) - Number(ms);
    await wait(5);
  }
}

async function latency(rest_ms: number, many: number): Promise<Pair & { ours(): Promise<{ took_ms: number }> }> {
  const team = await openTeam();
  await nameLog(team);
  const workers = await Workers.start(team, 1);
  workers.go();
  return {
    async ours() {
      const all: number[] = [];
      for (let n = 0; n < many; n++) {
        await wait(rest_ms);
        all.push(await postToEnd(team));
      }
      return { took_ms: all.toSorted((a, b) => a - b)[Math.floor(many / 2)]! };
    },
    baseline: 1,
    async close() {
      await workers.stop();
      await team.close();
    },
  };
}

const NEXT_MS = 300;
const IDLE_MS = 2_500;

export const teamJobNext: Bench = {
  ...shared,
  name: "team-job-next",
  what: "a job of one step that follows another within a moment, from its post to its receipt: median of 15",
  baseline: `${NEXT_MS} ms`,
  sizes: [1],
  goal: { kind: "time", atMost: 1 },
  prepare: async () => ({ ...(await latency(20, 15)), baseline: NEXT_MS }),
};

export const teamJobIdle: Bench = {
  ...shared,
  name: "team-job-idle",
  what: "a job of one step for a worker that was idle for four to seven seconds, from its post to its receipt: p95",
  baseline: `${IDLE_MS} ms`,
  sizes: [1],
  tailRounds: 10,
  goal: { kind: "time", atMost: 1 },
  async prepare() {
    const one = await latency(0, 1);
    let n = 0;
    // At another place of the worker's pauses each time.
    return { ...one, before: () => wait(4_000 + (n++ % 7) * 430), baseline: IDLE_MS };
  },
};
