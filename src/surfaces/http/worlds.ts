import { type Context, Hono } from "hono";
import type { App } from "../../app/app-type.ts";
import { IMPORT_LIMIT, readBytes, readInput, readStrict } from "./body.ts";
import { type Caller, requireOperator, requireOwner, requireWorld, viewerOf } from "./caller.ts";
import { RateLimit } from "./rate.ts";
import type { WorldStreams } from "./stream.ts";

export interface Variables {
  readonly caller: Caller;
}

type Env = { Variables: Variables };
type Call = Context<Env>;
type Who = "owner" | "operator" | "viewer";

/** One route of worlds, as the OpenAPI document lists it. */
export interface WorldRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly who: Who;
  readonly summary: string;
  /** Whether it shows something of a world; a test drives a secret at each of them. */
  readonly reads: boolean;
  /** The operation behind it, whose schemas describe the body and the answer. */
  readonly operation?: string;
  /** Names in the query. */
  readonly query?: readonly string[];
}

/** What the OpenAPI document says about a route besides its address. */
type RouteFacts = Pick<WorldRoute, "operation" | "query">;

const INVOCATIONS_A_SECOND = 10;
const READS_A_SECOND = 60;

const STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** The routes of worlds. Each says who may use it and calls one operation. */
export function worldRoutes(
  app: App,
  streams: WorldStreams,
): { readonly hono: Hono<Env>; readonly routes: readonly WorldRoute[] } {
  const hono = new Hono<Env>();
  const routes: WorldRoute[] = [];
  const invocations = new RateLimit(INVOCATIONS_A_SECOND);
  const reads = new RateLimit(READS_A_SECOND);

  const route = (
    method: WorldRoute["method"],
    path: string,
    who: Who,
    summary: string,
    facts: RouteFacts,
    handle: (call: Call, world: string) => Promise<Response>,
  ): void => {
    const isRead = method === "get" && path !== "";
    routes.push({ method, path: `/api/worlds${path}`, who, summary, reads: isRead, ...facts });
    hono.on(method.toUpperCase(), path === "" ? "/" : path, async (call) => {
      const caller = call.get("caller");
      const world = call.req.param("id") ?? "";
      if (world !== "") requireWorld(caller, world);
      if (who === "owner") requireOwner(caller);
      if (who === "operator") requireOperator(caller);
      (method === "post" && path.endsWith("/invocations") ? invocations : reads).take(caller.counted_as);
      return handle(call, world);
    });
  };
  const answer = async (call: Call, name: string, input: object): Promise<Response> =>
    call.json(await app.call(name, dropAbsent(input)));
  const key = (call: Call) => call.req.header("idempotency-key");
  const viewer = (call: Call) => viewerOf(call.get("caller"), call.req.query("viewer"));
  const number = (call: Call, name: string): number | undefined => {
    const text = call.req.query(name);
    return text === undefined ? undefined : Number(text);
  };

  route("post", "", "owner", "Makes a world.", { operation: "world.new" }, async (call) =>
    call.json(await app.call("world.new", await readInput(call)), 201),
  );
  route("get", "", "viewer", "Lists worlds.", { operation: "world.list" }, async (call) => listFor(app, call));
  route("get", "/:id", "viewer", "Shows a world.", {}, async (call, world) => showFor(app, call, world));
  route(
    "patch",
    "/:id/settings",
    "owner",
    "Changes settings.",
    { operation: "world.settings-set" },
    async (call, world) =>
      answer(call, "world.settings-set", { world, settings: await readInput(call), key: key(call) }),
  );
  route("post", "/:id/invocations", "operator", "Runs an invocation envelope.", {}, async (call, world) => {
    const done = (await app.call("world.invoke", { world, envelope: await readStrict(call) })) as {
      readonly body: string;
      readonly headers: Record<string, string>;
      readonly replayed: boolean;
    };
    const headers = { ...done.headers, ...(done.replayed ? { "Idempotent-Replayed": "true" } : {}) };
    return call.body(done.body, 200, { "Content-Type": "application/json; charset=utf-8", ...headers });
  });
  route(
    "get",
    "/:id/invocations/:request",
    "operator",
    "Shows the state of an invocation.",
    { operation: "world.invocation" },
    async (call, world) => answer(call, "world.invocation", { world, request_id: call.req.param("request") }),
  );
  route(
    "delete",
    "/:id/invocations/:request",
    "operator",
    "Stops the writer of a running beat.",
    { operation: "world.stop" },
    async (call, world) => answer(call, "world.stop", { world, request_id: call.req.param("request") }),
  );
  route(
    "get",
    "/:id/stream",
    "viewer",
    "Follows a world as server-sent events.",
    { query: ["viewer", "after"] },
    async (call, world) => {
      const caller = call.get("caller");
      await app.call("world.projection", dropAbsent({ world, viewer: viewer(call), limit: 1 }));
      const after = call.req.header("last-event-id") ?? call.req.query("after");
      const status = caller.role !== "viewer";
      return new Response(streams.open({ world, viewer: viewer(call), after, status }), { headers: STREAM_HEADERS });
    },
  );
  route(
    "get",
    "/:id/projection",
    "viewer",
    "Shows a page of lines.",
    { operation: "world.projection", query: ["viewer", "after", "before", "limit"] },
    async (call, world) => {
      const { after, before } = call.req.query();
      return answer(call, "world.projection", {
        world,
        viewer: viewer(call),
        after,
        before,
        limit: number(call, "limit"),
      });
    },
  );
  route(
    "get",
    "/:id/entries/:entry",
    "viewer",
    "Shows one entry.",
    { operation: "world.entry", query: ["viewer"] },
    async (call, world) =>
      answer(call, "world.entry", {
        world,
        viewer: viewer(call),
        entry_id: call.req.param("entry"),
        audience: call.get("caller").role === "owner",
      }),
  );
  route(
    "get",
    "/:id/search",
    "viewer",
    "Finds lines by words.",
    { operation: "world.search", query: ["viewer", "q", "person", "from", "to", "limit"] },
    async (call, world) => {
      const { q, person, from, to } = call.req.query();
      return answer(call, "world.search", {
        world,
        viewer: viewer(call),
        query: q ?? "",
        person,
        from,
        to,
        limit: number(call, "limit"),
      });
    },
  );
  route(
    "get",
    "/:id/capsules/:person",
    "viewer",
    "Quotes a person.",
    { operation: "world.capsule", query: ["viewer", "derived"] },
    async (call, world) =>
      answer(call, "world.capsule", {
        world,
        viewer: viewer(call),
        person: call.req.param("person"),
        derived: wantsNote(call),
      }),
  );
  route("get", "/:id/people", "viewer", "Lists people.", { operation: "world.people" }, async (call, world) =>
    answer(call, "world.people", { world }),
  );
  route("post", "/:id/people", "owner", "Adds a person.", { operation: "world.people-add" }, async (call, world) =>
    answer(call, "world.people-add", { ...(await readInput(call)), world, key: key(call) }),
  );
  route(
    "patch",
    "/:id/people/:person",
    "owner",
    "Renames a person.",
    { operation: "world.people-name" },
    async (call, world) =>
      answer(call, "world.people-name", {
        ...(await readInput(call)),
        world,
        person_id: call.req.param("person"),
        key: key(call),
      }),
  );
  route(
    "post",
    "/:id/people/:person/tokens",
    "owner",
    "Makes a token for a person, shown once.",
    { operation: "world.people-token" },
    async (call, world) => answer(call, "world.people-token", { world, person_id: call.req.param("person") }),
  );
  route("put", "/:id/presence", "operator", "Says who is here.", { operation: "world.presence" }, async (call, world) =>
    answer(call, "world.presence", { ...(await readInput(call)), world, key: key(call) }),
  );
  route("post", "/:id/scene", "operator", "Begins the next scene.", { operation: "world.scene" }, async (call, world) =>
    answer(call, "world.scene", { ...(await readInput(call)), world, key: key(call) }),
  );
  route(
    "get",
    "/:id/pocket",
    "viewer",
    "Shows clock, calendar and messages.",
    { operation: "world.pocket", query: ["viewer"] },
    async (call, world) => answer(call, "world.pocket", { world, viewer: viewer(call) }),
  );
  route(
    "post",
    "/:id/pocket/calendar",
    "operator",
    "Adds a calendar item.",
    { operation: "world.calendar-add" },
    async (call, world) =>
      answer(call, "world.calendar-add", { ...toFlags(await readInput(call)), world, key: key(call) }),
  );
  route(
    "post",
    "/:id/pocket/calendar/:item/close",
    "operator",
    "Closes a calendar item.",
    { operation: "world.calendar-close" },
    async (call, world) =>
      answer(call, "world.calendar-close", { world, item_id: call.req.param("item"), key: key(call) }),
  );
  route(
    "post",
    "/:id/pocket/messages",
    "operator",
    "Sends a message.",
    { operation: "world.message-add" },
    async (call, world) =>
      answer(call, "world.message-add", { ...toFlags(await readInput(call)), world, key: key(call) }),
  );
  route(
    "get",
    "/:id/calls",
    "owner",
    "Lists model calls.",
    { operation: "world.calls", query: ["request_id", "limit"] },
    async (call, world) =>
      answer(call, "world.calls", { world, request_id: call.req.query("request_id"), limit: number(call, "limit") }),
  );
  route("get", "/:id/calls/:call", "owner", "Shows a model call.", { operation: "world.call" }, async (call, world) =>
    answer(call, "world.call", { world, call_id: call.req.param("call") }),
  );
  route("post", "/:id/fork", "owner", "Forks a world.", { operation: "world.fork" }, async (call, world) => {
    const { world_id, ...rest } = await readInput(call);
    return answer(call, "world.fork", { ...rest, id: world_id, world });
  });
  route(
    "get",
    "/:id/export",
    "viewer",
    "Exports a world, or a viewer's part of it.",
    { query: ["kind", "viewer"] },
    async (call, world) => {
      const kind = call.req.query("kind") ?? "full";
      if (kind === "full") requireOwner(call.get("caller"));
      return exportStream(app, { world, kind, viewer: viewer(call) });
    },
  );
  route(
    "post",
    "/import",
    "owner",
    "Imports an exported world.",
    { operation: "world.import-bytes", query: ["as", "preview"] },
    async (call) => {
      const base64 = Buffer.from(await readBytes(call, IMPORT_LIMIT)).toString("base64");
      const preview = call.req.query("preview") === "true";
      return answer(call, "world.import-bytes", { base64, as: call.req.query("as"), preview });
    },
  );
  route(
    "post",
    "/:id/imports",
    "owner",
    "Imports a card, lorebook or chat, or shows what it would write.",
    { operation: "world.import-bytes", query: ["preview", "lore", "enter", "macros"] },
    async (call, world) => {
      const base64 = Buffer.from(await readBytes(call, IMPORT_LIMIT)).toString("base64");
      const { preview, lore, enter, macros } = call.req.query();
      const options = {
        key: key(call),
        preview: preview === "true",
        lore,
        no_enter: enter === "false",
        keep_macros: macros === "keep",
      };
      return answer(call, "world.import-bytes", { world, base64, ...options });
    },
  );
  route("get", "/:id/verify", "viewer", "Checks a world.", {}, async (call, world) => {
    const report = (await app.call("world.verify", { world })) as { readonly ok: boolean };
    return call.json(call.get("caller").role === "owner" ? report : { ok: report.ok });
  });
  return { hono, routes };
}

