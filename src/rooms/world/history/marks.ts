import { compareCodePoints, formatCanonical } from "../../../core/canonical/index.ts";
import type { WorldRecord, WorldRecordBody } from "../contracts/records.ts";
import type { EntryRow, MarkChange } from "../ports.ts";
import type { Effects } from "./reduce.ts";

/** A mark without its number, which follows from how many were set before it. */
type Mark = Omit<MarkChange, "number">;

/** What the body of a line of lore says. */
export interface LoreMark {
  readonly entry_id: string;
  readonly keys: readonly string[];
  readonly also: readonly string[];
  readonly match: "any" | "all" | "not";
  readonly always: boolean;
  readonly order: number;
  readonly enabled: boolean;
}

export interface PinMark {
  readonly entry_id: string;
  readonly start: number;
  readonly end: number;
  readonly quote_sha256: string;
}

/** The persona of the operator; no entry where nothing was said about it. */
export interface PersonaMark {
  readonly name: string;
  readonly entry_id: string | null;
}

/** Adds marks to what a record does. */
export function withMarks(effects: Effects, made: readonly Mark[]): Effects {
  if (made.length === 0) return effects;
  const first = (effects.state.marks ?? 0) + 1;
  const marks = made.map((mark, i) => ({ ...mark, number: first + i }));
  return { ...effects, state: { ...effects.state, marks: first + marks.length - 1 }, marks };
}

/** The order in which the store lists marks. */
export function compareMarks(a: Pick<MarkChange, "kind" | "id">, b: Pick<MarkChange, "kind" | "id">): number {
  return compareCodePoints(a.kind, b.kind) || compareCodePoints(a.id, b.id);
}

export function loreMark({ lore_id, write_bundle: _, ...body }: WorldRecordBody<"WORLD_LORE_SET">): Mark {
  return { kind: "lore", id: lore_id, body: formatCanonical(body) };
}

export function pinMark(record: Extract<WorldRecord, { readonly kind: "WORLD_PINNED" | "WORLD_UNPINNED" }>): Mark {
  if (record.kind === "WORLD_UNPINNED") return { kind: "pin", id: record.body.pin_id, body: null };
  const { pin_id, ...body } = record.body;
  return { kind: "pin", id: pin_id, body: formatCanonical(body) };
}

/** There is one persona: that of whoever plays the operator. */
export function personaMark({ name }: WorldRecordBody<"WORLD_PERSONA_SET">, entries: readonly EntryRow[]): Mark {
  return { kind: "persona", id: "operator", body: formatCanonical({ name, entry_id: entries[0]?.entry_id ?? null }) };
}

/** A correction goes by the line it was made by. */
export function correctionMark(corrects: string, entryId: string): Mark {
  return { kind: "correction", id: entryId, body: formatCanonical({ corrects }) };
}

export interface AvatarMark {
  readonly sha256: string;
  readonly media_type: string;
}

export function avatarMark({ person_id, sha256, media_type }: WorldRecordBody<"WORLD_AVATAR_SET">): Mark {
  const body = sha256 === null ? null : formatCanonical({ sha256, media_type });
  return { kind: "avatar", id: person_id, body };
}

/** Which lines of an import were written more than once: number of the entry, line of the file, and how often. */
export interface SwipesMark {
  readonly source_sha256: string;
  readonly lines: readonly (readonly [wseq: number, line: number, count: number])[];
}

/** Lore of a file has the ids of its lines; what it says about swipes has that of the first of them. */
export function importMarks(
  { lore = [], swipes = [], source_sha256 }: WorldRecordBody<"WORLD_IMPORTED">,
  entries: readonly EntryRow[],
): Mark[] {
  const marks = lore.flatMap(({ index, ...rule }): Mark[] => {
    const entry_id = entries[index]?.entry_id;
    return entry_id === undefined ? [] : [{ kind: "lore", id: entry_id, body: formatCanonical({ entry_id, ...rule }) }];
  });
  const lines = swipes.flatMap(({ index, line, count }) => {
    const wseq = entries[index]?.wseq;
    return wseq === undefined ? [] : [[wseq, line, count] as const];
  });
  const [first] = entries;
  if (lines.length === 0 || first === undefined) return marks;
  return [...marks, { kind: "swipes", id: first.entry_id, body: formatCanonical({ source_sha256, lines }) }];
}
