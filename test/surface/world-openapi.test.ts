// The interface of worlds as it is described: a client is made of the document, compiled, and used against a server.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type App, openApp } from "../../src/app/call.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";
import { type Described, makeClient, type OpenApi } from "../support/openapi-client.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(ROOT, "node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "verbatim-openapi-"));
const sources = mkdtempSync(join(cache, "verbatim-client-"));
let app: App;
let http: RunningHttp;
let document: OpenApi;

beforeAll(async () => {
  app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
  http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0 });
  const answer = await fetch(`${http.url}/api/openapi.json`, { headers: { authorization: `Bearer ${http.token}` } });
  document = (await answer.json()) as OpenApi;
});

afterAll(async () => {
  await http.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
  rmSync(sources, { recursive: true, force: true });
});

/** Uses it as somebody would; what is wrong in it is marked, and must be refused by the compiler. */
const USE = `import type { Client, ProjectionOutput } from "./client.ts";
export async function use(client: Client): Promise<ProjectionOutput> {
  const { worlds } = await client["GET_LIST"]({ limit: 5, order: "title" }, null);
  const id: string = worlds[0]!.world_id;
  const page = await client["GET_PAGE"]({ id, limit: 3 }, null);
  const text: string | undefined = page.entries[0]?.text;
  // @ts-expect-error there is no such field
  page.entries[0]?.nothing;
  // @ts-expect-error the address is needed
  await client["GET_PAGE"]({}, null);
  return await client["POST_SAY"]({ id }, {
    request_id: "r-" + (text ?? "1"),
    invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
    operator: { operator_id: "GEORGE", input_text: "Good evening." },
    // @ts-expect-error there is no such mode
    mode: { kind: "SHOUT" },
  });
}
`;

function idOf(method: string, path: string): string {
  const id = document.paths[path]?.[method]?.operationId;
  if (id === undefined) throw new Error(`${method} ${path} is not described`);
  return id;
}

