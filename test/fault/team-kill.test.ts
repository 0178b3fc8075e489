import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChild, type ChildProgram, type RunningChild } from "../support/child.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { createTeam, type Team } from "../support/team.ts";
import { expectTeamInOrder } from "../support/team-oracle.ts";

const postgres = await usePostgres();
const POINTS = ["before-intent", "before-push", "after-push", "after-look"] as const;
const WORKERS = 3;
const END_MS = 150_000;

describe("killing the workers of a team", needs(postgres.reason), () => {
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

  it("before and after the intent, the push and the receipt makes every effect once and loses none", {
    timeout: END_MS + 30_000,
  }, async () => {
    const jobs: string[] = [];
    for (let i = 0; i < 5; i++) jobs.push(await team.postWrites(`tides ${i}`, [`high ${i}`, `slack ${i}`]));
    jobs.push(await team.postReads("boats"));
    let kills = 0;
    const plans = [...POINTS, "before-push 2"].toReversed();
    let isOver = false;
    const start = () => {
      const [point = "never", nth = "1"] = plans.pop()?.split(" ") ?? [];
      const child = program.start([team.checkout, point, nth], { env: team.env });
      running.add(child);
      void child.ended.then(({ signal }) => {
        running.delete(child);
        if (signal === "SIGKILL") kills++;
        if (!isOver) start();
      });
    };
    for (let i = 0; i < WORKERS; i++) start();
    const open = "select count(*)::int as n from verbatim.jobs_open";
    const end = performance.now() + END_MS;
    while (Number((await team.sql(open))[0]!["n"]) > 0) {
      expect(performance.now()).toBeLessThan(end);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    isOver = true;
    const rest = [...running];
    for (const child of rest) child.process.kill("SIGTERM");
    const ends = await Promise.all(rest.map(({ ended }) => ended));
    expect(ends.map(({ code, signal }) => code ?? signal)).toEqual(rest.map(() => 0));
    expect(kills).toBeGreaterThanOrEqual(4);
    expect(await expectTeamInOrder(team, jobs)).toEqual(jobs.map(() => "SUCCEEDED"));
    // The next worker removes what the killed ones left behind.
    await team.must("worker", "--once");
    const work = join(team.folder, "state", "verbatim", "team", "work");
    expect(readdirSync(work).flatMap((one) => readdirSync(join(work, one)))).toEqual([]);
  });

  it("after the intent and cancelling then seals the place of the step: a late push cannot land behind the failure", {
    timeout: 300_000,
  }, async () => {
    const job = await team.postWrites("late tide", ["late"]);
    const child = program.start([team.checkout, "before-push", "1"], { env: team.env });
    expect((await child.ended).signal).toBe("SIGKILL");
    const [intent] = await team.sql("select commit_id, ref, parent from verbatim.effect_intent where job_id = $1", job);
    const cancelling = team.must("job", "cancel", job, "--json");
    const asked = "select 1 from verbatim.job_dispatch where job_id = $1 and cancelled";
    while ((await team.sql(asked, job)).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await team.must("worker", "--once");
    const status = JSON.parse(await cancelling) as { state: string; steps: { code: string }[]; cancelled: boolean };
    expect([status.state, status.steps[0]!.code, status.cancelled]).toEqual(["FAILED", "JOB_CANCELLED", true]);
    const { commit_id, ref } = intent as { commit_id: string; ref: string };
    expect(team.git(team.remote, "log", "-1", "--format=%(trailers:key=Verbatim-Sealed,valueonly)", ref)).not.toBe("");
    // The push of the one that died, arriving now.
    const mirror = join(team.folder, "state", "verbatim", "team", "late.git");
    team.git(team.folder, "init", "-q", "--bare", mirror);
    const made = readdirSync(join(team.folder, "state", "verbatim", "team")).find((name) =>
      /^[0-9a-f-]{36}\.git$/.test(name),
    )!;
    writeFileSync(
      join(mirror, "objects", "info", "alternates"),
      `${join(team.folder, "state", "verbatim", "team", made, "objects")}\n`,
    );
    expect(() =>
      team.git(mirror, "push", "-q", `--force-with-lease=${ref}:`, team.remote, `${commit_id}:${ref}`),
    ).toThrow(/stale info/);
    const kinds = await team.sql(
      "select kind from verbatim.ledger_entry where stream = $1 order by position",
      `job/${job}`,
    );
    expect(kinds.map(({ kind }) => kind)).toEqual([
      "MESSAGE_ACCEPTED",
      "PLAN",
      "EFFECT_INTENT",
      "CANCEL_REQUESTED",
      "RECEIPT",
    ]);
  });
});
