import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSeal } from "../../src/adapters/git/effect-commit.ts";
import { Mirror } from "../../src/adapters/git/mirror.ts";
import { createPauses } from "../../src/adapters/process/pauses.ts";
import { composeAlone } from "../../src/app/compose/compose.ts";
import { ownJob } from "../../src/rooms/jobs/steps/own-job.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { createTeam, type Team } from "../support/team.ts";
import { expectTeamInOrder } from "../support/team-oracle.ts";

const postgres = await usePostgres();

interface Status {
  readonly state: string;
  readonly steps: readonly { readonly status: string; readonly code: string | null }[];
}

describe("a team's worker", needs(postgres.reason), () => {
  let team: Team;
  beforeAll(async () => {
    team = await createTeam(postgres);
  });
  afterAll(() => team?.destroy());

  const status = async (job: string) => JSON.parse(await team.must("job", "status", job, "--json")) as Status;

  it("turns what a job writes into commits on the job's own branch, and touches nothing else", async () => {
    const job = await team.postWrites("two tides", ["high", "slack"]);
    const reads = await team.postReads("two boats");
    const said = await team.must("worker", "--once");
    expect(said).toMatch(/^worker\/.* ended; 2 jobs done\n$/);
    const steps = (await status(job)).steps;
    expect(steps.map((one) => one.code ?? one.status)).toEqual(["COMMITTED", "COMMITTED"]);
    expect((await status(reads)).state).toBe("SUCCEEDED");
    const refs = team.git(team.remote, "for-each-ref", "--format=%(refname)").split("\n");
    expect(refs).toEqual(["refs/heads/main", expect.stringMatching(`^refs/verbatim/job/[0-9a-f]{8}-${job}$`)]);
    expect(team.git(team.remote, "show", `${refs[1]}:tide.md`)).toBe("# Tide\nslack");
    expect(team.git(team.remote, "log", "--format=%an", `main..${refs[1]}`)).toBe("Verbatim\nVerbatim");
    expect(team.git(team.checkout, "status", "--porcelain", "tide.md")).toBe("");
    expect(await expectTeamInOrder(team, [job, reads])).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(await team.must("job", "run", job)).toContain("SUCCEEDED");
  });

  it("refuses a patch that names another file of the commit, though its work tree has the target alone", async () => {
    const job = await team.postPatch("outside", "boats.md", "@@ -1,2 +1,2 @@\n # Boats\n-three\n+four\n");
    await team.must("worker", "--once");
    const { state, steps } = await status(job);
    expect([state, steps[0]!.code]).toEqual(["FAILED", "WRITE_OUTSIDE_TARGET"]);
  });

  it("leaves a branch alone that somebody else moved: EFFECT_REF_MOVED", async () => {
    const job = await team.postWrites("moved", ["ebb"]);
    const [row] = await team.sql(
      "select left(id::text, 8) as id from verbatim.incarnation order by number desc limit 1",
    );
    const ref = `refs/verbatim/job/${String(row!["id"])}-${job}`;
    const theirs = team.git(team.remote, "rev-parse", "main");
    team.git(team.remote, "update-ref", ref, theirs);
    await team.must("worker", "--once");
    const { state, steps } = await status(job);
    expect([state, steps[0]!.code]).toEqual(["FAILED", "EFFECT_REF_MOVED"]);
    expect(team.git(team.remote, "rev-parse", ref)).toBe(theirs);
    team.git(team.remote, "update-ref", "-d", ref);
  });

  it("finds a place that was sealed and never fills it again: EFFECT_SEALED", async () => {
    const job = await team.postWrites("sealed", ["rip"]);
    const [row] = await team.sql(
      `select s.step_id, j.plan_hash, (select time from verbatim.ledger_entry where stream = 'job/' || j.job_id and kind = 'PLAN') as time,
         (select left(id::text, 8) from verbatim.incarnation order by number desc limit 1) as incarnation
       from verbatim.jobs_job j join verbatim.jobs_step s on s.job_id = j.job_id where j.job_id = $1`,
      job,
    );
    const { step_id: step, plan_hash: plan, time, incarnation } = row as Record<string, string>;
    const mirror = await Mirror.open(join(team.folder, "sealing.git"), team.remote, { allowPath: true });
    await mirror.fetch();
    const words = { time: time!, subject: "sealed", job, step: step!, plan: plan! };
    const seal = await buildSeal(mirror, team.git(team.remote, "rev-parse", "main"), words);
    // Whoever sealed it died before the receipt was written.
    const ref = `refs/verbatim/job/${incarnation!}-${job}`;
    expect(await mirror.push(ref, null, seal.commit)).toEqual({ moved: true });
    await team.must("worker", "--once");
    expect((await status(job)).steps[0]!.code).toBe("EFFECT_SEALED");
    expect(team.git(team.remote, "rev-parse", ref)).toBe(seal.commit);
  });

  it("refuses a clone of another repository before it takes any job: REPOSITORY_MISMATCH", async () => {
    const job = await team.postWrites("foreign", ["neap"]);
    const moved = `${team.remote}.moved`;
    renameSync(team.remote, moved);
    team.git(team.folder, "clone", "-q", "--bare", moved, join(team.folder, "unrelated"));
    const other = join(team.folder, "other");
    team.git(team.folder, "init", "-q", "-b", "main", other);
    team.git(
      other,
      "-c",
      "user.name=Ben",
      "-c",
      "user.email=ben@example.org",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    );
    team.git(team.folder, "clone", "-q", "--bare", other, team.remote);
    const before = await team.sql("select * from verbatim.jobs_step order by job_id, ordinal");
    const env = { ...team.env, XDG_STATE_HOME: join(team.folder, "elsewhere") };
    const refused = await runHere(["worker", "--once"], { cwd: team.checkout, env });
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("REPOSITORY_MISMATCH")]);
    expect(await team.sql("select * from verbatim.jobs_step order by job_id, ordinal")).toEqual(before);
    rmSync(team.remote, { recursive: true });
    renameSync(moved, team.remote);
    await team.must("worker", "--once");
    expect((await status(job)).state).toBe("SUCCEEDED");
  });

  it("has nothing to do with a checkout of something else, which can neither post nor make the index: REPOSITORY_MISMATCH", async () => {
    const stranger = join(team.folder, "stranger");
    team.git(team.folder, "init", "-q", "-b", "main", stranger);
    writeFileSync(join(stranger, "boats.md"), "# Boats\nnone\n");
    const index = "select index_hash from verbatim.context_fact";
    const before = await team.sql(index);
    const message = join(team.folder, "two tides.json");
    for (const words of [
      ["index", "build"],
      ["job", "post", message],
      ["symbol", "add", "@STRANGE/BOATS", "--file", "boats.md", "--slice", "head(1)"],
    ]) {
      const refused = await runHere(words, { cwd: stranger, env: team.env });
      expect([words, refused.exit, refused.stderr]).toEqual([words, 2, expect.stringContaining("REPOSITORY_MISMATCH")]);
    }
    expect(await team.sql(index)).toEqual(before);
  });

  it("finds every open job again when the queue lost all its rows", async () => {
    const job = await team.postReads("lost in the fog");
    await team.sql("delete from verbatim_queue.job");
    expect(await team.must("job", "retry", job)).toBe(`sent ${job} again\n`);
    expect(await team.must("job", "retry", job)).toContain("is on its way already");
    await team.sql("delete from verbatim_queue.job");
    await team.must("worker", "--once");
    expect((await status(job)).state).toBe("SUCCEEDED");
    expect((await team.verbatim("job", "retry", job)).stderr).toContain("JOB_OVER");
  });

  it("whose attempt is not the newest writes nothing, whatever it did meanwhile: OWNER_LOST", async () => {
    const job = await team.postWrites("stale", ["spring"]);
    const composition = composeAlone({
      surface: "library",
      start: team.checkout,
      env: team.env,
      platform: process.platform,
    });
    try {
      const store = await composition.store("mutate");
      const [row] = await team.sql("select queue from verbatim.job_dispatch where job_id = $1", job);
      const item = (await store.dispatch!.next([String(row!["queue"])], AbortSignal.timeout(10_000)))!;
      expect(item.job_id).toBe(job);
      const entries = "select count(*)::int as n from verbatim.ledger_entry";
      const before = await team.sql(entries);
      // Another attempt was begun meanwhile, as after a heartbeat that did not come.
      await team.sql("update verbatim_queue.job set retry_count = retry_count + 1 where id = $1", item.id);
      const content = await composition.content("mutate");
      const ports = { store, content, pauses: createPauses(), patch: null, execute: null, effects: null };
      const options = { name: "worker/late", stop: new AbortController().signal, graceMs: 0 };
      expect(await ownJob(ports, item, options)).toBe("LOST");
      expect(await team.sql(entries)).toEqual(before);
      expect((await status(job)).steps.map((one) => one.status)).toEqual(["PENDING"]);
    } finally {
      await composition.close();
    }
    expect((await status(job)).state).toBe("PENDING");
    await team.must("job", "cancel", job);
    expect((await status(job)).steps[0]!.code).toBe("JOB_CANCELLED");
  });

  it("is how a team's jobs are run: what would run them here says so", async () => {
    const refused = await team.verbatim("job", "worker", "--once");
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("USE_WORKER")]);
    const other = await team.verbatim("repository", "add", "harbour", "--remote", `${team.remote}/../remote.git`);
    expect(other.stderr).toContain("REPOSITORY_EXISTS");
    const message = await team.verbatim("job", "post", join(team.folder, "two tides.json"), "--repository", "pier");
    expect(message.stderr).toContain("REPOSITORY_UNKNOWN");
    const gone = ["job", "post", join(team.folder, "two tides.json"), "--at", "0".repeat(40)];
    expect((await team.verbatim(...gone)).stderr).toContain("EFFECT_BASE_GONE");
    const listed = await team.must("repository", "list");
    expect(listed).toBe(`harbour  main of ${team.remote}\n`);
  });
});
