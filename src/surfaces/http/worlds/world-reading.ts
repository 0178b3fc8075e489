import type { App } from "../../../app/call.ts";
import { requireOwner } from "../access/caller.ts";
import type { WorldStreams } from "../live/stream.ts";
import {
  answerCall,
  type Call,
  dropAbsent,
  numberIn,
  readerIn,
  switchIn,
  viewerIn,
  type WorldRouter,
} from "./world-router.ts";

const STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** Routes that show something of a world, each as one viewer may see it, or to the owner only. */
export function addReadingRoutes(router: WorldRouter, streams: WorldStreams): void {
  router.route(
    "get",
    "",
    "Lists worlds.",
    { operation: "world.list", query: ["q", "order", "versions", "limit", "after"] },
    async (call) => listFor(router.app, call),
  );
  router.route("get", "/:id", "Shows a world.", { rightsOf: "world.show" }, async (call, world) =>
    showFor(router.app, call, world),
  );
  router.route(
    "get",
    "/:id/stream",
    "Follows a world as server-sent events.",
    { rightsOf: "world.projection", query: ["viewer", "after"] },
    async (call, world) => {
      await router.app.call("world.projection", dropAbsent({ world, viewer: viewerIn(call), limit: 1 }));
      const after = call.req.header("last-event-id") ?? call.req.query("after");
      const asked = { world, viewer: viewerIn(call), after, reader: readerIn(call) };
      return new Response(streams.open(asked, call.get("still")), { headers: STREAM_HEADERS });
    },
  );
  router.route(
    "get",
    "/:id/projection",
    "Shows a page of lines.",
    { operation: "world.projection", query: ["viewer", "after", "before", "around", "limit"] },
    async (call, world) => {
      const { after, before, around } = call.req.query();
      return router.answer(call, "world.projection", {
        world,
        viewer: viewerIn(call),
        after,
        before,
        around,
        limit: numberIn(call, "limit"),
        reader: readerIn(call),
      });
    },
  );
  router.route(
    "get",
    "/:id/entries/:entry",
    "Shows one entry.",
    { operation: "world.entry", query: ["viewer"] },
    async (call, world) =>
      router.answer(call, "world.entry", {
        world,
        viewer: viewerIn(call),
        entry_id: call.req.param("entry"),
        audience: call.get("caller").role === "owner",
      }),
  );
  router.route(
    "get",
    "/:id/search",
    "Searches for lines by words.",
    { operation: "world.search", query: ["viewer", "q", "person", "from", "to", "limit"] },
    async (call, world) => {
      const { q, person, from, to } = call.req.query();
      return router.answer(call, "world.search", {
        world,
        viewer: viewerIn(call),
        query: q ?? "",
        person,
        from,
        to,
        limit: numberIn(call, "limit"),
      });
    },
  );
  router.route(
    "get",
    "/:id/find",
    "Searches for lines by words, page by page.",
    { operation: "world.find", query: ["viewer", "q", "person", "from", "to", "limit", "after"] },
    async (call, world) => {
      const { q, person, from, to, after } = call.req.query();
      return router.answer(call, "world.find", {
        world,
        viewer: viewerIn(call),
        query: q ?? "",
        person,
        from,
        to,
        after,
        limit: numberIn(call, "limit"),
      });
    },
  );
  router.route(
    "get",
    "/:id/capsules/:person",
    "Quotes a person.",
    { operation: "world.capsule", query: ["viewer", "derived"] },
    async (call, world) =>
      router.answer(call, "world.capsule", {
        world,
        viewer: viewerIn(call),
        person: call.req.param("person"),
        derived: wantsNote(call),
      }),
  );
  router.route("get", "/:id/people", "Lists people.", { operation: "world.people" }, async (call, world) =>
    router.answer(call, "world.people", { world }),
  );
  router.route(
    "get",
    "/:id/pocket",
    "Shows clock, calendar and messages.",
    { operation: "world.pocket", query: ["viewer"] },
    async (call, world) => router.answer(call, "world.pocket", { world, viewer: viewerIn(call) }),
  );
  router.route(
    "get",
    "/:id/calls",
    "Lists model calls.",
    { operation: "world.calls", query: ["request_id", "limit"] },
    async (call, world) =>
      router.answer(call, "world.calls", {
        world,
        request_id: call.req.query("request_id"),
        limit: numberIn(call, "limit"),
      }),
  );
  router.route("get", "/:id/calls/:call", "Shows a model call.", { operation: "world.call" }, async (call, world) =>
    router.answer(call, "world.call", { world, call_id: call.req.param("call") }),
  );
}

/** A note costs a model call, so only the owner can ask for one. */
function wantsNote(call: Call): boolean {
  if (!switchIn(call, "derived")) return false;
  requireOwner(call.get("caller"));
  return true;
}

/** Nobody learns of a world they have no right to. */
async function listFor(app: App, call: Call): Promise<Response> {
  const { role, world_id, viewer } = call.get("caller");
  const { q, after, order } = call.req.query();
  const asked = { q, after, order, versions: switchIn(call, "versions"), limit: numberIn(call, "limit") };
  if (role === "owner") return answerCall(call, app, "world.list", dropAbsent(asked));
  return answerCall(call, app, "world.list", dropAbsent({ ...asked, story: world_id, viewer, role: readerIn(call) }));
}

/** Counts and positions tell what is hidden, so only the owner sees them. */
async function showFor(app: App, call: Call, world: string): Promise<Response> {
  const shown = await app.call("world.show", { world });
  if (call.get("caller").role === "owner") return call.json(shown);
  const { settings, people, world_time, timezone, paused, story_id, kept_world_id, writer } = shown;
  const { title, operator_id, operator_name, pocket } = settings;
  const clock = pocket.clock_hidden ? {} : { world_time, timezone, paused };
  return call.json({
    world_id: world,
    title,
    operator_id,
    operator_name,
    people,
    story_id,
    kept_world_id,
    writer,
    ...clock,
  });
}
