// Guards: who may call an operation over HTTP is said by the operation and nowhere else. Every operation is tried by every
// role, so a new one that says nothing, or that is opened to more than it says, is noticed without being added here.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, listOperations, openApp } from "../../src/app/call.ts";
import { WORLD_ROLES } from "../../src/core/operation.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { makeHttpSurface } from "../../src/surfaces/http/server/server.ts";

const OWNER = "harbour-token-of-the-owner";
const operations = await listOperations();

let start: string;
let app: App;
let surface: Awaited<ReturnType<typeof makeHttpSurface>>;
const tokens: Record<string, string | null> = { nobody: null, stranger: "harbour-token-of-a-stranger", owner: OWNER };

beforeAll(async () => {
  start = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-rights-")));
  app = openApp({ surface: "http", start, env: { HOME: start }, platform: process.platform });
  surface = await makeHttpSurface({ app, version: "0.0.0", host: "127.0.0.1", token: OWNER }, new WorldStreams(app));
  await app.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC" });
  await app.call("world.people-add", { world: "w_harbour", person_id: "ANA", display_name: "Ana" });
  const { settings } = await app.call("world.show", { world: "w_harbour" });
  const make = async (person_id: string) =>
    (await app.call("world.people-token", { world: "w_harbour", person_id })).token;
  tokens["viewer"] = await make("ANA");
  tokens["operator"] = await make(settings.operator_id);
}, 300_000);

afterAll(async () => {
  await app.close();
  rmSync(start, { recursive: true, force: true });
});

async function ask(role: string, method: string, path: string): Promise<readonly [number, string]> {
  const token = tokens[role] ?? null;
  const body = method === "GET" || method === "DELETE" ? {} : { body: '{"no_such_field":1}' };
  const response = await surface.hono.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method,
      ...body,
      headers: {
        host: "127.0.0.1",
        "content-type": "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
    }),
  );
  const text = await response.text();
  return [response.status, /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? ""];
}

const isOffered = ({ surfaces }: (typeof operations)[number]) => surfaces === undefined || surfaces.includes("http");

describe("an operation", () => {
  it("says who may call it exactly when it is offered over HTTP", () => {
    const wrong = operations.filter((one) => isOffered(one) !== (one.who !== undefined)).map(({ name }) => name);
    expect(wrong).toEqual([]);
    expect(operations.filter(isOffered).length).toBeGreaterThan(80);
  });

  it("that takes fields of the machine itself names fields that it has", () => {
    for (const { name, localFields = [], input } of operations) {
      const known = Object.keys((input as unknown as { shape?: object }).shape ?? {});
      expect([name, localFields.filter((field) => !known.includes(field))]).toEqual([name, []]);
    }
  });

  it.each(operations.map(({ name }) => name))("%s is the owner's at its own address, or nobody's", async (name) => {
    const { who } = operations.find((one) => one.name === name)!;
    const path = `/api/operations/${name}`;
    expect(await ask("nobody", "POST", path)).toEqual([401, "AUTH_REQUIRED"]);
    expect(await ask("stranger", "POST", path)).toEqual([401, "AUTH_REQUIRED"]);
    for (const role of ["viewer", "operator"]) expect(await ask(role, "POST", path)).toEqual([403, "OWNER_ONLY"]);
    const [status, code] = await ask("owner", "POST", path);
    if (who === undefined) expect([status, code]).toEqual([404, "OPERATION_UNKNOWN"]);
    else expect([status, code]).toEqual([400, "INPUT_INVALID"]);
  });
});

describe("a route of worlds", () => {
  it("is open to the roles that its operation names, and to no other", async () => {
    const known = new Set<string>(["owner", ...WORLD_ROLES]);
    for (const { method, path, who } of surface.routes) {
      expect(known.has(who)).toBe(true);
      const address = path.replace(":id", "w_harbour").replace(/:[a-z]+/g, "none");
      // A stream would not end, and reading it is tried elsewhere.
      if (path.endsWith("/stream")) continue;
      const verb = method.toUpperCase();
      expect([path, ...(await ask("nobody", verb, address))]).toEqual([path, 401, "AUTH_REQUIRED"]);
      for (const role of ["viewer", "operator"] as const) {
        const [, code] = await ask(role, verb, address);
        const isRefused = code === "OWNER_ONLY" || code === "OPERATOR_ONLY";
        const mayCome = who !== "owner" && WORLD_ROLES.indexOf(role) >= WORLD_ROLES.indexOf(who);
        // The whole of a world is the owner's; a viewer's part is asked for by its kind.
        if (path.endsWith("/export")) expect(code).toBe("OWNER_ONLY");
        else expect([path, method, role, isRefused]).toEqual([path, method, role, !mayCome]);
      }
    }
    expect(surface.routes.length).toBeGreaterThan(25);
  });
});
