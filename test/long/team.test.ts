// The whole plan of faults for a team: workers killed at random and at each point where that hurts, a database that crashes and
// fills up, a worker whose link is lost, a remote that is away, refuses or moves, a foreign checkout and a broken worker all the
// while, clocks an hour wrong both ways, a backup under load; and the same through a pooler.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { findPgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { usePostgres } from "../support/postgres.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { expectOrder, finish, pause, type Reference, readReference, until } from "../support/team-chaos.ts";
import { Crew } from "../support/team-crew.ts";
import { createDatabase, createFleet, type Fleet, git, makeForeign } from "../support/team-fleet.ts";

const { reason } = await usePostgres();
const POINTS = ["before-intent", "before-push", "after-push", "after-look", "before-push 2", "after-push 2"];
const NAMES = ["harbour", "mill"] as const;
const JOBS = 26;
const KILLS = 50;
const KILL_MS = 1_200;
const AWAY_MS = 40_000;
/** A person is slower than a landing, also on a machine with other work to do. */
const PERSON_MS = 4_000;
const LONG = { timeout: 1_200_000 };

/** A disk of its own for `megabytes`; null where nobody may make one. */
function mountDisk(megabytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), "v-disk-"));
  const made = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", folder]);
  if (made.status === 0) return folder;
  rmSync(folder, { recursive: true });
  return null;
}

function unmount(folder: string | null): void {
  if (folder === null) return;
  spawnSync("umount", ["-l", folder]);
  rmSync(folder, { recursive: true, force: true });
}

function fill(folder: string): () => void {
  const filler = join(folder, "filler");
  const file = openSync(filler, "w");
  // Others write at the same time, so what was free is not all that can be had.
  for (const size of [1 << 20, 1 << 12]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "ENOSPC") throw thrown;
    }
  }
  closeSync(file);
  return () => rmSync(filler, { force: true });
}

