import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AppStore, openStore } from "../../src/app/compose/store/store.ts";
import type { JsonValue } from "../../src/core/canonical/index.ts";
import { type AgentRunsReader, type AgentRunsWanted, appendToRun, catchUp } from "../../src/rooms/workflow/index.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";

// Guards: the table of agent runs says what the ledger says, in both databases, and can be made again from it alone.

const postgres = await usePostgres();
const REPO = "1".repeat(32);
const OTHER = "2".repeat(32);

function started(goal: string, created_at: string, id = REPO): JsonValue {
  const repo = { id, root: `/home/mira/${id.slice(0, 1)}`, common_dir: null };
  const run_dir = `/runs/${goal.slice(0, 4)}`;
  return { state: "preparing", reason: null, goal, argv: [`/usr/bin/${goal}`, "-v"], created_at, run_dir, repo };
}

const stand = (state: string, reason: string | null = null) => ({ state, reason });

/** What happened, run by run; the last one is not of an agent. */
const STORY: readonly (readonly [run: string, kind: string, body: JsonValue])[] = [
  ["20261116-100000-aaaaaa", "AGENT_STARTED", started("lamp", "2026-11-16T10:00:00.000Z")],
  ["20261116-100000-aaaaaa", "AGENT_ATTEMPT_STARTED", { ...stand("working"), n: 1 }],
  ["20261116-110000-bbbbbb", "AGENT_STARTED", started("boat \u0000", "2026-11-16T11:00:00.000Z")],
  [
    "20261116-100000-aaaaaa",
    "AGENT_CAPTURED",
    { ...stand("judging"), candidate: { files: 2, added: 7, deleted: 3, c: 1 } },
  ],
  ["20261116-110000-bbbbbb", "AGENT_CAPTURED", { ...stand("unchanged"), candidate: null }],
  ["20261116-100000-aaaaaa", "AGENT_GATED", { ...stand("verifying"), candidate: "f".repeat(64) }],
  ["20261116-100000-aaaaaa", "AGENT_VERIFIED", stand("verified")],
  ["20261116-100000-cccccc", "AGENT_STARTED", started("rope", "2026-11-16T10:00:00.000Z")],
  ["20261116-100000-cccccc", "AGENT_GATED", stand("rejected", "rope.yml is protected")],
  ["20261116-120000-dddddd", "AGENT_STARTED", started("far", "2026-11-16T12:00:00.000Z", OTHER)],
  [
    "20261116-100000-aaaaaa",
    "AGENT_LANDED",
    { ...stand("applied"), candidate: "f".repeat(64), files: 1, added: 5, deleted: 3 },
  ],
  ["20261116-100000-aaaaaa", "WORKFLOW_EVENT", { event: "RUN_PASSED" }],
  ["20261116-110000-bbbbbb", "WORKFLOW_EVENT", { event: "RUN_ABORTED" }],
  ["20261116-100000-cccccc", "WORKFLOW_EVENT", { event: "RUN_ABORTED" }],
  ["20261116-100000-cccccc", "HOOK_REPORTED", { said: "AGENT_LANDED", state: "applied", reason: null }],
  ["20261116-130000-eeeeee", "WORKFLOW_EVENT", { event: "RUN_PASSED" }],
];

