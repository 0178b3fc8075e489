import type { App } from "../../app/call.ts";
import { readInput, readUpload } from "./body.ts";
import { requireOwner } from "./caller.ts";
import { dropAbsent, keyOf, switchIn, viewerIn, type WorldRouter, wordIn } from "./world-router.ts";

/** Routes about the whole of a world: forks, files and verification. */
export function addHistoryRoutes(router: WorldRouter): void {
  router.route("post", "/:id/fork", "Forks a world.", { operation: "world.fork" }, async (call, world) => {
    const { world_id, ...rest } = await readInput(call);
    return router.answer(call, "world.fork", { ...rest, id: world_id, world });
  });
  router.route(
    "get",
    "/:id/export",
    "Exports a world, or a viewer's part of it.",
    { rightsOf: "world.export", query: ["kind", "viewer"] },
    async (call, world) => {
      const kind = call.req.query("kind") ?? "full";
      if (kind === "full") requireOwner(call.get("caller"));
      return exportStream(router.app, { world, kind, viewer: viewerIn(call) });
    },
  );
  router.route(
    "post",
    "/import",
    "Imports an exported world.",
    { operation: "world.import-bytes", query: ["as", "preview"] },
    async (call) => {
      const base64 = Buffer.from(await readUpload(call)).toString("base64");
      const preview = switchIn(call, "preview");
      return router.answer(call, "world.import-bytes", { base64, as: call.req.query("as"), preview });
    },
  );
  router.route(
    "post",
    "/:id/imports",
    "Imports a card, lorebook or chat, or shows what it would write.",
    { operation: "world.import-bytes", query: ["preview", "lore", "enter", "macros"] },
    async (call, world) => {
      const base64 = Buffer.from(await readUpload(call)).toString("base64");
      const { lore } = call.req.query();
      const options = {
        key: keyOf(call),
        preview: switchIn(call, "preview"),
        lore,
        no_enter: wordIn(call, "enter", ["true", "false"]) === "false",
        keep_macros: wordIn(call, "macros", ["expand", "keep"]) === "keep",
      };
      return router.answer(call, "world.import-bytes", { world, base64, ...options });
    },
  );
  router.route("get", "/:id/verify", "Checks a world.", { rightsOf: "world.verify" }, async (call, world) => {
    const report = await router.app.call("world.verify", { world });
    return call.json(call.get("caller").role === "owner" ? report : { ok: report.ok });
  });
}

/** The file as it is made. What is refused is refused before the answer begins, with its own status. */
async function exportStream(
  app: App,
  input: { world: string; kind: string; viewer: string | undefined },
): Promise<Response> {
  const lines = app.lines("world.export", dropAbsent(input))[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let next = await lines.next();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next.done === true) {
        controller.close();
        return;
      }
      controller.enqueue(encoder.encode(`${next.value}\n`));
      next = await lines.next();
    },
    cancel: async () => void (await lines.return?.(undefined)),
  });
  return new Response(body, {
    headers: {
      "Content-Type": "application/jsonl",
      "Content-Disposition": `attachment; filename="${input.world}.vworld.jsonl"`,
    },
  });
}
