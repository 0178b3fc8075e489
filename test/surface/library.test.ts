import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCatalytic } from "../../src/catalytic.ts";
import { openContext } from "../../src/context.ts";
import { openWorkspace } from "../../src/index.ts";
import { openJobs } from "../../src/jobs.ts";
import { openWorld } from "../../src/world.ts";

// Guards: a program can open any folder. There is no configuration, no repository and no store here.

let base: string;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "verbatim-library-"));
  folder = mkdtempSync(join(base, "anywhere-"));
  env = { PATH: process.env["PATH"], HOME: join(base, "home") };
});
afterEach(() => rmSync(base, { recursive: true }));

describe("a workspace without configuration", () => {
  it("answers what there is, in every room, and creates nothing", async () => {
    const workspace = openWorkspace(folder, { env });
    expect(await workspace.jobs.list({})).toEqual({ jobs: [], more: false });
    expect(await workspace.world.list({})).toEqual({ worlds: [], next: null });
    expect(await workspace.agent.list({})).toMatchObject({ runs: [], total: 0 });
    expect(await workspace.workflow.list({})).toEqual({ runs: [] });
    expect(await workspace.catalytic.list({})).toEqual({ runs: [] });
    expect(await workspace.ledger.verify({})).toMatchObject({ ok: true, entries: 0 });
    expect((await workspace.contract.list({})).objects.length).toBeGreaterThan(20);
    await workspace.close();
    expect(readdirSync(folder)).toEqual([]);
    expect(readdirSync(base)).toHaveLength(1);
  });

  it("creates its folder with the first thing that must be written, and finds it again", async () => {
    const first = openWorkspace(folder, { env });
    await first.world.new({ title: "Harbour", world_id: "w_harbour" });
    await first.close();
    expect(readdirSync(folder)).toEqual([".verbatim"]);
    const second = openWorkspace(folder, { env });
    expect((await second.call("world.list", {})).worlds).toMatchObject([{ world_id: "w_harbour" }]);
    await second.close();
  });

  it("says by its code what it cannot do without a repository", async () => {
    const workspace = openWorkspace(folder, { env });
    const run = workspace.agent.run({ goal: "nothing", command: ["true"], no_verify: true });
    await expect(run).rejects.toMatchObject({ code: "REPO_NOT_GIT" });
    await workspace.close();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("whatever a program opens", () => {
  it("can be closed by name, without the syntax of newer languages", async () => {
    const workspace = openWorkspace(folder, { env });
    await workspace.world.new({ title: "Harbour", world_id: "w_harbour" });
    const world = openWorld("w_harbour", { start: folder, env });
    expect((await world.verify()).ok).toBe(true);
    const opened = [
      workspace,
      world,
      openContext(folder, { env }),
      openJobs(folder, { env }),
      openCatalytic(folder, env),
    ];
    for (const one of opened) {
      expect(one[Symbol.asyncDispose]).toBe(one.close);
      expect(await one.close()).toBeUndefined();
    }
  });
});
