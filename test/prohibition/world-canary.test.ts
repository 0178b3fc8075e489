// Guards: existence must not leak. A secret appears in nothing that is made for anybody who may not know it.
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app/app.ts";
import { WorldStreams } from "../../src/surfaces/http/stream.ts";
import { worldRoutes } from "../../src/surfaces/http/worlds.ts";
import { usePostgres } from "../support/postgres.ts";
import { findUndriven, runCanary } from "../support/world-canary.ts";

const postgres = await usePostgres();

describe("the canary", () => {
  it("stays in its cage over random stories on SQLite", async () => {
    const result = await runCanary({ from: 0, count: 12 });
    expect(result.leaks).toEqual([]);
    expect(result.outputs).toBeGreaterThan(1000);
    expect(result.prompts).toBeGreaterThan(20);
  });

  it.skipIf(postgres.reason !== null)("stays in its cage over random stories on PostgreSQL", async () => {
    const database = await postgres.createDatabase();
    const result = await runCanary({ url: database.url, from: 10_000, count: 2 });
    await database.drop();
    expect(result.leaks).toEqual([]);
    expect(result.outputs).toBeGreaterThan(100);
  });

  it("is driven at every operation that reads", () => {
    expect(findUndriven()).toEqual([]);
  });

  it("knows every route that reads, and that it is gated or for the owner", () => {
    const app = openApp({ door: "http", start: "/", env: {}, platform: process.platform });
    const { routes } = worldRoutes(app, new WorldStreams(app));
    const reading = routes
      .filter(({ reads }) => reads)
      .map(({ path, who }) => `${who} ${path.replace("/api/worlds", "")}`);
    expect(reading).toEqual([
      "viewer /:id",
      "operator /:id/invocations/:request",
      "viewer /:id/stream",
      "viewer /:id/projection",
      "viewer /:id/entries/:entry",
      "viewer /:id/search",
      "viewer /:id/capsules/:person",
      "viewer /:id/people",
      "viewer /:id/pocket",
      "owner /:id/calls",
      "owner /:id/calls/:call",
      "viewer /:id/export",
      "viewer /:id/verify",
    ]);
  });
});