it("makes a client that compiles, and that refuses what the interface does not have", {
  timeout: 300_000,
}, async () => {
  writeFileSync(join(sources, "client.ts"), makeClient(document, "/api/worlds"));
  const use = USE.replace("GET_LIST", idOf("get", "/api/worlds"))
    .replaceAll("GET_PAGE", idOf("get", "/api/worlds/{id}/projection"))
    .replace("POST_SAY", idOf("post", "/api/worlds/{id}/invocations"));
  writeFileSync(join(sources, "use.ts"), use);
  const options = {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    types: [],
    skipLibCheck: true,
  };
  writeFileSync(
    join(sources, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, files: ["client.ts", "use.ts"] }),
  );
  const said = await new Promise<string>((resolve) => {
    execFile(join(ROOT, "node_modules/.bin/tsc"), ["-p", sources, "--pretty", "false"], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  expect(said.split("\n").filter((line) => line.includes("error"))).toEqual([]);
});

/** References in place, so that a schema stands alone. */
function whole(schema: Described): Described {
  return JSON.parse(
    JSON.stringify(schema, (_name, value: unknown) => {
      const name = (value as Described | null)?.$ref?.split("/").at(-1);
      return name === undefined ? value : whole(document.components.schemas[name]!);
    }),
  ) as Described;
}

it("answers as the document says: each status is described, and each answer is of its schema", async () => {
  const { ROUTES } = (await import(join(sources, "client.ts"))) as {
    ROUTES: Record<string, { method: string; path: string; places: Record<string, string>; status: number }>;
  };
  const used = new Set<string>();
  const call = async (method: string, path: string, given: Record<string, string>, body?: unknown) => {
    const id = idOf(method, path);
    const route = ROUTES[id]!;
    used.add(id);
    const address = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name]!));
    const query = new URLSearchParams(Object.entries(given).filter(([name]) => route.places[name] === "query"));
    const answer = await fetch(`${http.url}${address}?${query.toString()}`, {
      method: method.toUpperCase(),
      headers: {
        authorization: `Bearer ${http.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect([id, answer.status, text.slice(0, 200)]).toEqual([id, route.status, text.slice(0, 200)]);
    const described =
      document.paths[path]![method]!.responses[String(route.status)]!.content!["application/json"]!.schema!;
    const value = JSON.parse(text) as Record<string, unknown>;
    const judged = z.fromJSONSchema(whole(described) as never).safeParse(value);
    expect([id, judged.error?.issues ?? []]).toEqual([id, []]);
    return value;
  };
  const at = "/api/worlds/{id}";
  const id = "w_quay";
  await call(
    "post",
    "/api/worlds",
    {},
    { title: "Quay", world_id: id, timezone: "UTC", person: ["ANA=Ana", "BEN=Ben"] },
  );
  await call("put", `${at}/presence`, { id }, { present: ["GEORGE", "ANA"] });
  const said = await call(
    "post",
    `${at}/invocations`,
    { id },
    {
      request_id: "r-1",
      invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
      operator: { operator_id: "GEORGE", input_text: "The lamp is lit." },
      mode: { kind: "BEAT" },
    },
  );
  const entry = (said as { stream: { entries: { entry_id: string }[] } }).stream.entries[0]!.entry_id;
  for (const path of [
    "",
    "/projection",
    "/people",
    "/pocket",
    "/calendar",
    "/messages",
    "/pins",
    "/lore",
    "/tokens",
    "/beats",
    "/calls",
    "/versions",
    "/verify",
    "/imports",
  ])
    await call("get", `${at}${path}`, { id });
  await call("get", "/api/worlds", { limit: "5" });
  await call("get", `${at}/find`, { id, q: "lamp" });
  await call("get", `${at}/search`, { id, q: "lamp" });
  await call("get", `${at}/entries/{entry}`, { id, entry });
  await call("get", `${at}/capsules/{person}`, { id, person: "ANA" });
  await call("get", `${at}/invocations/{request}`, { id, request: "r-1" });
  await call("get", `${at}/time/preview`, { id, at: "2030-01-01T00:00Z" });
  await call("post", `${at}/count`, { id }, { text: "How long is this?" });
  await call("post", `${at}/pins`, { id }, { entry_id: entry, quote: "The lamp" });
  await call("post", `${at}/versions`, { id }, { request_id: "v-1" });
  await call("post", `${at}/entries/{entry}/edit`, { id, entry }, { text: "The lamp is out." });
  await call("post", `${at}/tokens`, { id }, { person_id: "ANA", role: "player" });
  await call("post", `${at}/people`, { id }, { person_id: "KAI", display_name: "Kai" });
  await call("post", `${at}/scene`, { id }, { text: "Morning." });
  await call("patch", `${at}/settings`, { id }, { title: "The quay" });
  await call("post", "/api/worlds/writer/test", {}, { writer: { kind: "scripted" } });
  await call("post", `${at}/writer/test`, { id }, {});
  await call("post", "/api/worlds/writer/models", {}, { kind: "ollama", base_url: "http://127.0.0.1:9" });
  expect(used.size).toBeGreaterThan(30);
});

it("names contract objects by their names, each event of a stream, and the headers of a beat", () => {
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining([
      "InvocationEnvelope",
      "ProjectionOutput",
      "WriteBundle",
      "RetrievalResultPack",
      "CapsulePack",
    ]),
  );
  const { get } = document.paths["/api/worlds/{id}/stream"]!;
  const stream = get!.responses["200"]!.content!["text/event-stream"] as { readonly "x-events": object };
  expect(Object.keys(stream["x-events"]).sort()).toEqual([
    "call",
    "entry",
    "kept",
    "people",
    "pocket",
    "presence",
    "reset",
    "settings",
    "status",
    "time",
    "version",
  ]);
  const { post } = document.paths["/api/worlds/{id}/invocations"]!;
  const { headers } = post!.responses["200"] as unknown as { readonly headers: object };
  expect(Object.keys(headers).sort()).toEqual(["Idempotent-Replayed", "Verbatim-Beat-Code", "Verbatim-Beat-Result"]);
});
