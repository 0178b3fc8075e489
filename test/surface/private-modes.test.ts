// Guards: what the tool keeps about somebody's work is readable by its owner only, whatever the umask.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("notes/rules.md", "# Rules\nBe kind.\n");
  repo.write("verbatim.config.json", '{"context":{"sources":["notes/**/*.md"]}}');
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** Runs the built program with a umask that takes nothing away. */
function openly({ root, env }: AgentRepo, ...args: string[]): void {
  const words = ["-c", 'umask 000; exec "$@"', "sh", process.execPath, BIN, ...args];
  const { status, stderr } = spawnSync("sh", words, { cwd: root, env, encoding: "utf8" });
  expect([args[0], status, stderr.includes("error[")]).toEqual([args[0], 0, false]);
}

/** Everything below a place that others have any right to. What git wrote, and a checkout, have modes of their own. */
function findWide(place: string, but: readonly string[] = []): string[] {
  if (!existsSync(place)) return [];
  const facts = lstatSync(place);
  const own =
    !facts.isSymbolicLink() && (facts.mode & 0o077) !== 0 ? [`${place} ${(facts.mode & 0o777).toString(8)}`] : [];
  if (!facts.isDirectory()) return own;
  const names = readdirSync(place).filter((name) => !but.includes(name));
  return [...own, ...names.flatMap((name) => findWide(join(place, name), but))];
}

describe("what is kept", () => {
  it("is private from its creation under a umask of 000, and what the user gets is not", () => {
    const repo = makeSample();
    const state = join(repo.root, ".verbatim");
    openly(repo, "index", "build");
    openly(repo, "world", "new", "Harbour", "--timezone", "UTC");
    openly(repo, "agent", "--goal", "light", "--no-verify", "--apply", "auto", "--", "sh", "-c", "echo on > lamp.txt");
    openly(repo, "keys", "new", "ci");
    expect(readdirSync(join(state, "runs")).length).toBeGreaterThan(0);
    expect(findWide(state)).toEqual([]);
    const user = join(repo.base, "state", "verbatim");
    expect(readdirSync(join(user, "runs"))).toHaveLength(1);
    expect(findWide(user, ["objects"])).toEqual([]);
    expect(findWide(join(repo.base, "home", ".config", "verbatim", "keys"), ["ci.pub"])).toEqual([]);
  });

  it("keeps the side files of the store as private as the store while it is open", async () => {
    const repo = makeSample();
    await using app = openApp({ surface: "cli", start: repo.root, env: repo.env, platform: process.platform });
    await app.call("world.new", { title: "Harbour", timezone: "UTC" });
    const state = join(repo.root, ".verbatim", "state");
    expect(readdirSync(state)).toEqual(expect.arrayContaining(["store.db", "store.db-shm", "store.db-wal"]));
    expect(findWide(state)).toEqual([]);
  });

  it("is closed in a workspace of an earlier version; outputs and domains keep their modes", async () => {
    const repo = makeSample();
    expect((await repo.agent(["--no-verify"], ["sh", "-c", "echo on > lamp.txt"])).exit).toBe(0);
    const state = join(repo.root, ".verbatim");
    for (const name of ["out", "scratch"]) {
      mkdirSync(join(state, name));
      writeFileSync(join(state, name, "report.txt"), "for everybody\n");
    }
    const widen = spawnSync("chmod", ["-R", "a+rX", state]);
    expect(widen.status).toBe(0);
    chmodSync(join(state, "out", "report.txt"), 0o640);

    const told = JSON.parse((await repo.verbatim("doctor", "--json")).stdout) as {
      readonly checks: readonly { readonly name: string; readonly status: string; readonly message: string }[];
    };
    const check = told.checks.find(({ name }) => name === "private");
    expect([check?.status, check?.message]).toEqual([
      "warn",
      expect.stringContaining(join(state, "state", "store.db")),
    ]);

    expect((await repo.verbatim("ledger", "verify")).exit).toBe(0);
    expect(findWide(state, ["out", "scratch"])).toEqual([]);
    const modeOf = (...path: string[]) => (lstatSync(join(state, ...path)).mode & 0o777).toString(8);
    expect([modeOf("out"), modeOf("out", "report.txt"), modeOf("scratch", "report.txt")]).toEqual([
      "755",
      "640",
      "644",
    ]);

    const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", "echo dim > lamp.txt"]);
    expect([summary.outcome, summary.proof.concurrent_changes]).toEqual(["unverified", []]);
    const run = readdirSync(join(state, "runs"))[0]!;
    expect((await repo.verbatim("catalytic", "verify", run)).exit).toBe(0);
  });
});
