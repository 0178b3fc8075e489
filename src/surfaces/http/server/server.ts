import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Hono } from "hono";
import type { App } from "../../../app/call.ts";
import { listOperations } from "../../../app/call.ts";
import type { Starting } from "../../../app/compose/compose.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { type AccessOptions, chooseStarting, chooseToken, toAddress } from "../access/access.ts";
import { type Caller, Callers, requireOwner, requireRight } from "../access/caller.ts";
import { ownNames, requireOwnHost, requireOwnSite } from "../access/host-check.ts";
import { addSessionEndRoutes, addSessionRoutes } from "../access/session-routes.ts";
import { type OpenedBy, Sessions } from "../access/sessions.ts";
import { chooseTransport, type Transport, type TransportOptions } from "../access/transport.ts";
import { readInput } from "../body.ts";
import { refuseForms } from "../body-type.ts";
import { toErrorBody } from "../failure.ts";
import { addLedgerRoutes } from "../ledger-routes.ts";
import { Events } from "../live/events.ts";
import { WorldStreams } from "../live/stream.ts";
import { addEventRoute, addTaskRoutes } from "../live/task-routes.ts";
import { Tasks } from "../live/tasks.ts";
import { answerMcp, type McpFetch } from "../mcp-route.ts";
import { toOpenApi } from "../openapi.ts";
import { addRunRoutes } from "../run-routes.ts";
import { addHistoryRoutes } from "../worlds/world-history.ts";
import { addImportRoutes } from "../worlds/world-imports.ts";
import { addPlayRoutes } from "../worlds/world-play.ts";
import { addReadingRoutes } from "../worlds/world-reading.ts";
import { answerCall, type Rights, type Variables, type WorldRoute, WorldRouter } from "../worlds/world-router.ts";
import { addTellingRoutes } from "../worlds/world-telling.ts";
import { addVersionRoutes } from "../worlds/world-versions.ts";
import { addWritingRoutes } from "../worlds/world-writing.ts";
import { STUDIO_POLICY, StudioAssets } from "./assets.ts";
import { listenHttp } from "./listener.ts";

interface HttpOptions extends AccessOptions, TransportOptions {
  /** A workspace opened at the surface `http`. */
  readonly app: App;
  readonly version: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The sessions of this server, shared with the workspace that lists them. */
  readonly sessions?: Sessions;
  /** MCP for the owner at /mcp. */
  readonly mcp?: McpFetch | undefined;
  /** Folder with the pages of the Studio as they were built; without it the small page is served. */
  readonly studio?: string | undefined;
  /** The server of a team: it posts jobs and waits for them, and neither runs commands nor changes files. */
  readonly onlyQueues?: boolean;
  /** Told how each operation was answered, and how long that took. */
  readonly observe?: (answered: Answered) => void;
  /** Told about failures that the caller must not see. */
  readonly log?: (thrown: unknown) => void;
}

/** A request for an operation, and what came of it. */
export interface Answered {
  readonly operation: string;
  readonly status: number;
  readonly ms: number;
  /** Name by which the caller and we speak of this request. */
  readonly request_id: string;
  readonly actor: string | undefined;
}

export interface RunningHttp extends AsyncDisposable {
  readonly url: string;
  /** Token that the owner needs; null where someone chose to have none. */
  readonly token: string | null;
  /** What whoever starts it must know about the way to it; null: nothing. */
  readonly warning: string | null;
  /** An address that opens one session in one browser, at the page of a path. */
  makeLink(path?: string): string;
  close(): Promise<void>;
}

const SMALL_PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const AUTONOMY_MS = 5000;
/** What changes files where it is done by workers of a team. */
const QUEUED: ReadonlySet<string> = new Set(["jobs.run", "jobs.submit"]);

/** Starts the HTTP API with server-sent events and the small page. */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const token = chooseToken(options);
  const transport = chooseTransport(options);
  const streams = new WorldStreams(options.app);
  const sessions = options.sessions ?? new Sessions();
  const tasks = new Tasks(options.app, options.log);
  const events = new Events(options.app, sessions, tasks, options.log);
  const starting = chooseStarting(options, token, transport.publicUrl);
  const { hono } = await makeHttpSurface({ ...options, transport, token, sessions, tasks, events, starting }, streams);
  const listening = await listenHttp((request) => hono.fetch(request), options.host, options.port, transport.tls);
  const autonomy = setInterval(() => {
    passTime(options.app).catch((thrown: unknown) => options.log?.(thrown));
  }, AUTONOMY_MS);
  autonomy.unref();
  const close = async (): Promise<void> => {
    clearInterval(autonomy);
    await streams.close();
    await events.close();
    await tasks.close();
    await listening.close();
  };
  const makeLink = (path = "/") =>
    toAddress(new URL(path, transport.publicUrl ?? listening.url).href, token === null ? null : sessions.makeCode());
  return { url: listening.url, token, warning: transport.warning, makeLink, close, [Symbol.asyncDispose]: close };
}

