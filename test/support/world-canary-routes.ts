import { envelope } from "./world.ts";
import { findHidden, NO_ENTRY, NO_WORD, noteLeaks, type Totals } from "./world-canary-reads.ts";
import { EVERYBODY, type Story } from "./world-canary-story.ts";
import type { Answered, Asked, CanarySurface } from "./world-canary-surface.ts";
import { OWNER_TOKEN } from "./world-canary-surface.ts";

interface Request {
  readonly path: string;
  readonly body?: unknown;
  /** What is asked for, where hidden and unknown must look the same; null asks for what never was. */
  readonly about?: string | null;
  /** Id that is new each time. */
  readonly once?: string;
}

/** A request that was answered is answered again as it was, so each look needs a name of its own. */
let glances = 0;

type Requests = (story: Story) => readonly Request[];

/** How every route that a viewer's token opens is driven. */
const VIEWER_ROUTES: Readonly<Record<string, Requests>> = {
  "get ": () => [{ path: "" }],
  "get /:id": () => [{ path: "" }],
  // Live, from the beginning of the story on, and again from a cursor that is not this viewer's.
  "get /:id/stream": () => [],
  "get /:id/projection": ({ cursors, entryIds }) => [
    { path: "/projection" },
    { path: "/projection?limit=2" },
    { path: `/projection?around=${NO_ENTRY}`, about: null },
    ...entryIds.map((id) => ({ path: `/projection?limit=3&around=${id}`, about: id })),
    ...cursors.flatMap((cursor) => [{ path: `/projection?after=${cursor}` }, { path: `/projection?before=${cursor}` }]),
  ],
  "get /:id/entries/:entry": ({ entryIds }) => [
    { path: `/entries/${NO_ENTRY}`, about: null },
    ...entryIds.map((id) => ({ path: `/entries/${id}`, about: id })),
  ],
  "get /:id/search": ({ secrets }) => [
    { path: `/search?q=${NO_WORD}`, about: null },
    ...secrets.map(({ word }) => ({ path: `/search?q=${word}`, about: word })),
    { path: "/search?q=the+harbour+boat&limit=20" },
    { path: "/search?q=&from=2020-01-01T00:00Z&limit=20" },
  ],
  "get /:id/find": ({ secrets }) => [
    { path: `/find?q=${NO_WORD}`, about: null },
    ...secrets.map(({ word }) => ({ path: `/find?q=${word}`, about: word })),
    { path: "/find?q=the+harbour+boat&limit=50" },
  ],
  "get /:id/calendar": () => [{ path: "/calendar" }, { path: "/calendar?all=true" }],
  "get /:id/messages": () => [{ path: "/messages" }, { path: "/messages?limit=1" }],
  "get /:id/capsules/:person": () => EVERYBODY.map((person) => ({ path: `/capsules/${person}` })),
  "get /:id/people": () => [{ path: "/people" }],
  "get /:id/pocket": () => [{ path: "/pocket" }],
  "get /:id/people/:person/avatar": () => EVERYBODY.map((person) => ({ path: `/people/${person}/avatar` })),
  "get /:id/pins": () => [{ path: "/pins" }],
  "get /:id/export": () => [{ path: "/export?kind=viewer" }, { path: "/export" }],
  "get /:id/verify": () => [{ path: "/verify" }],
};

/** How every route that the operator's token opens besides is driven; a viewer's token is refused at each. */
const OPERATOR_ROUTES: Readonly<Record<string, Requests>> = {
  "post /:id/invocations": ({ cursors }) =>
    [undefined, ...cursors].map((stream_cursor) => {
      const request_id = `glance-${String(++glances).padStart(9, "0")}`;
      const ui = stream_cursor === undefined ? {} : { stream_cursor };
      const body = envelope(request_id, "", { mode: { kind: "NO_OP" }, ui });
      return { path: "/invocations", body, once: request_id };
    }),
  "get /:id/invocations/:request": ({ requests }) =>
    ["never", ...requests].map((id) => ({ path: `/invocations/${id}` })),
  "delete /:id/invocations/:request": ({ requests }) => [{ path: `/invocations/${requests[0] ?? "never"}` }],
  "post /:id/pins": ({ entryIds }) => [
    { path: "/pins", body: { entry_id: NO_ENTRY, quote: NO_WORD } },
    ...entryIds.map((entry_id) => ({ path: "/pins", body: { entry_id, quote: NO_WORD } })),
  ],
  "delete /:id/pins/:pin": () => [{ path: "/pins/p_none" }],
  "get /:id/beats": () => [{ path: "/beats" }, { path: "/beats?limit=2" }],
  "get /:id/time/preview": () => [{ path: "/time/preview" }, { path: "/time/preview?at=2026-02-01T00:00Z" }],
  "post /:id/count": () => [{ path: "/count", body: { text: "How long is this?" } }],
  "get /:id/versions": ({ requests }) => [
    { path: "/versions" },
    ...["never", ...requests].map((of) => ({ path: `/versions?of=${of}` })),
  ],
  "post /:id/versions": () => [{ path: "/versions", body: { of: "never" } }],
  "put /:id/kept": () => [{ path: "/kept", body: { world_id: "w_nowhere" } }],
  "post /:id/entries/:entry/edit": ({ entryIds }) => [
    { path: `/entries/${NO_ENTRY}/edit`, body: { text: "" } },
    ...entryIds.slice(0, 3).map((id) => ({ path: `/entries/${id}/edit`, body: { text: "" } })),
  ],
  "put /:id/persona": () => [{ path: "/persona", body: {} }],
  // These change a world; a refusal must not say more than it was told.
  "put /:id/presence": () => [{ path: "/presence", body: { present: ["NOWHERE"] } }],
  "put /:id/turn": () => [{ path: "/turn", body: { next: ["NOWHERE"] } }],
  "post /:id/scene": () => [{ path: "/scene", body: { present: ["NOWHERE"] } }],
  "post /:id/pocket/calendar": () => [{ path: "/pocket/calendar", body: {} }],
  "post /:id/pocket/calendar/:item/close": () => [{ path: "/pocket/calendar/k_none/close" }],
  "post /:id/pocket/messages": () => [{ path: "/pocket/messages", body: {} }],
};

