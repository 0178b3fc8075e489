import type { Hono } from "hono";
import { z } from "zod";
import type { Starting } from "../../../app/compose/compose.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { type Caller, requireOwner } from "../access/caller.ts";
import { readInput } from "../body.ts";
import type { Variables } from "../worlds/world-router.ts";
import type { Events } from "./events.ts";
import type { Tasks } from "./tasks.ts";

const ASKED = z.strictObject({
  operation: z.string().max(100),
  input: z.record(z.string(), z.unknown()).default({}),
  key: z.string().regex(/^[\x21-\x7e]{1,128}$/),
});

/** Long calls: begun here, looked at and cancelled by their id. For the owner. */
export function addTaskRoutes(
  hono: Hono<{ Variables: Variables }>,
  tasks: Tasks,
  startingOf: (caller: Caller) => Starting,
  /** Refuses, by throwing, what this server does for nobody. */
  requireOffered: (operation: string) => void,
): void {
  hono.use("/api/tasks/*", async (call, next) => {
    requireOwner(call.get("caller"));
    await next();
  });
  hono.post("/api/tasks", async (call) => {
    const asked = ASKED.safeParse(await readInput(call));
    if (!asked.success) {
      throw new VerbatimError("INPUT_INVALID", {
        message:
          'the body is {"operation": NAME, "input": {...}, "key": KEY}, with a key of 1 to 128 printable characters',
        where: asked.error.issues[0]?.path.map((part) => `/${String(part)}`).join("") ?? "",
      });
    }
    const { operation, input, key } = asked.data;
    requireOffered(operation);
    return call.json(await tasks.start(operation, input, key, startingOf(call.get("caller"))), 202);
  });
  hono.get("/api/tasks/:task", (call) => call.json(tasks.view(call.req.param("task"))));
  hono.delete("/api/tasks/:task", (call) => call.json(tasks.cancel(call.req.param("task")), 202));
}

const EVENT_ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** What happens, as server-sent events for the owner. An id that cannot be one is as good as none. */
export function addEventRoute(hono: Hono<{ Variables: Variables }>, events: Events): void {
  hono.get("/api/events", (call) => {
    const caller = call.get("caller");
    requireOwner(caller);
    const id = call.req.header("last-event-id");
    const last = id !== undefined && EVENT_ID.test(id) ? Number(id) : null;
    const headers = { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" };
    return call.body(events.open(last, caller.session_id), 200, headers);
  });
}
