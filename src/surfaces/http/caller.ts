import type { App } from "../../app/call.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { type Who, WORLD_ROLES } from "../../core/operation.ts";
import { bearerOf, hashToken, isSameToken } from "./access.ts";
import type { Sessions } from "./sessions.ts";

/** Who is asking: the owner of the installation, or the holder of a token of one world. */
export interface Caller {
  readonly role: "owner" | "operator" | "viewer";
  readonly world_id: string | null;
  readonly viewer: string | null;
  /** Under which requests are counted; null where nobody counts. */
  readonly counted_as: string | null;
  /** Public id of the session that asks; null for a token. */
  readonly session_id: string | null;
}

/** Whoever owns the installation. */
export const OWNER: Caller = { role: "owner", world_id: null, viewer: null, counted_as: null, session_id: null };

/** Says who is asking. Nobody is let in without a token, unless the owner chose to have none. */
export class Callers {
  readonly #app: App;
  readonly #ownerToken: string | null;
  readonly #sessions: Sessions;

  constructor(app: App, ownerToken: string | null, sessions: Sessions) {
    this.#app = app;
    this.#ownerToken = ownerToken;
    this.#sessions = sessions;
  }

  async identify(authorization: string | undefined): Promise<Caller> {
    if (authorization === undefined && this.#ownerToken === null) return OWNER;
    const token = bearerOf(authorization);
    if (token === undefined) throw new VerbatimError("AUTH_REQUIRED");
    const session = this.#sessions.find(token);
    if (session === null) return await this.identifyToken(token);
    const { id, caller } = session;
    // A world's token may have been revoked since.
    const now = caller.role === "owner" ? caller : await this.#identifyHash(caller.counted_as!);
    return { ...now, session_id: id };
  }

  /** Whose token it is: the owner's or one of a world. AUTH_REQUIRED for any other. */
  async identifyToken(token: string): Promise<Caller> {
    if (this.#ownerToken !== null && isSameToken(token, this.#ownerToken)) {
      return { ...OWNER, counted_as: "owner" };
    }
    return await this.#identifyHash(hashToken(token).toString("hex"));
  }

  async #identifyHash(hash: string): Promise<Caller> {
    const found = await this.#app.call("world.authorize", { token_sha256: hash });
    const { role } = found;
    if (role !== "operator" && role !== "viewer") throw new VerbatimError("AUTH_REQUIRED");
    return { ...found, role, counted_as: hash, session_id: null };
  }
}

/** A caller may touch a world at all; otherwise it is as if there were none. */
export function requireWorld(caller: Caller, worldId: string): void {
  if (caller.role !== "owner" && caller.world_id !== worldId)
    throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
}

/**
 * Whether somebody may call an operation: the owner whatever a role of the workspace may, the holder of a world's token what
 * a role in that world may. Which world it is about is checked by `requireWorld`.
 */
export function requireRight({ role }: Caller, { world }: Who): void {
  if (role === "owner") return;
  if (world === undefined) throw new VerbatimError("OWNER_ONLY");
  if (WORLD_ROLES.indexOf(role) < WORLD_ROLES.indexOf(world)) throw new VerbatimError("OPERATOR_ONLY");
}

export function requireOwner(caller: Caller): void {
  if (caller.role !== "owner") throw new VerbatimError("OWNER_ONLY");
}

/** As whom is read: what an owner asks for, or whom the token belongs to. */
export function viewerOf(caller: Caller, asked: string | undefined): string | undefined {
  if (caller.role === "owner") return asked;
  if (asked !== undefined && asked !== caller.viewer) throw new VerbatimError("VIEWER_DENIED", { where: "/viewer" });
  return caller.viewer ?? undefined;
}
