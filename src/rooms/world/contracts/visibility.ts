import { z } from "zod";
import { PERSON_PATTERN } from "./fields.ts";

/** Who may know a line (World Contracts 3). */
export const SCOPES = ["PUBLIC", "PRIVATE"] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a line of a scope lists who knows it; the other ones are known to everyone. */
const HAS_LIST: Readonly<Record<Scope, boolean>> = { PUBLIC: false, PRIVATE: true };

export const scopeSchema = z.enum(SCOPES);

export const visibilitySchema = z.strictObject({
  scope: scopeSchema,
  visible_to: z.array(z.string().regex(PERSON_PATTERN)).optional(),
});

export interface Visibility {
  readonly scope: Scope;
  readonly visible_to: readonly string[];
}

/** Known to everyone. */
export const TO_EVERYBODY: Visibility = { scope: "PUBLIC", visible_to: [] };

/** Known to those who are listed. */
export function toThose(visible_to: readonly string[]): Visibility {
  return { scope: "PRIVATE", visible_to };
}

/** Whether everyone knows a line of this scope. What is not a scope is known to nobody. */
export function isForEverybody(scope: string): boolean {
  return Object.hasOwn(HAS_LIST, scope) && !HAS_LIST[scope as Scope];
}

/** Everyone, or the ids of those who know. */
export type Audience = "everybody" | readonly string[];

/** Who knows something, or null for a visibility that is malformed: what a database or a file held may be anything. */
export function readAudience(visibility: unknown): Audience | null {
  if (typeof visibility !== "object" || visibility === null) return null;
  const { scope, visible_to: listed } = visibility as { readonly scope?: unknown; readonly visible_to?: unknown };
  if (typeof scope !== "string" || !Object.hasOwn(HAS_LIST, scope)) return null;
  if (isForEverybody(scope)) {
    const isEmpty = listed === undefined || listed === null || (Array.isArray(listed) && listed.length === 0);
    return isEmpty ? "everybody" : null;
  }
  if (!Array.isArray(listed) || listed.length === 0) return null;
  return listed.every((id) => typeof id === "string") ? listed : null;
}
