// Guards: the first screen of the Studio in one answer, what is found by name, and the long looks at ledger and machine.
import { describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { serveRepo } from "../support/agent-server.ts";

describe("the first screen", () => {
  it("says what needs somebody, what is there, how healthy it is, and what to do next", async () => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "dark\n");
    repo.write("package.json", '{"scripts": {"test": "true"}}\n');
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const server = await serveRepo(repo);
    const empty = await server.call("studio.home", {});
    expect(empty).toMatchObject({
      needs_you: { total: 0, runs: [] },
      runs: 0,
      at_work: [],
      worlds: [],
      health: { ledger: { entries: 0, verified: null }, doctor: { checked_at: null, lines: [] } },
      next: { code: "NO_VERIFY_COMMAND", found: "npm test" },
    });

    const refused = await repo.agent(["--verify", "false", "--no-baseline"], ["sh", "-c", "echo 1 > lamp.txt"]);
    const ready = await repo.agent(["--verify", "true", "--goal", "light the lamp"], ["sh", "-c", "echo 2 > lamp.txt"]);
    await repo.agent(["--verify", "true"], ["true"]);
    await server.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC" });
    await server.call("world.say", { world: "w_harbour", text: "The lamp is on." });
    const home = await server.call("studio.home", {});
    expect(home.needs_you.runs.map(({ run_id, outcome }) => [run_id, outcome])).toEqual([
      [ready.summary.run_id, "verified"],
      [refused.summary.run_id, "verify_failed"],
    ]);
    expect(home.runs).toBe(3);
    expect(home.needs_you.runs[1]!.reason).toContain("false ended with exit code 1");
    expect(home.worlds).toMatchObject([
      {
        world_id: "w_harbour",
        title: "Harbour",
        last_line: { text: "The lamp is on.", at: expect.stringMatching(/Z$/) },
      },
    ]);

    const { total } = await server.call("ledger.show", { limit: 1 });
    const verified = await server.task("ledger.verify", {}, "v");
    expect(verified).toMatchObject({ state: "done", output: { ok: true, entries: total } });
    const { checks } = await server.call("hall.doctor", {});
    const after = await server.call("studio.home", {});
    expect(after.health.ledger).toEqual({
      entries: total,
      // Everything was written now; at midnight it may have been yesterday.
      days: expect.arrayContaining([0]),
      verified: { at: expect.any(String), ok: true, entries: total, problems: 0 },
    });
    const { days } = after.health.ledger;
    expect(days).toHaveLength(30);
    expect(days.slice(0, 28).every((n) => n === 0)).toBe(true);
    expect(days[28]! + days[29]!).toBe(total);
    expect(after.health.doctor.checked_at).not.toBeNull();
    expect(after.health.doctor.lines).toEqual(checks.filter(({ status }) => status !== "ok"));
    // Words for a page: nothing to type.
    expect(JSON.stringify(checks)).not.toMatch(/verbatim [a-z]|--[a-z]/);
    for (const field of ["checkpoint", "trust"]) {
      expect((await server.refusal("ledger.verify", { [field]: "x.json" }))[1]).toBe("LOCAL_ONLY");
    }

    const find = async (q: string) =>
      (await server.call("studio.find", { q })).items.map(({ kind, route }) => [kind, route]);
    const { entries } = await server.call("ledger.show", { from: 1, limit: 1 });
    expect(await find("LIGHT the")).toEqual([["run", `/runs/${ready.summary.run_id}`]]);
    expect(await find(ready.summary.run_id.slice(-6))).toEqual([["run", `/runs/${ready.summary.run_id}`]]);
    expect(await find("harb")).toEqual([["world", "/worlds/w_harbour"]]);
    expect(await find(entries[0]!.hash)).toEqual([["entry", `/ledger/hash/${entries[0]!.hash}`]]);
    expect((await find("1"))[0]).toEqual(["entry", "/ledger/1"]);
    expect(await find(`${total}0000000`)).toEqual([]);
    expect(await find("  ")).toEqual([]);
    // Looking wrote nothing down.
    expect((await server.call("ledger.show", { limit: 1 })).total).toBe(total);
  });
});
