import { afterAll, expect, it } from "vitest";
import { openApp } from "../../app/call.ts";
import { WorldStreams } from "./live/stream.ts";
import { OWN_ROUTES } from "./own-routes.ts";
import { makeHttpSurface } from "./server/server.ts";

const app = openApp({ surface: "http", start: "/", env: {}, platform: process.platform });
afterAll(() => app.close());

interface Described {
  readonly operationId?: string;
  readonly requestBody?: {
    readonly content: { readonly "application/json"?: { readonly schema: { readonly properties?: object } } };
  };
}

it("the OpenAPI document names every route once, and none that is not there", { timeout: 300_000 }, async () => {
  const surface = await makeHttpSurface(
    { app, version: "0.0.0", host: "127.0.0.1", token: null },
    new WorldStreams(app),
  );
  const ask = (path: string, method = "GET") =>
    surface.hono.fetch(new Request(`http://127.0.0.1${path}`, { method, headers: { host: "127.0.0.1" } }));
  const { paths } = (await (await ask("/api/openapi.json")).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(ids.length).toBeGreaterThan(100);
  expect(ids).not.toContain(undefined);
  expect(new Set(ids).size).toBe(ids.length);

  for (const { method, path } of OWN_ROUTES) {
    expect(Object.keys(paths[path.replace(/:([a-z]+)/g, "{$1}")] ?? {})).toContain(method);
    const known = surface.hono.routes.some(
      (route) => route.method === method.toUpperCase() && route.path.replace(/\*$/, ":path") === path,
    );
    expect([method, path, known]).toEqual([method, path, true]);
  }
  // What only the machine itself takes is not offered.
  const apply = paths["/api/operations/agent.apply"]?.["post"]?.requestBody?.content["application/json"]?.schema;
  expect(Object.keys(apply?.properties ?? {}).sort((a, b) => (a < b ? -1 : 1))).toEqual([
    "candidate",
    "dry_run",
    "except",
    "only",
    "run",
  ]);
});