/** Looks whether there are worlds first: a server that nobody uses must not make a store. */
async function passTime(app: App): Promise<void> {
  const { worlds } = await app.call("world.list", {});
  if (worlds.length > 0) await app.call("world.autonomy", {});
}

/** The whole surface as a function from request to response, with the routes of worlds as they are documented. */
export async function makeHttpSurface(
  {
    app,
    version,
    host,
    transport,
    token,
    log,
    mcp,
    studio,
    sessions = new Sessions(),
    tasks = new Tasks(app, log),
    events = new Events(app, sessions, tasks, log),
    starting = () => "off",
    onlyQueues = false,
    observe,
  }: Omit<HttpOptions, "port" | keyof AccessOptions | keyof TransportOptions> & {
    readonly host: string;
    readonly transport?: Transport;
    readonly tasks?: Tasks;
    readonly events?: Events;
    /** Token of the owner; null lets everyone in as the owner. */
    readonly token: string | null;
    /** What of starting agents a caller may do; nobody may where nothing is said. */
    readonly starting?: (openedBy: OpenedBy) => Starting;
  },
  streams: WorldStreams,
): Promise<{ readonly hono: Hono<{ Variables: Variables }>; readonly routes: readonly WorldRoute[] }> {
  const hono = new Hono<{ Variables: Variables }>({ strict: false });
  const callers = new Callers(app, token, sessions);
  const own = ownNames({ host, ...transport });

  hono.onError((thrown, call) => {
    const { status, body, headers } = toErrorBody(thrown);
    if (status >= 500) log?.(thrown);
    return call.json(body, status as 500, headers);
  });
  hono.notFound((call) => call.json(toErrorBody(new VerbatimError("ROUTE_UNKNOWN")).body, 404));
  const ids = new WeakMap<Request, string>();
  if (observe !== undefined) {
    hono.use(async (call, next) => {
      const id = toRequestId(call.req.header("x-request-id"));
      ids.set(call.req.raw, id);
      await next();
      call.header("X-Request-Id", id);
    });
  }
  hono.use(async (call, next) => {
    requireOwnHost(call.req.header("host"), call.req.header("origin"), own);
    await next();
    call.header("X-Content-Type-Options", "nosniff");
    call.header("Referrer-Policy", "no-referrer");
    call.header("Content-Security-Policy", studio === undefined ? SMALL_PAGE_POLICY : STUDIO_POLICY);
    call.header("Cross-Origin-Resource-Policy", "same-origin");
    if (call.res.headers.get("Cache-Control") === null) call.header("Cache-Control", "no-store");
  });
  if (studio === undefined) hono.get("/", (call) => call.html(PAGE_HTML));
  hono.get("/page.css", (call) => call.body(PAGE_CSS, 200, { "Content-Type": "text/css; charset=utf-8" }));
  hono.get("/page.js", (call) => call.body(PAGE_JS, 200, { "Content-Type": "text/javascript; charset=utf-8" }));

  // Before any token is asked for, so it says nothing but whether the server works.
  hono.get("/api/health", async (call) => {
    const { store: ok } = await app.call("world.health", {});
    return call.json({ ok }, ok ? 200 : 503);
  });
  addSessionRoutes(hono, callers, sessions);
  if (mcp !== undefined) {
    hono.all("/mcp", async (call) => {
      requireOwnSite(call.req.header("sec-fetch-site"));
      requireOwner(await callers.identify(call.req.header("authorization")));
      return answerMcp(mcp, call.req.raw);
    });
  }
  hono.use("/api/*", async (call, next) => {
    requireOwnSite(call.req.header("sec-fetch-site"));
    const key = call.req.header("authorization");
    call.set("caller", await callers.identify(key));
    call.set("still", () => callers.stillKnows(key));
    refuseForms(call.req.raw.headers);
    await next();
  });
  addSessionEndRoutes(hono, sessions);
  const startingOf = ({ session_id }: Caller) => starting(sessions.openedBy(session_id));
  const operations = (await listOperations()).filter(
    ({ surfaces, who }) => who !== undefined && (surfaces === undefined || surfaces.includes("http")),
  );
  const requireOffered = (name: string): void => {
    const isMutating = operations.find((one) => one.name === name)?.effect === "mutate";
    if (onlyQueues && isMutating && !QUEUED.has(name)) throw new VerbatimError("USE_CHECKOUT", { where: name });
  };
  addTaskRoutes(hono, tasks, startingOf, requireOffered);
  addEventRoute(hono, events);
  addRunRoutes(hono, app);
  addLedgerRoutes(hono, app);
  const rights: Rights = new Map(operations.map(({ name, who }) => [name, who]));
  const { hono: worlds, routes } = worldRoutes(app, streams, rights);
  hono.route("/api/worlds", worlds);
  if (observe !== undefined) {
    hono.use("/api/operations/:name", async (call, next) => {
      const begun = performance.now();
      await next();
      const name = call.req.param("name");
      // Names come from outside; only those there are become labels.
      const operation = operations.some((one) => one.name === name) ? name : "unknown";
      const ms = performance.now() - begun;
      const request_id = ids.get(call.req.raw)!;
      observe({ operation, status: call.res.status, ms, request_id, actor: call.get("caller").name });
    });
  }
  hono.post("/api/operations/:name", async (call) => {
    const caller = call.get("caller");
    const name = call.req.param("name");
    const operation = operations.find((one) => one.name === name);
    // Roles in a world have routes of their own. What is not offered is known to the owner alone as such.
    requireRight(caller, { workspace: operation?.who?.workspace ?? "owner" });
    requireOffered(name);
    const actor = caller.name === undefined ? {} : { actor: `user/${caller.name}` };
    return answerCall(call, app, name, await readInput(call), 200, { starting: startingOf(caller), ...actor });
  });
  hono.get("/api/metrics", async (call) => {
    requireOwner(call.get("caller"));
    const { text } = await app.call("world.metrics", {});
    return call.text(`${text}# TYPE verbatim_world_sse_clients gauge\nverbatim_world_sse_clients ${streams.clients}\n`);
  });
  const { CONTRACTS } = await import("../../../app/hall/contracts.ts");
  const contracts = CONTRACTS.flatMap((one) => (one.room === "world" && "schema" in one ? [one] : []));
  const document = toOpenApi(version, operations, routes, contracts);
  hono.get("/api/openapi.json", (call) => call.json(document));
  hono.get("/api/docs", (call) => call.html(toDocs(operations, routes)));
  if (studio !== undefined) new StudioAssets(studio).addRoutes(hono);
  return { hono, routes };
}

