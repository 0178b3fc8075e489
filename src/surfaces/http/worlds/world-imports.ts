import { readUpload } from "../body.ts";
import { type Call, keyOf, numberOf, switchIn, type WorldRouter } from "./world-router.ts";

const PROFILE_LIMIT = 256 * 1024 * 1024;

/** Routes about files that were imported, and about pictures. */
export function addImportRoutes(router: WorldRouter): void {
  router.route(
    "post",
    "/import-profile",
    "Makes a world of every chat of a profile.",
    { operation: "world.import-profile", query: ["preview"] },
    async (call) => {
      const base64 = Buffer.from(await readUpload(call, PROFILE_LIMIT)).toString("base64");
      return router.answer(call, "world.import-profile", { base64, preview: switchIn(call, "preview") });
    },
  );
  router.route("get", "/:id/imports", "Lists imported files.", { operation: "world.imports" }, async (call, world) =>
    router.answer(call, "world.imports", { world }),
  );
  router.route(
    "get",
    "/:id/imports/:number",
    "Shows an import.",
    { operation: "world.import-show" },
    async (call, world) => router.answer(call, "world.import-show", { world, number: numberOf(call, "number") }),
  );
  router.route(
    "get",
    "/:id/imports/:number/original",
    "Gives the file of an import back.",
    { rightsOf: "world.import-original" },
    async (call, world) => {
      const input = { world, number: numberOf(call, "number") };
      const { base64, sha256 } = await router.app.call("world.import-original", input);
      // Whatever the file is, it is never shown as a page of this server.
      return new Response(Buffer.from(base64!, "base64"), {
        headers: {
          "Content-Type": "application/octet-stream",
          "Content-Disposition": `attachment; filename="${sha256}"`,
          ETag: `"${sha256}"`,
        },
      });
    },
  );
  router.route(
    "get",
    "/:id/entries/:entry/swipes",
    "Shows the other texts of an imported line.",
    { operation: "world.swipes" },
    async (call, world) => router.answer(call, "world.swipes", { world, entry_id: call.req.param("entry") }),
  );
  router.route(
    "get",
    "/:id/people/:person/avatar",
    "Shows the picture of a person.",
    { rightsOf: "world.avatar" },
    async (call, world) => {
      const input = { world, person_id: call.req.param("person") ?? "" };
      const { base64, sha256, media_type } = await router.app.call("world.avatar", input);
      const headers = { ETag: `"${sha256}"`, "Cache-Control": "private, no-cache" };
      if (isKnown(call, sha256)) return new Response(null, { status: 304, headers });
      return new Response(Buffer.from(base64!, "base64"), { headers: { ...headers, "Content-Type": media_type } });
    },
  );
  router.route(
    "put",
    "/:id/people/:person/avatar",
    "Gives a person a picture.",
    { operation: "world.avatar-set" },
    async (call, world) => {
      const base64 = Buffer.from(await readUpload(call)).toString("base64");
      const person_id = call.req.param("person");
      return router.answer(call, "world.avatar-set", { world, person_id, base64, key: keyOf(call) });
    },
  );
  router.route(
    "delete",
    "/:id/people/:person/avatar",
    "Takes the picture of a person away.",
    { operation: "world.avatar-remove" },
    async (call, world) =>
      router.answer(call, "world.avatar-remove", { world, person_id: call.req.param("person"), key: keyOf(call) }),
  );
}

function isKnown(call: Call, sha256: string): boolean {
  return call.req.header("if-none-match")?.includes(`"${sha256}"`) === true;
}