describe.each(["SQLite", "PostgreSQL"])("agent runs in %s", (kind) => {
  let folder: string;
  let database: TestDatabase | null = null;
  let store: AppStore;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "verbatim-agent-runs-"));
    if (kind === "PostgreSQL" && postgres.reason === null) database = await postgres.createDatabase();
    store = await openStore({ ...fixedPorts(), path: join(folder, "store.db"), url: database?.url });
    for (const [run, kindOf, body] of STORY) {
      await appendToRun(store, run, [{ kind: kindOf, actor: "cli", body }]);
    }
  });

  afterAll(async () => {
    await store.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const list = () => store.read(({ agents }) => agents.ofRepository(REPO));

  it("are listed newest first, each as its last entry left it, and no other repository's", async ({ skip }) => {
    if (kind === "PostgreSQL" && postgres.reason !== null) skip(postgres.reason);
    const rows = await list();
    expect(rows.map(({ run_id, state, reason, goal }) => [run_id, state, reason, goal])).toEqual([
      ["20261116-110000-bbbbbb", "unchanged", null, "boat \ufffd"],
      ["20261116-100000-cccccc", "discarded", "thrown away before it was applied", "rope"],
      ["20261116-100000-aaaaaa", "applied", null, "lamp"],
    ]);
    expect(rows[2]).toMatchObject({ files: 1, added_lines: 5, deleted_lines: 3, run_dir: "/runs/lamp" });
    // The program by its own name, and the end of the work: what happened to it afterwards is no longer its work.
    expect(rows.map(({ agent }) => agent)).toEqual(["boat \ufffd", "rope", "lamp"]);
    for (const { ended_at, updated_at, state } of rows) {
      expect(ended_at, state).not.toBeNull();
      expect(ended_at! <= updated_at, state).toBe(true);
    }
    const far = await store.read(({ agents }) => agents.ofRepository(OTHER));
    expect(far.map(({ state, ended_at }) => [state, ended_at])).toEqual([["preparing", null]]);
  });

  it("are read in pages and counted by where they stand, where and since when they were recorded", async ({ skip }) => {
    if (kind === "PostgreSQL" && postgres.reason !== null) skip(postgres.reason);
    const [rows, own] = [await list(), { repoId: REPO, roots: ["/home/mira/1", "/elsewhere"] }];
    const ended = { ...own, states: ["unchanged", "discarded", "applied"] };
    const page = async (...how: Parameters<AgentRunsReader["page"]>) =>
      (await store.read(({ agents }) => agents.page(...how))).map(({ run_id }) => run_id.slice(-6));
    const count = (wanted: AgentRunsWanted) => store.read(({ agents }) => agents.count(wanted));
    expect(await store.read(({ agents }) => agents.page(ended, "newest", 9))).toEqual(rows);
    expect(await page(ended, "newest", 2)).toEqual(["bbbbbb", "cccccc"]);
    // Two began at the same time: the place between them is told by the id.
    expect(await page(ended, "newest", 2, rows[1])).toEqual(["aaaaaa"]);
    expect(await page(ended, "oldest", 1, rows[2])).toEqual(["cccccc"]);
    expect(await page(ended, "oldest", 9)).toEqual(["aaaaaa", "cccccc", "bbbbbb"]);
    expect(await page({ ...ended, since: "2026-11-16T11:00:00.000Z" }, "newest", 9)).toEqual(["bbbbbb"]);
    expect(await page({ ...own, states: ["applied"], others: true }, "newest", 9)).toEqual(["bbbbbb", "cccccc"]);
    expect(await count(ended)).toBe(3);
    expect(await count({ ...ended, since: "2026-11-16T10:30:00.000Z" })).toBe(1);
    for (const nothing of [
      { ...ended, states: [] },
      { ...ended, roots: [] },
      { ...ended, repoId: "3".repeat(32) },
    ]) {
      expect([await page(nothing, "newest", 9), await count(nothing)]).toEqual([[], 0]);
    }
    const all = new Set(rows.map(({ run_id }) => run_id));
    for (const roots of [null, ["/home/mira/1"]]) {
      expect(new Set(await store.read(({ agents }) => agents.idsOf(REPO, roots)))).toEqual(all);
    }
    for (const roots of [[], ["/elsewhere"]]) {
      expect(await store.read(({ agents }) => agents.idsOf(REPO, roots))).toEqual([]);
    }
    const standing = await store.read(({ agents }) => agents.standing(REPO));
    expect(standing).toHaveLength(3);
    expect(standing).toContainEqual({ root: "/home/mira/1", state: "applied", n: 1 });
  });

  it("are made again from the ledger alone, the same in every column", async ({ skip }) => {
    if (kind === "PostgreSQL" && postgres.reason !== null) skip(postgres.reason);
    const before = await list();
    // Whatever another stream says, it is not about a run.
    const strange = { kind: "AGENT_STARTED", actor: "cli", body: started("fake", "2026-11-16T14:00:00.000Z") } as const;
    await store.transact(({ ledger }) => ledger.append("elsewhere/20261116-140000-ffffff", "next", [strange]));
    await store.transact(({ agents }) => agents.begin(0));
    expect(await list()).toEqual([]);
    await catchUp(store);
    expect(await list()).toEqual(before);
    // Rows made by today's rules are left alone.
    await store.transact(({ agents }) => agents.put({ ...before[0]!, goal: "changed by hand" }));
    await catchUp(store);
    expect((await list())[0]?.goal).toBe("changed by hand");
  });
});
