import { Hono } from "hono";
import type { App } from "../../src/app/app-type.ts";
import type { Operation } from "../../src/core/operation.ts";
import { WORLD_OPERATIONS, type WorldRoom } from "../../src/rooms/world/operations/index.ts";
import { toErrorBody } from "../../src/surfaces/http/failure.ts";
import { WorldStreams } from "../../src/surfaces/http/stream.ts";
import { type Variables, type WorldRoute, worldRoutes } from "../../src/surfaces/http/worlds.ts";
import { findHidden, noteLeaks, type Totals } from "./world-canary-reads.ts";
import { EVERYBODY, type Story } from "./world-canary-story.ts";

type Paths = (story: Story) => readonly string[];

/** How every route that a viewer's token opens is driven; a route that is not here fails the canary. */
const VIEWER_ROUTES: Readonly<Record<string, Paths>> = {
  "get ": () => [""],
  "get /:id": () => [""],
  // Live, from the beginning of the story on: see `watchRoutes`.
  "get /:id/stream": () => [],
  "get /:id/projection": ({ cursors }) => [
    "/projection",
    "/projection?limit=2",
    ...cursors.flatMap((cursor) => [`/projection?after=${cursor}`, `/projection?before=${cursor}`]),
  ],
  "get /:id/entries/:entry": ({ entryIds }) => entryIds.map((id) => `/entries/${id}`),
  "get /:id/search": ({ secrets }) => [
    ...secrets.map(({ word }) => `/search?q=${word}`),
    "/search?q=the+harbour+boat&limit=20",
    "/search?q=&from=2020-01-01T00:00Z&limit=20",
  ],
  "get /:id/capsules/:person": () => EVERYBODY.map((person) => `/capsules/${person}`),
  "get /:id/people": () => ["/people"],
  "get /:id/pocket": () => ["/pocket"],
  "get /:id/export": () => ["/export?kind=viewer", "/export"],
  "get /:id/verify": () => ["/verify"],
};

/** Routes for others than viewers; a viewer's token is refused at each before anything is looked at. */
const CLOSED_ROUTES: ReadonlySet<string> = new Set([
  "owner post ",
  "owner patch /:id/settings",
  "operator post /:id/invocations",
  "operator get /:id/invocations/:request",
  "operator delete /:id/invocations/:request",
  "owner post /:id/people",
  "owner patch /:id/people/:person",
  "owner post /:id/people/:person/tokens",
  "operator put /:id/presence",
  "operator post /:id/scene",
  "operator post /:id/pocket/calendar",
  "operator post /:id/pocket/calendar/:item/close",
  "operator post /:id/pocket/messages",
  "owner get /:id/calls",
  "owner get /:id/calls/:call",
  "owner post /:id/fork",
  "owner post /import",
  "owner post /:id/imports",
]);

const nameOf = ({ method, path }: WorldRoute): string => `${method} ${path.replace("/api/worlds", "")}`;

/** Routes that the canary does not know, or that are open to more than it believes. */
export function findUndrivenRoutes(routes: readonly WorldRoute[]): string[] {
  return routes
    .filter((route) =>
      route.who === "viewer" ? !(nameOf(route) in VIEWER_ROUTES) : !CLOSED_ROUTES.has(`${route.who} ${nameOf(route)}`),
    )
    .map((route) => `${route.who} ${nameOf(route)}`);
}

/** Listens to the server-sent events of a viewer while a story is told, and then asks at every route. */
export interface Watch {
  /** Ends when the viewer's stream has shown a text. */
  until(text: string): Promise<void>;
  finish(story: Story, label: string, totals: Totals): Promise<void>;
}

/** The routes of HTTP on a room, as the holder of a viewer's token of one world meets them. */
export function watchRoutes(room: WorldRoom, world: string, viewer: string): Watch {
  const app = toApp(room);
  const streams = new WorldStreams(app);
  const { hono: worlds, routes } = worldRoutes(app, streams);
  const hono = new Hono<{ Variables: Variables }>();
  let count = 0;
  let logged = "";
  hono.onError((thrown, call) => {
    logged += `${thrown.stack ?? thrown.message}\n`;
    const { status, body } = toErrorBody(thrown);
    return call.json(body, status as 500);
  });
  hono.use(async (call, next) => {
    // Every request counts as somebody else's: how often one may ask is not the matter here.
    call.set("caller", { role: "viewer", world_id: world, viewer, counted_as: `${viewer} ${count++}` });
    await next();
  });
  hono.route("/api/worlds", worlds);
  const ask = async (method: string, path: string): Promise<{ status: number; text: string }> => {
    const response = await hono.request(`/api/worlds${path}`, { method: method.toUpperCase() });
    return { status: response.status, text: `${response.status} ${await response.text()}` };
  };
  const stream = listen(streams.open({ world, viewer, after: undefined, status: false }));
  return {
    until: (text) => stream.until(text),
    async finish(story, label, totals) {
      await stream.cancel();
      await streams.close();
      const hidden = findHidden(story, viewer);
      noteLeaks(totals, `${label}: server-sent events of ${viewer}`, hidden, stream.text());
      for (const route of routes) {
        const name = nameOf(route);
        if (route.who !== "viewer") {
          const path = name.slice(route.method.length + 1).replace(":id", world);
          const { status, text } = await ask(route.method, path.replaceAll(/:\w+/g, "r0"));
          if (status !== 403) totals.leaks.push(`${label}: ${name} answers a viewer with ${text.slice(0, 80)}`);
          continue;
        }
        for (const path of VIEWER_ROUTES[name]?.(story) ?? []) {
          const { text } = await ask(route.method, name === "get " ? "" : `/${world}${path}`);
          totals.outputs++;
          noteLeaks(totals, `${label}: ${name} for ${viewer}`, hidden, text, path);
        }
      }
      noteLeaks(totals, `${label}: the log`, hidden, logged);
    },
  };
}

/** What the routes need of an app, on the operations of this room alone. */
function toApp(room: WorldRoom): App {
  const find = (name: string): Operation<WorldRoom> =>
    (WORLD_OPERATIONS as readonly unknown[] as readonly Operation<WorldRoom>[]).find((one) => one.name === name)!;
  return {
    call: async (name: string, input: unknown) => find(name).run(room, find(name).input.parse(input) as never),
    lines: (name: string, input: unknown) => find(name).lines!(room, find(name).input.parse(input) as never),
  } as unknown as App;
}

function listen(stream: ReadableStream<Uint8Array>): {
  until(text: string): Promise<void>;
  text(): string;
  cancel(): Promise<void>;
} {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let seen = "";
  const readOn = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    if (value !== undefined) seen += decoder.decode(value, { stream: true });
    return done;
  };
  return {
    async until(text) {
      while (!seen.includes(text)) if (await readOn()) throw new Error(`the stream ended before ${text}`);
    },
    text: () => seen,
    cancel: () => reader.cancel(),
  };
}
