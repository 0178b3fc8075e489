import { readInput, readStrict } from "../body.ts";
import { numberIn, senderIn, switchIn, viewerIn, type WorldRouter } from "./world-router.ts";

const ENVELOPE_LIMIT = 512 * 1024;

/** Routes for playing: what happened, what would happen, and what fits. */
export function addPlayRoutes(router: WorldRouter): void {
  router.route(
    "get",
    "/:id/beats",
    "Lists beats.",
    { operation: "world.beats", query: ["speaker", "limit", "after"] },
    async (call, world) => {
      const { speaker, after } = call.req.query();
      const limit = numberIn(call, "limit");
      return router.answer(call, "world.beats", { world, speaker, after, limit, ...senderIn(call) });
    },
  );
  router.route(
    "get",
    "/:id/calendar",
    "Lists calendar items with their ids.",
    { operation: "world.calendar", query: ["viewer", "all"] },
    async (call, world) =>
      router.answer(call, "world.calendar", { world, viewer: viewerIn(call), all: switchIn(call, "all") }),
  );
  router.route(
    "get",
    "/:id/messages",
    "Lists messages with their ids.",
    { operation: "world.messages", query: ["viewer", "limit", "after"] },
    async (call, world) =>
      router.answer(call, "world.messages", {
        world,
        viewer: viewerIn(call),
        limit: numberIn(call, "limit"),
        after: call.req.query("after"),
      }),
  );
  router.route(
    "get",
    "/:id/time/preview",
    "Shows what a declaration of time would do.",
    { operation: "world.time-preview", query: ["viewer", "at", "timezone", "pause"] },
    async (call, world) => {
      const { at, timezone } = call.req.query();
      const pause = call.req.query("pause") === undefined ? undefined : switchIn(call, "pause");
      return router.answer(call, "world.time-preview", { world, viewer: viewerIn(call), at, timezone, pause });
    },
  );
  router.route("post", "/:id/count", "Counts a text.", { operation: "world.count" }, async (call, world) =>
    router.answer(call, "world.count", { ...(await readInput(call)), world }),
  );
  router.route(
    "post",
    "/:id/preview",
    "Shows what the writers of an invocation would be sent.",
    { operation: "world.preview", query: ["messages"] },
    async (call, world) =>
      router.answer(call, "world.preview", {
        world,
        envelope: await readStrict(call, ENVELOPE_LIMIT),
        messages: switchIn(call, "messages"),
      }),
  );
  router.route(
    "post",
    "/writer/test",
    "Tries a writer that no world has yet.",
    { operation: "world.writer-test" },
    async (call) => router.answer(call, "world.writer-test", { writer: {}, ...(await readInput(call)) }),
  );
  router.route(
    "post",
    "/:id/writer/test",
    "Tries the writer of a world, or another one of its casting.",
    { operation: "world.writer-test" },
    async (call, world) => router.answer(call, "world.writer-test", { ...(await readInput(call)), world }),
  );
  router.route(
    "post",
    "/writer/models",
    "Lists the models of a provider.",
    { operation: "world.writer-models" },
    async (call) => router.answer(call, "world.writer-models", { writer: await readInput(call) }),
  );
}
