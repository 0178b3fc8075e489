import type { AcceptedLine } from "../writer/output.ts";

/** A line that an import would write, with the place in the source it comes from. */
export interface ImportedLine extends AcceptedLine {
  readonly from: string;
}

/** What an import would do, before anything is written. */
export interface ImportPlan {
  /** V1, V2, V3, LOREBOOK, WORLD_INFO or CHAT. */
  readonly version: string;
  readonly people: readonly { readonly person_id: string; readonly display_name: string }[];
  readonly present_after: readonly string[];
  readonly lines: readonly ImportedLine[];
  /** The name of what it is, for a world that is made of it; null when it says none. */
  readonly title: string | null;
  /** Pointers or line numbers of what is left out, sorted. */
  readonly not_imported: readonly string[];
}

const INVISIBLE_OR_SPACE = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/** Whether a text has nothing to read. */
export function isBlank(text: string): boolean {
  return INVISIBLE_OR_SPACE.test(text);
}
