import type { Hono } from "hono";
import type { App } from "../../app/call.ts";
import { requireOwner } from "./access/caller.ts";
import type { Variables } from "./worlds/world-router.ts";

/** Entries a piece, so that a long export costs few steps. */
const LINES_A_PIECE = 256;

/** The ledger as canonical JSON Lines, whole or one stream of it. For the owner. */
export function addLedgerRoutes(hono: Hono<{ Variables: Variables }>, app: App): void {
  hono.get("/api/ledger/export", async (call) => {
    requireOwner(call.get("caller"));
    const stream = call.req.query("stream");
    const lines = app.lines("ledger.export", stream === undefined ? {} : { stream });
    // The first line is read before anything is answered, so that a refusal is one.
    let next = await lines.next();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const part: string[] = [];
        for (; next.done !== true && part.length < LINES_A_PIECE; next = await lines.next())
          part.push(`${next.value}\n`);
        if (part.length > 0) controller.enqueue(new TextEncoder().encode(part.join("")));
        if (next.done === true) controller.close();
      },
      cancel: async () => void (await lines.return(undefined)),
    });
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Disposition": 'attachment; filename="ledger.jsonl"',
    };
    return call.body(body, 200, headers);
  });
}