describe("a team in a storm", needs(reason), () => {
  const disk = mountDisk(900);
  const small = mountDisk(48);
  let server: PostgresServer;
  let program: ChildProgram;
  let calm: Fleet;
  let fleet: Fleet;
  let crew: Crew;
  let reference: Reference;
  let foreign: ReturnType<typeof watchForeign>;
  let next = 0;

  beforeAll(async () => {
    const started = await startPostgresServer(disk ?? undefined);
    if ("reason" in started) throw new Error(started.reason);
    server = started;
    program = await buildChild("test/fault/children/team-worker.ts");
    calm = await createFleet(server, "calm", NAMES);
    fleet = await createFleet(server, "storm", NAMES);
    for (const one of calm.workspaces) {
      await one.post(3, 0);
      await one.post(JOBS - 3, 3, ["reads"]);
    }
    await Promise.all(calm.workspaces.map((one) => one.must("worker", "--once")));
    reference = await readReference(calm);
    crew = new Crew(program);
    for (const [n, one] of fleet.workspaces.entries()) {
      await crew.add(fleet, one, `${n}-a`, fleet.url);
      await crew.add(fleet, one, `${n}-b`, fleet.url);
    }
    // It takes jobs and cannot do one of them.
    await crew.add(fleet, fleet.workspaces[0]!, "broken", fleet.url, { TMPDIR: join(fleet.folder, "nowhere") });
    foreign = watchForeign(fleet);
  }, 600_000);

  afterAll(async () => {
    await foreign?.end();
    await crew?.remove();
    program?.remove();
    calm?.remove();
    fleet?.remove();
    await server?.stop();
    unmount(small);
    unmount(disk);
  });

  const post = async (count: number) => {
    for (const one of fleet.workspaces) await one.post(count, next);
    next += count;
  };
  const expectSettled = async () => {
    await finish(fleet, crew, 600_000);
    await expectOrder(fleet, reference);
  };
  const busy = async () => {
    await until("a worker has a job", async () => {
      const [row] = await fleet.sql("select count(*)::int as n from verbatim_queue.job where state = 'active'");
      return row!["n"] !== 0;
    });
  };

  it("fifty kills, at random and at every point that hurts, do nothing twice and lose nothing", LONG, async () => {
    crew.plan(...POINTS, ...POINTS);
    await post(8);
    for (let pick = 0; crew.kills < KILLS || crew.planned > 0; pick++) {
      crew.kill(pick * 7 + 3);
      await pause(KILL_MS);
      if ((await fleet.open()) === 0 && next < 12) await post(1);
    }
    await expectSettled();
  });

  it("a database that stops at once three times loses nothing that was acknowledged", LONG, async () => {
    await post(2);
    for (let i = 0; i < 3; i++) {
      await busy();
      await server.crash();
      await pause(2_000);
      await server.startAgain();
    }
    await expectSettled();
  });

  it("a worker that is cut off holds up nobody, and what it sends late changes nothing", LONG, async () => {
    await post(2);
    await busy();
    const [cut] = crew.machines;
    cut!.relay.freeze();
    const begun = performance.now();
    await until("the others did everything", async () => (await fleet.open()) === 0, 600_000);
    await pause(Math.max(0, AWAY_MS - (performance.now() - begun)));
    cut!.relay.thaw();
    await expectSettled();
  });

  it("a full disk of a worker and one of the database stop nothing for longer than they are full", {
    ...LONG,
    ...needs(disk === null || small === null ? "nobody may make a disk here" : null),
  }, async () => {
    const one = fleet.workspaces[1]!;
    await crew.add(fleet, one, "small", fleet.url, { VERBATIM_STATE: small! });
    await until("it is there", async () => existsSync(join(small!, "team", "work")));
    const empty = fill(small!);
    await post(2);
    await expectSettled();
    empty();
    await post(1);
    await busy();
    const free = fill(disk!);
    await pause(5_000);
    free();
    await pause(2_000);
    try {
      await fleet.open();
    } catch {
      // It gave up where it could not even write its journal.
      await server.startAgain();
    }
    await expectSettled();
  });

  it("a remote that refuses, is away and is moved by others gets every commit once", LONG, async () => {
    const hook = join(fleet.remote, "hooks", "pre-receive");
    mkdirSync(join(fleet.remote, "hooks"), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\nexit 1\n");
    chmodSync(hook, 0o755);
    await post(2);
    await pause(10_000);
    rmSync(hook);
    renameSync(fleet.remote, `${fleet.remote}.away`);
    await pause(30_000);
    renameSync(`${fleet.remote}.away`, fleet.remote);
    await expectSettled();
    const person = movesRelease(fleet);
    const [one] = fleet.workspaces;
    const same = one!.posted.filter(({ key }) => key === "writes 0").slice(0, 4);
    try {
      for (const { job } of same) await one!.must("job", "land", job, "--onto", "release");
    } finally {
      await person.end();
    }
    const log = git(fleet.remote, "log", "--format=%s", "release").split("\n");
    expect(log.filter((line) => line.startsWith("by hand")).length).toBe(person.commits());
    for (const { job } of same) expect(log.filter((line) => line === `Merge job/${refOf(fleet, job)}`)).toHaveLength(1);
    await expectOrder(fleet, reference);
  });

  it("workers that are replaced one after the other hand on what they have", LONG, async () => {
    await post(3);
    for (let i = 0; i < 3; i++) {
      await busy();
      const ends = await crew.stop();
      expect(ends).toEqual(ends.map(() => 0));
      crew.resume();
    }
    await expectSettled();
  });

  it("a foreign checkout got nothing all the while, and no work tree is left", LONG, async () => {
    const { tries, wrong } = await foreign.end();
    expect(tries).toBeGreaterThan(5);
    expect(wrong).toEqual([]);
    await crew.stop();
    crew.resume();
    await until("all are there", async () => crew.machines.every(({ child }) => (child?.lines.length ?? 0) > 0));
    await pause(3_000);
    await crew.stop();
    expect(crew.leftovers()).toEqual([]);
    crew.resume();
  });

  it("a backup under load is gone on from, and a later checkpoint does not fit it", LONG, async () => {
    const [one] = fleet.workspaces;
    await post(2);
    await busy();
    const folder = join(fleet.folder, "backup");
    await one!.must("store", "backup", "--out", folder);
    await post(2);
    await expectSettled();
    await one!.must("keys", "new", "ci");
    const late = join(fleet.folder, "late.dsse.json");
    await one!.must("ledger", "checkpoint", "--key", "ci", "--out", late);
    await one!.must("keys", "policy", "init", join(fleet.folder, "trust.json"), "--key", "ci");
    await crew.stop();
    const url = await createRestored(server);
    const there = (name: string, ...args: string[]) => {
      const crewed = fleet.workspaces.find((each) => each.name === name)!;
      return runHere(args, { cwd: crewed.checkout, env: crewed.env(url, "state-restored") });
    };
    const restored = await there("harbour", "store", "restore", folder);
    expect([restored.exit, restored.stderr]).toEqual([0, expect.anything()]);
    for (const name of NAMES) {
      await until(
        `${name} is done`,
        async () => {
          await there(name, "worker", "--once", "--min-free", "0");
          const listed = await there(name, "job", "list", "--open", "--json");
          return (JSON.parse(listed.stdout) as { jobs: unknown[] }).jobs.length === 0;
        },
        600_000,
      );
      expect((await there(name, "ledger", "verify")).exit).toBe(0);
    }
    const trust = ["--checkpoint", late, "--trust", join(fleet.folder, "trust.json")];
    const truncated = await there("harbour", "ledger", "verify", ...trust);
    expect([truncated.exit, truncated.stdout]).toEqual([1, expect.stringContaining("LEDGER_TRUNCATED")]);
  });

  describe("through PgBouncer in transaction mode", needs(findPgBouncer()), () => {
    it("the same storm does nothing twice and loses nothing", LONG, async () => {
      const pooled = await createFleet(server, "pooled", NAMES);
      const pooler = await startPgBouncer(pooled.url, join(pooled.folder, "pooler"), 10);
      const many = new Crew(program);
      try {
        for (const one of pooled.workspaces) await one.post(4, 0);
        many.plan(...POINTS);
        for (const [n, one] of pooled.workspaces.entries()) {
          for (const letter of ["c", "d"]) {
            await many.add(pooled, one, `${n}-${letter}`, pooler.address, { VERBATIM_POOLER: "transaction" });
          }
        }
        for (let pick = 0; many.kills < 15 || many.planned > 0; pick++) {
          many.kill(pick * 5 + 1);
          await pause(KILL_MS);
        }
        await server.crash();
        await pause(2_000);
        await server.startAgain();
        await finish(pooled, many, 600_000);
        expect(await many.stop()).toEqual([0, 0, 0, 0]);
        await expectOrder(pooled, reference);
      } finally {
        await many.remove();
        await pooler.stop();
        pooled.remove();
      }
    });
  });
});

async function createRestored(server: PostgresServer): Promise<string> {
  return createDatabase(server, "restored");
}

function refOf(fleet: Fleet, job: string): string {
  const refs = git(fleet.remote, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/verbatim/job").split("\n");
  return refs.find((ref) => ref.endsWith(job))!;
}

/** A checkout of something else that has the address of the database, and uses it whenever it can. */
function watchForeign(fleet: Fleet) {
  const [one] = fleet.workspaces;
  const checkout = makeForeign(fleet.folder);
  const wrong: string[] = [];
  let tries = 0;
  let isOver = false;
  const loop = (async () => {
    while (!isOver) {
      for (const words of [
        ["index", "build"],
        ["job", "post", "message.json"],
      ]) {
        const said = await runHere(words, { cwd: checkout, env: one!.env() });
        tries++;
        const isAway = said.exit === 4;
        if (!isAway && !said.stderr.includes("REPOSITORY_MISMATCH")) wrong.push(`${words.join(" ")}: ${said.stderr}`);
      }
      await pause(4_000);
    }
  })();
  return {
    async end() {
      isOver = true;
      await loop;
      return { tries, wrong };
    },
  };
}

/** Somebody who pushes to the branch that others are merged into. */
function movesRelease(fleet: Fleet) {
  const clone = join(fleet.folder, "person");
  git(fleet.folder, "clone", "-q", "-b", "release", fleet.remote, clone);
  let pushed = 0;
  let isOver = false;
  const loop = (async () => {
    for (let n = 0; !isOver; n++) {
      writeFileSync(join(clone, `by-hand-${n}.md`), `${n}\n`);
      git(clone, "add", "-A");
      git(clone, "-c", "user.name=Ben", "-c", "user.email=ben@example.org", "commit", "-q", "-m", `by hand ${n}`);
      for (let tries = 0; ; tries++) {
        const { status } = spawnSync("git", ["push", "-q", "origin", "release"], { cwd: clone });
        if (status === 0) break;
        if (tries === 50) throw new Error("nobody gets through");
        git(
          clone,
          "-c",
          "user.name=Ben",
          "-c",
          "user.email=ben@example.org",
          "pull",
          "-q",
          "--rebase",
          "origin",
          "release",
        );
      }
      pushed++;
      await pause(PERSON_MS);
    }
  })();
  return {
    commits: () => pushed,
    async end() {
      isOver = true;
      await loop;
    },
  };
}
