import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { createTeam, type Team } from "../support/team.ts";
import { expectTeamInOrder } from "../support/team-oracle.ts";

const postgres = await usePostgres();
const END_MS = 60_000;

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
}

/** The way to a server's socket, which can be cut. */
class Way {
  readonly #folder: string;
  readonly #target: string;
  readonly #open = new Set<Socket>();
  #server: Server | null = null;

  constructor(folder: string, url: string) {
    this.#folder = folder;
    this.#target = join(new URL(url).searchParams.get("host")!, ".s.PGSQL.5432");
    mkdirSync(folder, { recursive: true });
  }

  async open(): Promise<void> {
    this.#server = createServer((from) => {
      const to = connect(this.#target);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        this.#open.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          this.#open.delete(one);
          other.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => this.#server!.listen(join(this.#folder, ".s.PGSQL.5432"), resolve));
  }

  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    const closed = new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }
}

describe("faults around the workers of a team", needs(postgres.reason), () => {
  let team: Team;
  let stalled = "";
  beforeAll(async () => {
    team = await createTeam(postgres);
  });
  afterAll(() => team?.destroy());

  const listed = async () => (JSON.parse(await team.must("worker", "list", "--json")) as { workers: Listed[] }).workers;
  const until = async (holds: () => Promise<boolean>) => {
    const end = performance.now() + END_MS;
    while (!(await holds())) {
      expect(performance.now()).toBeLessThan(end);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const state = async (job: string) =>
    (JSON.parse(await team.must("job", "status", job, "--json")) as { state: string }).state;

  it("a worker is listed with what it offers, and one that is told to drain ends when it is idle", async () => {
    const ended = team.verbatim("worker", "--label", "default", "--label", "gpu", "--slots", "2");
    await until(async () => (await listed()).length === 1);
    const [one] = await listed();
    expect(one).toMatchObject({
      state: "ready",
      reason: null,
      labels: ["default", "gpu"],
      repositories: ["harbour"],
      slots: 2,
      busy: 0,
    });
    expect(await team.must("worker", "list")).toContain(one!.name);
    const unknown = await team.verbatim("worker", "drain", "worker/nobody#1");
    expect([unknown.exit, unknown.stderr]).toEqual([2, expect.stringContaining("WORKER_UNKNOWN")]);
    expect(await team.must("worker", "drain", one!.name)).toContain("ends when it is idle");
    expect(await ended).toMatchObject({ exit: 0, stdout: expect.stringMatching(/ended; 0 jobs done\n$/) });
    expect(await listed()).toEqual([]);
  });

  it("a worker with too little space takes no job and says so: DISK_FULL", async () => {
    const job = await team.postReads("a full hold");
    const much = String(2 ** 52);
    const once = await team.verbatim("worker", "--once", "--min-free", much);
    expect([once.exit, once.stdout, once.stderr]).toEqual([
      0,
      expect.stringMatching(/ended; 0 jobs done\n$/),
      expect.stringContaining("DISK_FULL"),
    ]);
    const ended = team.verbatim("worker", "--min-free", much);
    await until(async () => (await listed())[0]?.state === "paused");
    expect((await listed())[0]!.reason).toBe("DISK_FULL");
    await team.must("worker", "drain", (await listed())[0]!.name);
    expect((await ended).exit).toBe(0);
    expect(await state(job)).toBe("PENDING");
    // What a worker says is a log: an object a line, which names the job, its steps and its attempt.
    const done = await team.verbatim("worker", "--once");
    expect(await state(job)).toBe("SUCCEEDED");
    const lines = done.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ level, msg, job: of, step, attempt }) => [level, msg, of, step, attempt])).toEqual([
      ["info", expect.stringContaining("serves harbour on 1 slots"), undefined, undefined, undefined],
      ["info", "step done", job, 1, 1],
      ["info", "step done", job, 2, 1],
      ["info", "job done", job, undefined, 1],
    ]);
    const quiet = await team.verbatim("worker", "--once", "--log-level", "error");
    expect([quiet.exit, quiet.stderr]).toEqual([0, ""]);
  });

  it("a job that used up its retries is stalled, is not sent again by itself, and goes on when somebody says so", async () => {
    const job = await team.postWrites("stalled", ["neap"]);
    await team.sql("update verbatim_queue.job set retry_limit = 0 where data->>'job' = $1", job);
    const hook = join(team.remote, "hooks", "pre-receive");
    mkdirSync(join(team.remote, "hooks"), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\nexit 1\n");
    chmodSync(hook, 0o755);
    await team.verbatim("worker", "--once");
    rmSync(hook);
    const status = await team.must("job", "status", job);
    expect(status).toContain("STALLED after 1 attempt, the last one ended by REMOTE_UNAVAILABLE");
    expect(status).toContain(`next: verbatim job retry ${job}`);
    expect(await team.must("store", "requeue")).toBe("the queue has every open job\n");
    expect(await team.must("job", "retry", job)).toBe(`sent ${job} again\n`);
    await team.must("worker", "--once");
    stalled = job;
    expect(await expectTeamInOrder(team, [job])).toEqual(["SUCCEEDED"]);
  });

  it("a worker that looks once ends, whatever the collector of garbage takes meanwhile", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const timer = setInterval(collect, 300);
    try {
      expect((await team.verbatim("worker", "--once")).exit).toBe(0);
    } finally {
      clearInterval(timer);
    }
  });

  it("jobs that the queue lost are sent again by store requeue", async () => {
    const job = await team.postReads("washed away");
    await team.sql("delete from verbatim_queue.job where data->>'job' = $1", job);
    expect(await team.must("job", "status", job)).toContain("the queue does not have it");
    expect(await team.must("store", "requeue")).toBe("sent 1 job again\n");
    expect(await team.must("job", "status", job)).toContain("waiting for a worker");
    await team.must("worker", "--once");
    expect(await team.must("store", "requeue")).toBe("the queue has every open job\n");
  });

  it("a worker that is there before its database waits for it, and outlives that it goes away", {
    timeout: 300_000,
  }, async () => {
    const folder = join(team.folder, "way");
    const way = new Way(folder, team.url);
    const url = new URL(team.url);
    url.searchParams.set("host", folder);
    const env = { ...team.env, VERBATIM_DATABASE_URL: url.href };
    const run = (...args: string[]) => runHere(["worker", ...args], { cwd: team.checkout, env });
    expect(await run("--wait", "0")).toMatchObject({ exit: 4, stderr: expect.stringContaining("STORE_UNAVAILABLE") });
    const ended = run("--wait", "300");
    try {
      await way.open();
      await until(async () => (await listed()).length === 1);
      const before = await team.postWrites("before the storm", ["low water"]);
      await until(async () => (await state(before)) === "SUCCEEDED");
      await way.cut();
      const during = await team.postWrites("in the storm", ["high water"]);
      await way.open();
      await until(async () => (await state(during)) === "SUCCEEDED");
      expect(await expectTeamInOrder(team, [stalled, before, during])).toEqual(["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
      await team.must("worker", "drain", (await listed())[0]!.name);
      expect((await ended).exit).toBe(0);
    } finally {
      await way.cut();
    }
  });

  it("a worker whose database was restored meanwhile stops before it does anything else: STORE_RESTORED", async () => {
    const ended = team.verbatim("worker");
    await until(async () => (await listed()).length === 1);
    await team.sql(
      "insert into verbatim.incarnation (id, time) values (gen_random_uuid(), '2026-11-15T22:10:03.412Z')",
    );
    expect(await ended).toMatchObject({ exit: 4, stderr: expect.stringContaining("STORE_RESTORED") });
  });
});
