import type { App } from "../../../app/call.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { type Who, WORKSPACE_ROLES, WORLD_ROLES } from "../../../core/operation.ts";
import { bearerOf, hashToken, isSameToken } from "./access.ts";
import type { Sessions } from "./sessions.ts";

/** Who is asking: the owner of the installation, somebody of a team, or the holder of a token of one world. */
export interface Caller {
  readonly role: "owner" | "reviewer" | "reader" | "operator" | "player" | "viewer";
  /** Name of a team's token. */
  readonly name?: string;
  readonly world_id: string | null;
  readonly viewer: string | null;
  /** Under which requests are counted; null where nobody counts. */
  readonly counted_as: string | null;
  /** Public id of the session that asks; null for a token. */
  readonly session_id: string | null;
}

const TEAM_TOKEN = /^vt_[0-9a-f]{64}$/;

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
    const now = caller.role === "owner" && caller.name === undefined ? caller : await this.#identifyAgain(caller);
    return { ...now, session_id: id };
  }

  /** Whether the same key is still good; where the store cannot say so just now, it is asked again later. */
  async stillKnows(authorization: string | undefined): Promise<boolean> {
    try {
      await this.identify(authorization);
      return true;
    } catch (thrown) {
      return !(isVerbatimError(thrown) && thrown.code === "AUTH_REQUIRED");
    }
  }

  /** Whose token it is: the owner's or one of a world. AUTH_REQUIRED for any other. */
  async identifyToken(token: string): Promise<Caller> {
    if (this.#ownerToken !== null && isSameToken(token, this.#ownerToken)) {
      return { ...OWNER, counted_as: "owner" };
    }
    const hash = hashToken(token).toString("hex");
    return TEAM_TOKEN.test(token) ? await this.#identifyMember(hash) : await this.#identifyHash(hash);
  }

  async #identifyAgain({ name, counted_as }: Caller): Promise<Caller> {
    return name === undefined ? await this.#identifyHash(counted_as!) : await this.#identifyMember(counted_as!);
  }

  /** Asked each time, so that a token which was revoked opens nothing from then on. */
  async #identifyMember(hash: string): Promise<Caller> {
    const { name, role } = await this.#app.call("team.authorize", { token_sha256: hash });
    if (name === null || role === null) throw new VerbatimError("AUTH_REQUIRED");
    return { role, name, world_id: null, viewer: null, counted_as: hash, session_id: null };
  }

  async #identifyHash(hash: string): Promise<Caller> {
    const found = await this.#app.call("world.authorize", { token_sha256: hash });
    const { role } = found;
    if (role !== "operator" && role !== "player" && role !== "viewer") throw new VerbatimError("AUTH_REQUIRED");
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
export function requireRight({ role }: Caller, { workspace, world }: Who): void {
  if (role === "owner") return;
  if (role === "reader" || role === "reviewer") {
    if (WORKSPACE_ROLES.indexOf(role) >= WORKSPACE_ROLES.indexOf(workspace)) return;
    throw new VerbatimError("ROLE_FORBIDDEN", { details: { role, needed: workspace } });
  }
  if (world === undefined) throw new VerbatimError("OWNER_ONLY");
  if (WORLD_ROLES.indexOf(role) < WORLD_ROLES.indexOf(world)) throw new VerbatimError("OPERATOR_ONLY");
}

export function requireOwner(caller: Caller): void {
  requireRight(caller, { workspace: "owner" });
}

/** As whom is read: what an owner asks for, or whom the token belongs to. */
export function viewerOf(caller: Caller, asked: string | undefined): string | undefined {
  if (caller.role === "owner") return asked;
  if (asked !== undefined && asked !== caller.viewer) throw new VerbatimError("VIEWER_DENIED", { where: "/viewer" });
  return caller.viewer ?? undefined;
}