/** Routes for the owner; every token of a world is refused at each before anything is looked at. */
const OWNER_ROUTES: ReadonlySet<string> = new Set([
  "post ",
  "patch /:id/settings",
  "post /:id/people",
  "patch /:id/people/:person",
  "post /:id/people/:person/tokens",
  "get /:id/lore",
  "get /:id/lore/:lore",
  "put /:id/lore/:lore",
  "get /:id/calls",
  "get /:id/tokens",
  "post /:id/tokens",
  "delete /:id/tokens/:token",
  "post /:id/preview",
  "post /writer/test",
  "post /:id/writer/test",
  "post /writer/models",
  "get /:id/calls/:call",
  "post /:id/fork",
  "post /import",
  "post /:id/imports",
  "post /import-profile",
  "get /:id/imports",
  "get /:id/imports/:number",
  "get /:id/imports/:number/original",
  "get /:id/entries/:entry/swipes",
  "put /:id/people/:person/avatar",
  "delete /:id/people/:person/avatar",
]);

/** Everything else the server answers. */
const OTHER_ROUTES: Readonly<Record<string, "middleware" | "fixed" | "owner" | "open" | "session">> = {
  "ALL /*": "middleware",
  "ALL /api/*": "middleware",
  "GET /": "fixed",
  "GET /page.css": "fixed",
  "GET /page.js": "fixed",
  "GET /api/openapi.json": "fixed",
  "GET /api/docs": "fixed",
  "GET /api/health": "open",
  // Both answer about sessions of the server, and nothing of a world but its id to whoever has its token.
  "POST /api/session": "session",
  "DELETE /api/session": "session",
  "DELETE /api/session/:id": "owner",
  "POST /api/session/link": "owner",
  "GET /api/metrics": "owner",
  "GET /api/ledger/export": "owner",
  "GET /api/events": "owner",
  "ALL /api/runs/*": "middleware",
  "GET /api/runs/:run/output": "owner",
  "GET /api/runs/:run/files/*": "owner",
  "GET /api/runs/:run/archive": "owner",
  "ALL /api/tasks/*": "middleware",
  "POST /api/tasks": "owner",
  "GET /api/tasks/:task": "owner",
  "DELETE /api/tasks/:task": "owner",
  "POST /api/operations/:name": "owner",
  "ALL /mcp": "owner",
};

