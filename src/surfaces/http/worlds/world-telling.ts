import { readInput } from "../body.ts";
import { keyOf, viewerIn, type WorldRouter } from "./world-router.ts";

/** Routes about what writers are told besides what was lived. */
export function addTellingRoutes(router: WorldRouter): void {
  router.route(
    "get",
    "/:id/pins",
    "Lists pinned quotes.",
    { operation: "world.pins", query: ["viewer"] },
    async (call, world) => router.answer(call, "world.pins", { world, viewer: viewerIn(call) }),
  );
  router.route("post", "/:id/pins", "Pins a quote.", { operation: "world.pin" }, async (call, world) =>
    router.answer(
      call,
      "world.pin",
      { ...(await readInput(call)), world, viewer: viewerIn(call), key: keyOf(call) },
      201,
    ),
  );
  router.route("delete", "/:id/pins/:pin", "Takes a pin away.", { operation: "world.unpin" }, async (call, world) =>
    router.answer(call, "world.unpin", {
      world,
      pin_id: call.req.param("pin"),
      viewer: viewerIn(call),
      key: keyOf(call),
    }),
  );
  router.route("get", "/:id/lore", "Lists lore.", { operation: "world.lore" }, async (call, world) =>
    router.answer(call, "world.lore", { world }),
  );
  router.route(
    "get",
    "/:id/lore/:lore",
    "Shows a line of lore.",
    { operation: "world.lore-show" },
    async (call, world) => router.answer(call, "world.lore-show", { world, lore_id: call.req.param("lore") }),
  );
  router.route("put", "/:id/lore/:lore", "Sets a line of lore.", { operation: "world.lore-set" }, async (call, world) =>
    router.answer(call, "world.lore-set", {
      ...(await readInput(call)),
      world,
      lore_id: call.req.param("lore"),
      key: keyOf(call),
    }),
  );
  router.route(
    "put",
    "/:id/persona",
    "Says whom the operator plays.",
    { operation: "world.persona" },
    async (call, world) =>
      router.answer(call, "world.persona", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
}
