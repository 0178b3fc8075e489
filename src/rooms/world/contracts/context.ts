import type { JsonValue } from "../../../core/canonical/index.ts";
import type { View } from "../knowledge/gate.ts";
import type { Author, Cast, Channel } from "../people/cast.ts";
import type { Graphemes, Zones } from "../ports.ts";
import { parseInstant } from "../time/instant.ts";
import { ID_PATTERN, refuse, text } from "./fields.ts";
import type { Visibility } from "./visibility.ts";

/** A committed entry as the ledger has it. */
export interface LedgerEntry {
  readonly entry_id: string;
  readonly bundle_id: string;
  readonly request_id: string;
  readonly created_at_world: string;
  readonly author: Author;
  readonly visibility: Visibility;
  readonly channel: Channel;
  readonly text: string;
  /** Number of the entry in its world, from 1. */
  readonly wseq: number;
  /** How a frame quotes a line that is too long for it; nothing that is stored or shown to a viewer has it. */
  readonly quote?: LineQuote | null;
}

/** UTF-16 positions: from, and the first that is not part of it. */
export type Range = readonly [number, number];

/** Beginning and end of a long line. */
export interface LineQuote {
  /** As a reader of a pack sees it, with the name of who speaks. */
  readonly rendered: string;
  readonly text: string;
  /** The parts of the entry's text that are quoted. */
  readonly ranges: readonly Range[];
}

/** What became of the writes a value is about. */
export type Position = "proposal" | "committed" | "rejected";

/** What a contract is judged against: the world, and where it was made for a request. */
export interface CheckContext {
  readonly cast: Cast;
  readonly zones: Zones;
  readonly graphemes: Graphemes;
  readonly position?: Position;
  readonly request_id?: string;
  readonly actor?: string;
  readonly used_ids?: readonly string[];
  readonly tool_request_id?: string;
  readonly view?: View;
  /** The entries a pack may draw on, by id; absent when the ledger is not at hand. */
  readonly entries?: ReadonlyMap<string, LedgerEntry>;
}

/** Reads a request id that must be the invocation's. */
export function requestId(context: Pick<CheckContext, "request_id">): (value: JsonValue, where: string) => string {
  return text({
    pattern: ID_PATTERN,
    rule(value, where) {
      if (context.request_id !== undefined && value !== context.request_id) {
        refuse(
          "REQUEST_ID_MISMATCH",
          where,
          `is ${JSON.stringify(value)}, but the invocation's is ${JSON.stringify(context.request_id)}`,
        );
      }
    },
  });
}

/** Reads a time string with an offset. */
export const timeText = text({ rule: (value, where) => void parseInstant(value, where) });