const BASE = "/api/worlds";
type Route = CanarySurface["routes"][number];
const nameOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path.replace(BASE, "")}`;

/** Routes that the canary does not know, or that are open to more than it believes. */
export function findUndrivenRoutes({ routes, registered }: Pick<CanarySurface, "routes" | "registered">): string[] {
  const known = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  const foreign = registered.filter((one) => !(one in OTHER_ROUTES) && !known.includes(one));
  const undriven = routes.filter((route) => {
    if (route.who === "viewer") return !(nameOf(route) in VIEWER_ROUTES);
    const isWriting = route.who === "operator" || route.who === "player";
    return isWriting ? !(nameOf(route) in OPERATOR_ROUTES) : !OWNER_ROUTES.has(nameOf(route));
  });
  return [...foreign, ...undriven.map((route) => `${route.who} ${nameOf(route)}`)];
}

/** Everything of one story that the holder of a token is answered, by what was asked. */
export type Answers = ReadonlyMap<string, string>;

/** Who asks: the tokens of one viewer, who may not ask too often with any of them. */
export interface Asker {
  readonly viewer: string;
  readonly world: string;
  token(): Promise<string>;
}

/** Asks at every route as a viewer, and looks at every answer. */
export async function askEverywhere(
  surface: CanarySurface,
  asker: Asker,
  story: Story,
  label: string,
  totals: Totals,
  hidden: readonly string[] = findHidden(story, asker.viewer),
): Promise<Answers> {
  const { viewer, world } = asker;
  const answers = new Map<string, string>();
  const ask = async (method: string, path: string, more: Asked = {}): Promise<Answered> =>
    surface.ask(method, path, { token: await asker.token(), ...more });
  for (const route of surface.routes) {
    const name = nameOf(route);
    const isOpen =
      route.who === "viewer" || ((route.who === "operator" || route.who === "player") && viewer === "GEORGE");
    if (!isOpen) {
      const path = route.path.replace(":id", world).replaceAll(/:\w+/g, "r0");
      const { status, text } = await ask(route.method, path);
      if (status !== 403) totals.leaks.push(`${label}: ${name} answers a viewer with ${text.slice(0, 80)}`);
      continue;
    }
    let nothing = "";
    for (const [i, { path, about, once = "-", ...more }] of (VIEWER_ROUTES[name] ?? OPERATOR_ROUTES[name])?.(
      story,
    ).entries() ?? []) {
      const { text } = await ask(route.method, name === "get " ? BASE : `${BASE}/${world}${path}`, more);
      totals.outputs++;
      answers.set(`${name} ${i} ${path}`, text.replaceAll(once, "-"));
      noteLeaks(totals, `${label}: ${name} for ${viewer}`, hidden, text, path);
      if (about === null) nothing = text;
      const isHidden = typeof about === "string" && (hidden.includes(about) || isHiddenEntry(story, about, viewer));
      if (isHidden && text !== nothing) totals.leaks.push(`${label}: ${name}: ${about} is not as if it did not exist`);
    }
  }
  const page = answers.get("get /:id/projection 0 /projection") ?? "";
  if (!page.includes(story.last_line)) totals.leaks.push(`${label}: the projection of ${viewer} shows nothing`);
  const health = await ask("get", "/api/health");
  answers.set("get health", health.text);
  noteLeaks(totals, `${label}: the health`, allWords(story), health.text);
  for (const [method, path] of CLOSED) {
    const { status } = await ask(method, path, method === "post" ? { body: { world, viewer: "ANA" } } : {});
    if (status !== 403) totals.leaks.push(`${label}: ${path} answers a viewer with ${status}`);
  }
  return answers;
}

const CLOSED = [
  ["get", "/api/metrics"],
  ["delete", "/api/session/r0"],
  ["post", "/api/session/link"],
  ["post", "/api/operations/studio.sessions"],
  ["get", "/api/events"],
  ["post", "/api/tasks"],
  ["get", "/api/tasks/r0"],
  ["get", "/api/runs/r0/output"],
  ["get", "/api/runs/r0/files/agent/run.json"],
  ["post", "/api/operations/world.projection"],
  ["post", "/api/operations/ledger.export"],
  ["post", "/mcp"],
] as const;

function isHiddenEntry(story: Story, id: string, viewer: string): boolean {
  return story.audiences.get(id)?.has(viewer) === false;
}

const allWords = ({ secrets }: Story): string[] => secrets.map(({ word }) => word);

/** Whoever has no token, or one of another world, learns nothing: not even whether there is such a world. */
export async function askAsStranger(
  surface: CanarySurface,
  stranger: string,
  world: string,
  label: string,
  totals: Totals,
): Promise<void> {
  for (const { method, path } of surface.routes) {
    if (!path.includes(":id")) continue;
    const at = (id: string): string => path.replace(":id", id).replaceAll(/:\w+/g, "r0");
    const here = await surface.ask(method, at(world), { token: stranger });
    const nowhere = await surface.ask(method, at("w_nowhere"), { token: stranger });
    totals.outputs += 2;
    if (here.text.replaceAll(world, "w_nowhere") !== nowhere.text || here.status !== 404)
      totals.leaks.push(`${label}: ${method} ${path} tells a stranger of the world: ${here.text.slice(0, 200)}`);
    const { status } = await surface.ask(method, at(world));
    if (status !== 401) totals.leaks.push(`${label}: ${method} ${path} answers without a token: ${status}`);
  }
}

/** What does not depend on who asks has no secret in it, and the measured figures no name either. */
export async function askAsOwner(
  surface: CanarySurface,
  secrets: readonly string[],
  titles: readonly string[],
  totals: Totals,
): Promise<void> {
  const fixed = Object.entries(OTHER_ROUTES).filter(([, kind]) => kind === "fixed" || kind === "open");
  for (const [route] of fixed) {
    const { status, text } = await surface.ask("get", route.slice("GET ".length), { token: OWNER_TOKEN });
    totals.outputs++;
    if (status !== 200) totals.leaks.push(`${route} answers with ${status}`);
    noteLeaks(totals, route, secrets, text);
  }
  const { status, text } = await surface.ask("get", "/api/metrics", { token: OWNER_TOKEN });
  totals.outputs++;
  if (status !== 200 || !text.includes("verbatim_world_sse_clients")) totals.leaks.push("there are no metrics");
  noteLeaks(totals, "the metrics", [...secrets, ...titles, ...EVERYBODY], text);
}
