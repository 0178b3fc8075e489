import type { Hono } from "hono";
import { z } from "zod";
import { VerbatimError } from "../../core/errors/index.ts";
import { readInput } from "./body.ts";
import { requireOwner } from "./caller.ts";
import type { Tasks } from "./tasks.ts";
import type { Variables } from "./world-router.ts";

const ASKED = z.strictObject({
  operation: z.string().max(100),
  input: z.record(z.string(), z.unknown()).default({}),
  key: z.string().regex(/^[\x21-\x7e]{1,128}$/),
});

/** Long calls: begun here, looked at and cancelled by their id. For the owner. */
export function addTaskRoutes(hono: Hono<{ Variables: Variables }>, tasks: Tasks): void {
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
    return call.json(await tasks.start(operation, input, key), 202);
  });
  hono.get("/api/tasks/:task", (call) => call.json(tasks.view(call.req.param("task"))));
  hono.delete("/api/tasks/:task", (call) => call.json(tasks.cancel(call.req.param("task")), 202));
}
