import { readInput, readStrict } from "../body.ts";
import { dropAbsent, keyOf, REPLAYED, senderIn, viewerIn, type WorldRouter, wordIn } from "./world-router.ts";

/** 65,536 bytes of text take up to six times as many in their longest spelling. */
const INVOCATION_LIMIT = 512 * 1024;

/** Routes that change a world. */
export function addWritingRoutes(router: WorldRouter): void {
  router.route("post", "", "Creates a world.", { operation: "world.new" }, async (call) =>
    router.answer(call, "world.new", { ...(await readInput(call)), key: keyOf(call) }, 201),
  );
  router.route(
    "patch",
    "/:id/settings",
    "Changes settings.",
    { operation: "world.settings-set" },
    async (call, world) =>
      router.answer(call, "world.settings-set", { world, settings: await readInput(call), key: keyOf(call) }),
  );
  router.route(
    "post",
    "/:id/invocations",
    "Runs an invocation envelope.",
    { rightsOf: "world.invoke", query: ["speaker", "corrects", "writer"] },
    async (call, world) => {
      const { speaker, corrects } = call.req.query();
      const envelope = await readStrict(call, INVOCATION_LIMIT);
      const writer = call.req.query("writer") === undefined ? undefined : wordIn(call, "writer", ["on", "off"]);
      const wishes = dropAbsent({ speaker, corrects, writer });
      const done = await router.app.call("world.invoke", { world, envelope, ...wishes, ...senderIn(call) });
      const headers = { ...done.headers, ...(done.replayed ? REPLAYED : {}) };
      return call.body(done.body, 200, { "Content-Type": "application/json; charset=utf-8", ...headers });
    },
  );
  router.route(
    "get",
    "/:id/invocations/:request",
    "Shows the state of an invocation.",
    { operation: "world.invocation" },
    async (call, world) =>
      router.answer(call, "world.invocation", { world, request_id: call.req.param("request"), ...senderIn(call) }),
  );
  router.route(
    "delete",
    "/:id/invocations/:request",
    "Stops the writer of a running beat.",
    { operation: "world.stop" },
    async (call, world) =>
      router.answer(call, "world.stop", { world, request_id: call.req.param("request"), ...senderIn(call) }),
  );
  router.route("post", "/:id/people", "Adds a person.", { operation: "world.people-add" }, async (call, world) =>
    router.answer(call, "world.people-add", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
  router.route(
    "patch",
    "/:id/people/:person",
    "Renames a person.",
    { operation: "world.people-name" },
    async (call, world) =>
      router.answer(call, "world.people-name", {
        ...(await readInput(call)),
        world,
        person_id: call.req.param("person"),
        key: keyOf(call),
      }),
  );
  router.route(
    "post",
    "/:id/people/:person/tokens",
    "Creates a token for a person, shown only once.",
    { operation: "world.people-token" },
    async (call, world) => router.answer(call, "world.people-token", { world, person_id: call.req.param("person") }),
  );
  router.route("get", "/:id/tokens", "Lists tokens.", { operation: "world.tokens" }, async (call, world) =>
    router.answer(call, "world.tokens", { world }),
  );
  router.route("post", "/:id/tokens", "Creates a token.", { operation: "world.token-make" }, async (call, world) =>
    router.answer(call, "world.token-make", { ...(await readInput(call)), world }, 201),
  );
  router.route(
    "delete",
    "/:id/tokens/:token",
    "Takes a token back.",
    { operation: "world.token-revoke" },
    async (call, world) => router.answer(call, "world.token-revoke", { world, token_id: call.req.param("token") }),
  );
  router.route("put", "/:id/presence", "Sets who is present.", { operation: "world.presence" }, async (call, world) =>
    router.answer(call, "world.presence", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
  router.route("post", "/:id/scene", "Starts the next scene.", { operation: "world.scene" }, async (call, world) =>
    router.answer(call, "world.scene", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
  router.route("put", "/:id/turn", "Says whose turn it is.", { operation: "world.turn-set" }, async (call, world) =>
    router.answer(call, "world.turn-set", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
  router.route(
    "post",
    "/:id/pocket/calendar",
    "Adds a calendar item.",
    { operation: "world.calendar-add" },
    async (call, world) =>
      router.answer(call, "world.calendar-add", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
  router.route(
    "post",
    "/:id/pocket/calendar/:item/close",
    "Closes a calendar item.",
    { operation: "world.calendar-close" },
    async (call, world) =>
      router.answer(call, "world.calendar-close", {
        world,
        item_id: call.req.param("item"),
        viewer: viewerIn(call),
        key: keyOf(call),
      }),
  );
  router.route(
    "post",
    "/:id/pocket/messages",
    "Sends a message.",
    { operation: "world.message-add" },
    async (call, world) =>
      router.answer(call, "world.message-add", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
}