const REQUEST_ID = /^[A-Za-z0-9-]{8,64}$/;

/** The caller's own name for a request where it is a plain one, else a new one. */
function toRequestId(given: string | undefined): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
}

function toDocs(
  operations: readonly { readonly name: string; readonly summary: string }[],
  routes: readonly { readonly method: string; readonly path: string; readonly summary: string; readonly who: string }[],
): string {
  const toHtml = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const rows = routes.map(
    ({ method, path, summary, who }) =>
      `<tr><td>${method.toUpperCase()} ${toHtml(path)}</td><td>${toHtml(summary)}</td><td>${who}</td></tr>`,
  );
  const more = operations.map(
    ({ name, summary }) =>
      `<tr><td>POST /api/operations/${toHtml(name)}</td><td>${toHtml(summary)}</td><td>owner</td></tr>`,
  );
  const head =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Verbatim API</title><link rel="stylesheet" href="/page.css"></head>';
  const table = `<table><thead><tr><th>route</th><th>does</th><th>for</th></tr></thead><tbody>${[...rows, ...more].join("")}</tbody></table>`;
  return `${head}<body><main><h1>API</h1>${table}</main></body></html>`;
}

/** The routes of worlds. Each says who may use it and calls one operation. */
function worldRoutes(app: App, streams: WorldStreams, rights: Rights): Pick<WorldRouter, "hono" | "routes"> {
  const router = new WorldRouter(app, rights);
  addReadingRoutes(router, streams);
  addWritingRoutes(router);
  addTellingRoutes(router);
  addImportRoutes(router);
  addVersionRoutes(router);
  addPlayRoutes(router);
  addHistoryRoutes(router);
  return router;
}

/** A small page that proves the API works, in place of the Studio where somebody wants no more. */
const PAGE_HTML = readFileSync(new URL("./scripts/page.html", import.meta.url), "utf8");
const PAGE_CSS = readFileSync(new URL("./scripts/page.css", import.meta.url), "utf8");
const PAGE_JS = readFileSync(new URL("./scripts/page.js", import.meta.url), "utf8");
