// Guards: existence must not leak. A secret appears in nothing that is made for anybody who may not know it.
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { NOUNS } from "../../src/surfaces/cli/nouns.ts";
import { toolsFor } from "../../src/surfaces/mcp/tool-table.ts";
import { openWorld } from "../../src/world.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { runCanary } from "../support/world-canary.ts";
import { findUndrivenTools } from "../support/world-canary-mcp.ts";
import { findDriven, findUndriven } from "../support/world-canary-reads.ts";
import { findUndrivenRoutes } from "../support/world-canary-routes.ts";
import { openSurface } from "../support/world-canary-surface.ts";

const postgres = await usePostgres();

describe("the canary", () => {
  it("stays in its cage over random stories on SQLite", async () => {
    const result = await runCanary({ from: 0, count: 12 });
    expect(result.leaks).toEqual([]);
    expect(result.outputs).toBeGreaterThan(1000);
    expect(result.prompts).toBeGreaterThan(20);
  });

  it("stays in its cage over random stories on PostgreSQL", needs(postgres.reason), async () => {
    const database = await postgres.createDatabase();
    const result = await runCanary({ url: database.url, from: 10_000, count: 2 });
    await database.drop();
    expect(result.leaks).toEqual([]);
    expect(result.outputs).toBeGreaterThan(100);
  });

  it("is thought of at every operation of worlds, whether it reads or writes", () => {
    expect(findUndriven()).toEqual([]);
  });

  it("is thought of at every route of the server, and a route is open to no more than it believes", async () => {
    const app = openApp({ surface: "http", start: "/", env: {}, platform: process.platform });
    await using surface = await openSurface(app, "call");
    const { routes, registered } = surface;
    expect(findUndrivenRoutes(surface)).toEqual([]);
    expect(registered.length).toBeGreaterThan(routes.length);
    const more = (method: "get" | "post", path: string, who: "viewer" | "operator") => ({
      registered: [...registered, `${method.toUpperCase()} ${path}`],
      routes: [...routes, { method, path, who, summary: "", reads: method === "get" }],
    });
    expect(findUndrivenRoutes(more("post", "/api/worlds/:id/fork", "viewer"))).toEqual(["viewer post /:id/fork"]);
    expect(findUndrivenRoutes(more("get", "/api/worlds/:id/diary", "operator"))).toEqual(["operator get /:id/diary"]);
    expect(findUndrivenRoutes({ routes, registered: [...registered, "GET /api/diary"] })).toEqual(["GET /api/diary"]);
  });

  it("is thought of at every tool and every kind of resource of MCP", () => {
    expect(findUndrivenTools()).toEqual([]);
    const diary = { action: "diary", operation: "world.diary", fields: [] };
    const tools = toolsFor(false).map((tool) => ({ ...tool, verbs: [...tool.verbs, diary] as never }));
    expect(findUndrivenTools(tools)).toContain("world_beat diary");
    expect(findUndrivenTools(undefined, toolsFor(false))).toEqual([
      "world_beat",
      "world_beat",
      "world_beat",
      "world_beat",
      "world_beat",
    ]);
    expect(findUndrivenTools(undefined, undefined, ["symbols", "worlds"])).toEqual(["worlds"]);
  });

  it("is thought of at every verb of the command line that reads as somebody", async () => {
    const { noun } = await NOUNS.find((one) => one.noun === "world")!.load();
    const asSomebody = noun.verbs.filter(({ flags }) => flags?.["viewer"] !== undefined && !flags["viewer"].hidden);
    const driven = findDriven();
    // These are written by the owner; the viewer only says who must be able to see the line.
    expect(
      asSomebody
        .map(({ operation }) => operation)
        .filter((name) => !driven.includes(name))
        .sort(),
    ).toEqual(["world.fork", "world.pin", "world.unpin"]);
    expect(asSomebody.length).toBeGreaterThanOrEqual(6);
  });

  it("is thought of at every function of the library", async () => {
    await using world = openWorld("w_none", { start: "/", env: {} });
    // `close` answers nothing.
    const answering = ["beat", "projection", "search", "capsule", "subscribe", "fork", "verify"];
    expect(Object.keys(world)).toEqual([...answering, "close"]);
  });
});
