import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { formatTime } from "../../../core/time.ts";
import { refuse } from "../contracts/fields.ts";
import { type NewWorldRecord, WORLD_RECORDS } from "../contracts/records.ts";
import { storyOf, streamOf } from "../history/state.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import type { TokenRow } from "../ports.ts";
import { loadWorld } from "../projection/reading.ts";
import { unknownPerson } from "./people.ts";

export type TokenRole = "operator" | "player" | "viewer";

export interface NewToken {
  readonly person_id: string;
  /** Absent: the operator's for the operator, a viewer's for everybody else. */
  readonly role?: TokenRole | undefined;
  readonly label?: string | undefined;
  readonly expires_ms?: number | undefined;
}

export interface ShownToken {
  readonly token_id: string;
  readonly role: string;
  readonly viewer: string;
  readonly label: string | null;
  readonly made_at: string | null;
  /** A day, not a time. */
  readonly last_used_on: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

/** Makes a token of a story; it is shown once, and only its hash is stored. */
export async function makeToken(
  ports: WorldPorts,
  worldId: string,
  wanted: NewToken,
): Promise<{ readonly token: string; readonly token_id: string; readonly role: TokenRole; readonly viewer: string }> {
  const token = `vt_${toHex(ports.random.bytes(24))}`;
  const sha256 = ports.crypto.sha256(token);
  const token_id = toTokenId(sha256);
  const { person_id: viewer, label = null, expires_ms = null } = wanted;
  const now = ports.clock.now();
  if (expires_ms !== null && expires_ms <= now) refuse("FIELD_VALUE", "/expires_at", "is over already");
  const role = await ports.store.transact(async (tx) => {
    const { cast, state } = await loadWorld(tx.world, worldId);
    const isOperator = viewer === cast.operator_id;
    if (!isOperator && !cast.people.has(viewer)) throw unknownPerson(viewer, "/person_id");
    const kind = wanted.role ?? (isOperator ? "operator" : "viewer");
    if (kind === "operator" && !isOperator) refuse("FIELD_VALUE", "/role", `${viewer} is not the operator`);
    if (kind === "player" && isOperator) refuse("FIELD_VALUE", "/role", "a player plays a person");
    const story = storyOf(state);
    await append(ports, tx, story, "WORLD_TOKEN_MADE", { token_id, role: kind, viewer, label, expires_ms });
    const row = { sha256, role: kind, world_id: story, viewer, token_id, label, made_ms: now };
    await tx.world.addToken({ ...row, used_on: null, expires_ms, revoked_ms: null });
    return kind;
  });
  return { token, token_id, role, viewer };
}

/** What a token goes by where it is listed. */
function toTokenId(sha256: string): string {
  return `t_${sha256.slice(0, 16)}`;
}

/** The tokens of a story, the newest last. */
export async function listTokens(ports: WorldPorts, worldId: string): Promise<ShownToken[]> {
  return ports.store.read(async (tx) => {
    const { state } = await loadWorld(tx.world, worldId);
    return (await tx.world.tokens(storyOf(state))).map(toShown);
  });
}

/** Takes a token back: whoever holds it is nobody from then on. */
export async function revokeToken(ports: WorldPorts, worldId: string, tokenId: string): Promise<ShownToken> {
  const now = ports.clock.now();
  return ports.store.transact(async (tx) => {
    const { state } = await loadWorld(tx.world, worldId);
    const story = storyOf(state);
    const row = (await tx.world.tokens(story)).find(({ token_id }) => token_id === tokenId);
    if (row === undefined) throw new VerbatimError("TOKEN_NOT_FOUND", { where: tokenId });
    if (row.revoked_ms !== null) return toShown(row);
    await append(ports, tx, story, "WORLD_TOKEN_REVOKED", { token_id: tokenId });
    await tx.world.revokeToken(row.sha256, now);
    return toShown({ ...row, revoked_ms: now });
  });
}

/** A record that changes nothing of a world but its stream, whatever beat is running. */
async function append<K extends "WORLD_TOKEN_MADE" | "WORLD_TOKEN_REVOKED">(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  story: string,
  kind: K,
  body: NewWorldRecord<K>,
): Promise<void> {
  await tx.world.hold(story);
  await tx.ledger.append(streamOf(story), "next", [WORLD_RECORDS.make(kind, ports.actor, body)]);
}

function toShown({
  sha256,
  token_id,
  role,
  viewer,
  label,
  made_ms,
  used_on,
  expires_ms,
  revoked_ms,
}: TokenRow): ShownToken {
  const time = (ms: number | null): string | null => (ms === null ? null : formatTime(ms));
  return {
    token_id: token_id ?? toTokenId(sha256),
    role,
    viewer: viewer ?? "",
    label,
    made_at: time(made_ms),
    last_used_on: used_on,
    expires_at: time(expires_ms),
    revoked_at: time(revoked_ms),
  };
}

/** Whether a token opens anything at a moment. */
export function isOpen({ expires_ms, revoked_ms }: Pick<TokenRow, "expires_ms" | "revoked_ms">, now: number): boolean {
  return revoked_ms === null && (expires_ms === null || expires_ms > now);
}
