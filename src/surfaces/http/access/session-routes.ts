import type { Context, Hono } from "hono";
import { z } from "zod";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { readInput } from "../body.ts";
import { refuseForms } from "../body-type.ts";
import type { Variables } from "../worlds/world-router.ts";
import { type Caller, type Callers, OWNER, requireOwner } from "./caller.ts";
import { requireOwnSite } from "./host-check.ts";
import { type Sessions, toLabel } from "./sessions.ts";

const GIVEN = z.union([z.strictObject({ code: z.string().max(512) }), z.strictObject({ token: z.string().max(512) })]);

const WRONG_A_MINUTE = 5;

/** Opens sessions for links and tokens, and ends them. The first is the one route under /api that asks for no token. */
export function addSessionRoutes(hono: Hono<{ Variables: Variables }>, callers: Callers, sessions: Sessions): void {
  const guesses = new Guesses();
  hono.post("/api/session", async (call) => {
    requireOwnSite(call.req.header("sec-fetch-site"));
    refuseForms(call.req.raw.headers);
    const given = GIVEN.safeParse(await readInput(call));
    if (!given.success) {
      throw new VerbatimError("INPUT_INVALID", {
        message: 'the body is {"code": CODE} or {"token": TOKEN}',
        where: "",
      });
    }
    const label = toLabel(call.req.header("user-agent"));
    const { secret, session } =
      "code" in given.data
        ? sessions.exchange(given.data.code, label, OWNER)
        : sessions.open(label, await guesses.count(callers.identifyToken(given.data.token)), "token");
    const { role, world_id, viewer } = session.caller;
    return call.json({ session: secret, id: session.id, role, world_id, viewer, expires_at: sessions.endsAt(session) });
  });
}

/** For callers who are known already. A link is made for the owner alone, to open a session in another browser. */
export function addSessionEndRoutes(hono: Hono<{ Variables: Variables }>, sessions: Sessions): void {
  hono.post("/api/session/link", (call) => {
    const caller = call.get("caller");
    requireOwner(caller);
    return call.json({
      code: sessions.makeCode(sessions.openedBy(caller.session_id)),
      expires_at: sessions.linkEndsAt(),
    });
  });
  const end = (call: Context, id: string | null) => {
    if (id === null || !sessions.end(id)) throw new VerbatimError("SESSION_NOT_FOUND", { where: id ?? "" });
    return call.body(null, 204);
  };
  hono.delete("/api/session", (call) => end(call, call.get("caller").session_id));
  hono.delete("/api/session/:id", (call) => {
    requireOwner(call.get("caller"));
    return end(call, call.req.param("id"));
  });
}

/** Wrong tokens of the last minute. Links are not counted, so that nobody can lock the owner out. */
class Guesses {
  #wrong: number[] = [];

  async count(asked: Promise<Caller>): Promise<Caller> {
    const now = performance.now();
    this.#wrong = this.#wrong.filter((at) => now - at < 60_000);
    // What was asked is judged before anything is said, so that the wait tells nothing about the token.
    const judged = await asked.then(
      (caller) => ({ caller }),
      (thrown: unknown) => ({ thrown }),
    );
    if (this.#wrong.length >= WRONG_A_MINUTE) {
      const wait = Math.ceil((60_000 - (now - this.#wrong[0]!)) / 1000);
      throw new VerbatimError("RATE_LIMITED", {
        message: "too many wrong tokens were tried in the last minute",
        fix: `Wait ${Math.max(wait, 1)} s, or open a link from the terminal where the server runs.`,
        details: { retry_after_s: Math.max(wait, 1) },
      });
    }
    if ("caller" in judged) return judged.caller;
    this.#wrong.push(now);
    if (!isVerbatimError(judged.thrown) || judged.thrown.code !== "AUTH_REQUIRED") throw judged.thrown;
    throw new VerbatimError("AUTH_REQUIRED", {
      message: "this server does not know the token",
      where: "/token",
      fix: "Check that all of it was typed, or open a link from the terminal where the server runs.",
    });
  }
}
