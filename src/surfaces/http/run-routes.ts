import type { Hono } from "hono";
import type { App } from "../../app/call.ts";
import type { Output } from "../../app/operations.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { requireOwner } from "./access/caller.ts";
import { packRun } from "./run-archive.ts";
import { dropAbsent, numberIn, type Variables } from "./worlds/world-router.ts";

const OCTETS = "application/octet-stream";

/** Bytes of runs: what was printed, from a position on, and the files of the record. For the owner. */
export function addRunRoutes(hono: Hono<{ Variables: Variables }>, app: App): void {
  hono.use("/api/runs/*", async (call, next) => {
    requireOwner(call.get("caller"));
    await next();
  });
  hono.get("/api/runs/:run/output", async (call) => {
    const input = dropAbsent({
      run: call.req.param("run"),
      of: call.req.query("of"),
      n: numberIn(call, "n"),
      from: numberIn(call, "from"),
      wait: numberIn(call, "wait"),
    });
    const { signal } = call.req.raw;
    const answer = (await app.callUnknown("agent.output", input, { signal })) as Output<"agent.output">;
    return call.body(fromBase64(answer.base64), 200, {
      "Content-Type": OCTETS,
      "Content-Disposition": "attachment",
      "Verbatim-First": String(answer.first),
      "Verbatim-Next": String(answer.next),
      "Verbatim-Size": String(answer.size),
      "Verbatim-Ended": String(answer.ended),
    });
  });
  hono.get("/api/runs/:run/files/*", async (call) => {
    const run = call.req.param("run");
    const path = pathIn(call.req.path);
    // The first part is read before anything is answered, so that a refusal is one.
    const first = await app.call("agent.artifact", { run, path });
    let part = first;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const bytes = fromBase64(part.base64);
        if (bytes.length > 0) controller.enqueue(bytes);
        // A file that grows is given as long as it was when somebody asked.
        if (bytes.length === 0 || part.next >= first.size) controller.close();
        else part = await app.call("agent.artifact", { run, path, from: part.next });
      },
    });
    return call.body(body, 200, { "Content-Type": OCTETS, "Content-Disposition": toAttachment(path) });
  });
  hono.get("/api/runs/:run/archive", async (call) => {
    const { name, body } = await packRun(app, call.req.param("run"));
    return call.body(body, 200, { "Content-Type": OCTETS, "Content-Disposition": toAttachment(name) });
  });
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "base64"));
}

const FILES = /^\/api\/runs\/[^/]+\/files\/(.+)$/;

/** The path behind `files/`, decoded once. */
function pathIn(address: string): string {
  const given = FILES.exec(address)?.[1] ?? "";
  try {
    return decodeURIComponent(given);
  } catch {
    throw new VerbatimError("INPUT_INVALID", { message: "the path is not percent-encoded text", where: "/path" });
  }
}

/** The last name of a path, without what a header or a folder of downloads could misunderstand. */
function toAttachment(path: string): string {
  const name = path
    .split("/")
    .at(-1)!
    .replace(/[^\w.-]/g, "_")
    .replace(/^\.+/, "_");
  return `attachment; filename="${name}"`;
}