/** The pocket's own names for what the operations call `at` and `to`. */
function toFlags({ time, visible_to, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return dropAbsent({ ...rest, at: time ?? rest["at"], to: visible_to ?? rest["to"] });
}

/** A note costs a model call, so only the owner can ask for one. */
function wantsNote(call: Call): boolean {
  if (call.req.query("derived") !== "true") return false;
  requireOwner(call.get("caller"));
  return true;
}

/** Nobody learns of a world they have no right to. */
async function listFor(app: App, call: Call): Promise<Response> {
  const { worlds } = (await app.call("world.list", {})) as { worlds: { world_id: string; title: string }[] };
  const { role, world_id } = call.get("caller");
  if (role === "owner") return call.json({ worlds });
  return call.json({
    worlds: worlds
      .filter((one) => one.world_id === world_id)
      .map((one) => ({ world_id: one.world_id, title: one.title })),
  });
}

/** Counts and positions tell what is hidden, so only the owner sees them. */
async function showFor(app: App, call: Call, world: string): Promise<Response> {
  const shown = (await app.call("world.show", { world })) as Record<string, unknown>;
  if (call.get("caller").role === "owner") return call.json(shown);
  const { settings, people, world_time, timezone, paused, writer } = shown;
  const { title, operator_id, operator_name, pocket } = settings as Record<string, unknown>;
  const clock = (pocket as { clock_hidden: boolean }).clock_hidden ? {} : { world_time, timezone, paused };
  return call.json({ world_id: world, title, operator_id, operator_name, people, writer, ...clock });
}

function exportStream(app: App, input: { world: string; kind: string; viewer: string | undefined }): Response {
  const lines = app.lines("world.export", dropAbsent(input))[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(`${value}\n`));
    },
  });
  const name = `${input.world}.vworld.jsonl`;
  return new Response(body, {
    headers: { "Content-Type": "application/jsonl", "Content-Disposition": `attachment; filename="${name}"` },
  });
}

function dropAbsent(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
