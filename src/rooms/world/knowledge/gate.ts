import { type Audience, readAudience } from "../contracts/visibility.ts";
import { type Cast, isSomebody, WORLD } from "../people/cast.ts";

/** For whom something is read: one identity, or the room as the WORLD actor sees it. */
export type View =
  | { readonly kind: "viewer"; readonly id: string }
  | { readonly kind: "room"; readonly present: readonly string[] };

type GateReason = "PUBLIC" | "LISTED" | "ALL_PRESENT_LISTED" | "NOT_LISTED" | "UNKNOWN_VIEWER" | "MALFORMED_VISIBILITY";

interface GateVerdict {
  readonly verdict: "ALLOW" | "DENY";
  readonly reason: GateReason;
}

type People = Pick<Cast, "operator_id" | "people">;

/** Anything with a visibility; what a database or a file held may be malformed, so the parts are unknown. */
export interface Gated {
  readonly visibility?: { readonly scope?: unknown; readonly visible_to?: unknown } | null | undefined;
}

/**
 * The one decision about who may know what. Every read path asks it; it fails closed.
 *
 * @example
 * const people = { operator_id: "GEORGE", people: new Map([["ANA", "Ana"]]) };
 * const line = { visibility: { scope: "PRIVATE", visible_to: ["GEORGE"] } };
 * gate(people, { kind: "viewer", id: "ANA" }, line); // => { verdict: "DENY", reason: "NOT_LISTED" }
 */
export function gate(people: People, view: View, entry: Gated): GateVerdict {
  const listed = readAudience(typeof entry === "object" && entry !== null ? entry.visibility : null);
  if (listed === null) return deny("MALFORMED_VISIBILITY");
  if (typeof view !== "object" || view === null) return deny("UNKNOWN_VIEWER");
  if (view.kind === "viewer") return gateViewer(people, view.id, listed);
  if (view.kind === "room") return gateRoom(people, view.present, listed);
  return deny("UNKNOWN_VIEWER");
}

/**
 * Whether a view may see something.
 *
 * @example
 * const people = { operator_id: "GEORGE", people: new Map([["ANA", "Ana"]]) };
 * const line = { visibility: { scope: "PRIVATE", visible_to: ["GEORGE", "ANA"] } };
 * isAllowed(people, { kind: "viewer", id: "ANA" }, line); // => true
 */
export function isAllowed(people: People, view: View, entry: Gated): boolean {
  return gate(people, view, entry).verdict === "ALLOW";
}

/** A short text that is equal exactly for equal views. */
export function viewKey(view: View): string {
  return view.kind === "viewer" ? `viewer:${view.id}` : `room:${view.present.join(",")}`;
}

function gateViewer(people: People, id: string, audience: Audience): GateVerdict {
  if (id !== WORLD && !isSomebody(people, id)) return deny("UNKNOWN_VIEWER");
  if (audience === "everybody") return allow("PUBLIC");
  return audience.includes(id) ? allow("LISTED") : deny("NOT_LISTED");
}

function gateRoom(people: People, present: readonly string[], audience: Audience): GateVerdict {
  if (!Array.isArray(present) || !present.every((id) => isSomebody(people, id))) return deny("UNKNOWN_VIEWER");
  const world = gateViewer(people, WORLD, audience);
  if (world.verdict === "ALLOW") return world;
  // "All of nobody" must not be true: an empty room is not omniscient.
  if (present.length === 0) return deny("NOT_LISTED");
  const all = present.every((id) => gateViewer(people, id, audience).verdict === "ALLOW");
  return all ? allow("ALL_PRESENT_LISTED") : deny("NOT_LISTED");
}

function allow(reason: GateReason): GateVerdict {
  return { verdict: "ALLOW", reason };
}

function deny(reason: GateReason): GateVerdict {
  return { verdict: "DENY", reason };
}
