import { sortedUnique } from "../../../core/canonical/index.ts";
import { TO_EVERYBODY, toThose, type Visibility } from "../contracts/visibility.ts";

/** The author of VOICE lines: not a person, cannot be present. */
export const WORLD = "WORLD";

type VisibilityDefault = "presence" | "public";
type WriterLint = "off" | "report" | "reject";

/** Who is who in a world, and who is in the room now. */
export interface Cast {
  readonly operator_id: string;
  readonly operator_name: string;
  /** Display names by person id. */
  readonly people: ReadonlyMap<string, string>;
  /** Ids in the room of the current scene. */
  readonly present: readonly string[];
  readonly visibility_default: VisibilityDefault;
  readonly writer_lint: WriterLint;
  /** People whom somebody plays; no writer speaks for them. */
  readonly players?: ReadonlySet<string>;
}

type AuthorClass = "OPERATOR" | "PERSON" | "WORLD" | "SYSTEM";
export type Channel = "USER" | "VOICE" | "PEOPLE";

export interface Author {
  readonly author_id: string;
  readonly author_class: AuthorClass;
}

/** Whether an id is the operator or a registered person. */
export function isSomebody(cast: Pick<Cast, "operator_id" | "people">, id: string): boolean {
  return id === cast.operator_id || cast.people.has(id);
}

/** The name a reader sees for the operator or a person. */
export function nameOf(cast: Pick<Cast, "operator_id" | "operator_name" | "people">, id: string): string {
  return id === cast.operator_id ? cast.operator_name : (cast.people.get(id) ?? id);
}

/** Who perceives a line that names no audience: everyone in the room, and its author. */
export function defaultVisibility(cast: Cast, author: Author): Visibility {
  if (cast.visibility_default === "public") return TO_EVERYBODY;
  const isInside = author.author_class === "OPERATOR" || author.author_class === "PERSON";
  const audience = sortedUnique(isInside ? [...cast.present, author.author_id] : cast.present);
  return toThose(audience.length === 0 ? [WORLD] : audience);
}

const RESERVED: ReadonlySet<string> = new Set([
  WORLD,
  "SYSTEM",
  "INVOKER",
  "OMNISCIENT",
  "ALL",
  "NONE",
  "EVERYONE",
  "NOBODY",
]);

/** Whether an id can never be a person's in a world with this operator. */
export function isReserved(operatorId: string, id: string): boolean {
  return id === operatorId || RESERVED.has(id) || id.endsWith("_VIEW");
}
