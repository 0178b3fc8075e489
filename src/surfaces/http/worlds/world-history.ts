import type { App } from "../../../app/call.ts";
import { requireOwner } from "../access/caller.ts";
import { readInput, readUpload } from "../body.ts";
import { type Call, dropAbsent, keyOf, switchIn, viewerIn, type WorldRouter, wordIn } from "./world-router.ts";

const IMPORT_QUERY = ["lore", "enter", "macros", "greeting", "rules"] as const;

/** Routes about the whole of a world: forks, files and verification. */
export function addHistoryRoutes(router: WorldRouter): void {
  router.route("post", "/:id/fork", "Forks a world.", { operation: "world.fork" }, async (call, world) => {
    return router.answer(call, "world.fork", { ...(await readInput(call)), world, key: keyOf(call) });
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
    "Makes a world of an export, a card, a lorebook or a chat.",
    { operation: "world.import-bytes", query: ["as", "title", "preview", ...IMPORT_QUERY] },
    async (call) => {
      const base64 = Buffer.from(await readUpload(call)).toString("base64");
      const { as, title } = call.req.query();
      return router.answer(call, "world.import-bytes", { new: true, base64, as, title, ...importOptions(call) });
    },
  );
  router.route(
    "post",
    "/:id/imports",
    "Imports a card, lorebook or chat, or shows what it would write.",
    { operation: "world.import-bytes", query: ["preview", "again", "person", ...IMPORT_QUERY] },
    async (call, world) => {
      const base64 = Buffer.from(await readUpload(call)).toString("base64");
      return router.answer(call, "world.import-bytes", { world, base64, ...importOptions(call) });
    },
  );
  router.route("get", "/:id/verify", "Checks a world.", { rightsOf: "world.verify" }, async (call, world) => {
    const report = await router.app.call("world.verify", { world });
    return call.json(call.get("caller").role === "owner" ? report : { ok: report.ok });
  });
}

function importOptions(call: Call) {
  return {
    key: keyOf(call),
    preview: switchIn(call, "preview"),
    lore: call.req.query("lore"),
    no_enter: wordIn(call, "enter", ["true", "false"]) === "false",
    keep_macros: wordIn(call, "macros", ["expand", "keep"]) === "keep",
    greeting: call.req.query("greeting"),
    person: call.req.query("person"),
    again: switchIn(call, "again"),
    import_rules: call.req.query("rules"),
  };
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
