import { readInput } from "../body.ts";
import { keyOf, senderIn, type WorldRouter } from "./world-router.ts";

/** Routes about versions of beats. */
export function addVersionRoutes(router: WorldRouter): void {
  router.route(
    "get",
    "/:id/versions",
    "Lists the versions of a beat.",
    { operation: "world.versions", query: ["of"] },
    async (call, world) =>
      router.answer(call, "world.versions", { world, of: call.req.query("of"), ...senderIn(call) }),
  );
  router.route(
    "post",
    "/:id/versions",
    "Lives a beat again in a world of its own.",
    { operation: "world.version-make" },
    async (call, world) =>
      router.answer(call, "world.version-make", { ...(await readInput(call)), world, ...senderIn(call) }, 201),
  );
  router.route("put", "/:id/kept", "Keeps a version.", { operation: "world.keep" }, async (call, world) =>
    router.answer(call, "world.keep", { ...(await readInput(call)), world, key: keyOf(call) }),
  );
  router.route(
    "post",
    "/:id/entries/:entry/edit",
    "Lives a beat again with another text in one of its lines.",
    { operation: "world.edit" },
    async (call, world) => {
      const entry_id = call.req.param("entry");
      return router.answer(call, "world.edit", { ...(await readInput(call)), world, entry_id, ...senderIn(call) }, 201);
    },
  );
}
