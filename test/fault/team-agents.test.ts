// Guards: an agent run that is asked of a team's workers happens there, is read, applied and landed from another checkout of
// the same remote, and reaches neither the database nor anything that the worker did not give it.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { zipper } from "../../src/adapters/disk/bundles/zip.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { createTeam, type Team } from "../support/team.ts";

const postgres = await usePostgres();

describe("agent runs of a team", needs(postgres.reason), () => {
  let team: Team;
  let other: string;
  const there = (...args: string[]) => runHere(args, { cwd: other, env: team.env });
  const mustThere = async (...args: string[]) => {
    const said = await there(...args);
    if (said.exit !== 0) throw new Error(`${args.join(" ")}: ${said.stdout}${said.stderr}`);
    return said.stdout;
  };
  const queue = async (goal: string, script: string, ...flags: string[]) => {
    const args = ["agent", "--queue", "--goal", goal, "--json", ...flags, "--", "sh", "-c", script];
    return (JSON.parse(await team.must(...args)) as { run_id: string }).run_id;
  };
  const catchUp = () => {
    team.git(team.checkout, "fetch", "-q");
    team.git(team.checkout, "reset", "-q", "--hard", "origin/main");
  };
  const work = () => team.verbatim("worker", "--once", "--kinds", "agent", "--kinds", "land");
  /** A worker that comes before what was asked for is in the queue ends with nothing done, so another one comes. */
  const workUntil = async <T>(asked: Promise<T>): Promise<T> => {
    let isAnswered = false;
    void asked.finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) await work();
    return await asked;
  };

  beforeAll(async () => {
    team = await createTeam(postgres);
    other = join(team.folder, "other");
    team.git(team.folder, "clone", "-q", team.remote, other);
  }, 300_000);
  afterAll(() => team?.destroy());

  it("happen on a worker, and are shown, applied and landed from another clone", async () => {
    const run = await queue("raise the tide", "echo high >> tide.md; env", "--verify", "grep -q high tide.md");
    expect((await there("agent", "show", run)).stderr).toContain("RUN_QUEUED");
    const worked = await work();
    expect([worked.stdout, worked.stderr, worked.exit]).toEqual([
      expect.stringContaining("1 job done"),
      expect.anything(),
      0,
    ]);
    expect(await mustThere("agent", "wait", run)).toContain("verified");
    const ref = team.git(team.remote, "for-each-ref", "--format=%(refname)", "refs/verbatim/agent");
    expect(ref).toMatch(new RegExp(`^refs/verbatim/agent/[0-9a-f]{8}-${run}$`));
    expect(team.git(team.remote, "show", `${ref}:tide.md`)).toBe("# Tide\nlow\nhigh");
    expect(await mustThere("agent", "show", run)).toContain("raise the tide");
    expect(await mustThere("agent", "show", run, "--diff")).toContain("+high");
    const printed = await mustThere("agent", "logs", run);
    expect(printed).not.toContain("VERBATIM_DATABASE_URL");
    expect(printed).not.toContain(team.url);
    await mustThere("agent", "apply", run, "--yes");
    expect(readFileSync(join(other, "tide.md"), "utf8")).toBe("# Tide\nlow\nhigh\n");
    expect(readFileSync(join(team.checkout, "tide.md"), "utf8")).toBe("# Tide\nlow\n");
    const landing = team.verbatim("agent", "land", run.slice(-6), "--onto", "main");
    expect(await workUntil(landing)).toMatchObject({ exit: 0, stdout: expect.stringContaining("landed") });
    expect(team.git(team.remote, "show", "main:tide.md")).toBe("# Tide\nlow\nhigh");
    expect(await team.must("agent", "queued")).toContain("raise the tide");
  });

  it("land on a branch that moved on only when they pass there, and a discarded one leaves no branch", async () => {
    catchUp();
    const first = await queue("a fourth boat", "echo four >> boats.md", "--verify", "grep -q three boats.md");
    const second = await queue("no boat", "echo none > boats.md", "--no-verify");
    const both = await work();
    expect([both.stdout, both.stderr]).toEqual([expect.stringContaining("2 jobs done"), expect.anything()]);
    // Somebody else changed another file meanwhile.
    writeFileSync(join(team.checkout, "bell.md"), "# Bell\n");
    team.push();
    const landing = team.verbatim("agent", "land", first, "--onto", "main");
    expect(await workUntil(landing)).toMatchObject({ exit: 0 });
    const files = ["boats.md", "bell.md"].map((file) => team.git(team.remote, "show", `main:${file}`));
    expect(files).toEqual(["# Boats\nthree\nfour", "# Bell"]);
    expect(team.git(team.remote, "log", "--format=%(trailers:key=Verbatim-Subject,valueonly)", "-1", "main")).toContain(
      first,
    );
    // The other one changed the same line.
    const refused = team.verbatim("agent", "land", second, "--onto", "main", "--json");
    expect(await workUntil(refused)).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining('"code":"LAND_CONFLICT"'),
    });
    const missing = team.verbatim("agent", "land", second, "--onto", "nowhere", "--json");
    expect(await workUntil(missing)).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining('"code":"BRANCH_UNKNOWN"'),
    });
    const late = await team.verbatim("agent", "land", second, "--onto", "main", "--timeout", "1ms");
    expect([late.exit, late.stdout]).toEqual([4, expect.stringContaining("--kinds land")]);
    team.git(other, "fetch", "-q");
    await mustThere("agent", "discard", second);
    await work();
    const left = team.git(team.remote, "for-each-ref", "--format=%(refname)", "refs/verbatim/agent");
    expect(left).not.toContain(second);
    const kinds = await team.sql("select kind from verbatim.ledger_entry where stream = 'audit' order by position");
    const said = kinds.map(({ kind }) => kind);
    expect(said.filter((kind) => kind === "LANDED")).toHaveLength(2);
    expect(said.filter((kind) => kind === "BRANCH_REMOVED")).toHaveLength(1);
  });

  it("begin from what was pushed, in a checkout of that repository, and get nothing besides", async () => {
    const ask = (...flags: string[]) =>
      team.verbatim("agent", "queue", "--goal", "x", "--no-verify", ...flags, "--", "true");
    for (const flags of [
      ["--env", "SECRET"],
      ["--keep", "/etc"],
      ["--unmask", ".env"],
      ["--network", "inherit"],
      ["--host", "x.example"],
      ["--permit", ".github"],
    ]) {
      expect([flags, (await ask(...flags)).exit]).toEqual([flags, 2]);
    }
    writeFileSync(join(team.checkout, "tide.md"), "# Tide\nspring\n");
    expect((await ask()).stderr).toContain("TREE_DIRTY");
    team.git(team.checkout, "-c", "user.name=M", "-c", "user.email=m@example.org", "commit", "-qam", "not pushed");
    expect((await ask()).stderr).toContain("BASE_NOT_PUSHED");
    catchUp();
    const foreign = join(team.folder, "foreign");
    team.git(team.folder, "init", "-q", foreign);
    const there = await runHere(["agent", "queue", "--goal", "x", "--no-verify", "--", "true"], {
      cwd: foreign,
      env: team.env,
    });
    expect([there.exit, there.stderr]).toEqual([2, expect.stringContaining("REPOSITORY_MISMATCH")]);
  });

  it("whose workers were lost are lost after as many starts as were allowed, and land nowhere", async () => {
    const run = await queue("sink", "true", "--no-verify", "--tries", "1");
    const [place] = await team.sql("select id::text as id from verbatim.workspace");
    const lost = "insert into verbatim.agent_start (run_id, n, worker, workspace_id) values ($1, 1, 'worker/gone', $2)";
    await team.sql(lost, run, place!["id"]);
    await work();
    expect((await team.verbatim("agent", "wait", run)).stderr).toContain("AGENT_LOST");
    const wrong = await queue("sink", "true", "--verify", "! false");
    await work();
    expect((await team.verbatim("agent", "show", wrong)).stderr).toMatch(/AGENT_NOT_STARTED\] VERIFY_NEEDS_SHELL/);
    expect((await team.verbatim("agent", "land", run, "--onto", "main")).stderr).toContain("NOTHING_TO_LAND");
    expect(await team.must("agent", "queued")).toMatch(/lost .*sink/);
  });

  it("are brought only where they began, and only as they were packed", async () => {
    const old = join(team.folder, "old");
    team.git(team.folder, "clone", "-q", team.remote, old);
    catchUp();
    writeFileSync(join(team.checkout, "bell.md"), "# Bell\nloud\n");
    team.push();
    const run = await queue("a bell", "echo soft >> bell.md", "--no-verify");
    await work();
    const missing = await runHere(["agent", "show", run], { cwd: old, env: team.env });
    expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining("RUN_BASE_MISSING")]);
    const [row] = await team.sql("select package from verbatim.agent_result where run_id = $1", run);
    const bad = zipper.pack([{ name: "run/../../x", bytes: new Uint8Array() }]);
    const sha256 = createHash("sha256").update(bad).digest("hex");
    expect(row!["package"]).toMatch(/^[0-9a-f]{64}$/);
    await team.sql("alter table verbatim.agent_result disable trigger all");
    await team.sql(
      "insert into verbatim.content (hash, bytes, stored_ms, workspace_id) select $1, $2, 0, id from verbatim.workspace",
      sha256,
      Buffer.from(bad),
    );
    await team.sql("update verbatim.agent_result set package = $1 where run_id = $2", sha256, run);
    const damaged = await team.verbatim("agent", "show", run);
    expect([damaged.exit, damaged.stderr]).toEqual([3, expect.stringContaining("PACKAGE_INVALID")]);
  });

  it("share their way into a branch with jobs: what does not fit is refused, and what fits is one merge", async () => {
    const { stdout } = await team.verbatim("symbol", "list");
    expect(stdout).toContain("@HARBOUR/TIDE");
    catchUp();
    const text = readFileSync(join(team.checkout, "tide.md"), "utf8");
    expect(text).toBe("# Tide\nlow\nhigh\n");
    const job = await team.postPatch("calm", "tide.md", "@@ -1,3 +1,3 @@\n # Tide\n-low\n+calm\n high\n");
    const clash = await team.postPatch("wild", "tide.md", "@@ -1,3 +1,3 @@\n # Tide\n-low\n+wild\n high\n");
    expect((await team.verbatim("job", "land", job, "--onto", "main")).stderr).toContain("NOTHING_TO_LAND");
    await team.must("worker", "--once");
    const landing = team.verbatim("job", "land", job, "--onto", "main");
    expect(await workUntil(landing)).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining(`landed ${job} on main`),
    });
    expect(team.git(team.remote, "show", "main:tide.md")).toBe("# Tide\ncalm\nhigh");
    const refused = team.verbatim("job", "land", clash, "--onto", "main", "--json");
    expect(await workUntil(refused)).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining('"code":"LAND_BRANCH_CONFLICT"'),
    });
    // The same again is the same commit: nothing is merged twice.
    const tip = team.git(team.remote, "rev-parse", "main");
    const again = team.verbatim("job", "land", job, "--onto", "main");
    expect((await workUntil(again)).exit).toBe(0);
    expect(team.git(team.remote, "rev-parse", "main")).toBe(tip);
  });
});
