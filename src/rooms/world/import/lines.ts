import type { LoreRule } from "../contracts/records.ts";
import type { AcceptedLine } from "../writer/output.ts";

/** A line that an import would write, with the place in the source it comes from. */
export interface ImportedLine extends AcceptedLine {
  readonly from: string;
}

/** Who may know the lore of a file: the narrator, or everybody. */
export type LoreAudience = "world" | "public";

export interface ImportOptions {
  /** Whether `{{char}}` and `{{user}}` become the display names. */
  readonly expand_names: boolean;
  readonly lore: LoreAudience;
  /** Whether the person enters the room. */
  readonly enter: boolean;
  /** By which rules the file is read; the first ones where it is not said. */
  readonly rules?: 1 | 2;
  /** Which greeting of a card is said; `none`: no one says anything. The first one where it is not said. */
  readonly greeting?: number | "none";
  /** For whom a card writes: somebody who is there, or `new`. */
  readonly person?: string;
  /** Whether the lore inside a card is left to another file that has it too. */
  readonly no_book?: boolean;
  /** Who else knows the lines of a chat. */
  readonly audience?: readonly string[];
  /** Other names of people, as a chat may call them. */
  readonly aliases?: ReadonlyMap<string, string>;
}

/** Something of a file that the world has no place for. The original keeps it. */
export interface Lost {
  readonly what: string;
  readonly count: number;
  /** Where it is, the first time. */
  readonly where: string;
}

/** What a card can begin with. */
export interface Greeting {
  readonly index: number;
  readonly from: string;
  readonly text: string;
}

/** A line of a chat that was written more than once, and only one of them was kept. */
export interface Swiped {
  /** Which of the lines that are written. */
  readonly index: number;
  /** Which line of the file, from 1. */
  readonly line: number;
  readonly count: number;
}

/** Every line of a chat is one of these, so that none is lost. */
interface ChatCounts {
  readonly lines: number;
  readonly entries: number;
  readonly hidden: number;
  readonly blank: number;
  readonly header: number;
}

/** What an import would do, before anything is written. */
export interface ImportPlan {
  /** V1, V2, V3, LOREBOOK, WORLD_INFO or CHAT. */
  readonly version: string;
  /** Whom the file adds. */
  readonly people: readonly { readonly person_id: string; readonly display_name: string }[];
  /** Whom a card is about. */
  readonly person_id: string | null;
  /** What the card calls them, whatever readers see. */
  readonly card_name: string | null;
  readonly present_after: readonly string[];
  readonly lines: readonly ImportedLine[];
  /** The name of what it is, for a world that is made of it; null when it says none. */
  readonly title: string | null;
  /** Pointers or line numbers of what is left out, sorted. */
  readonly not_imported: readonly string[];
  /** Which of the lines describe and were not lived. */
  readonly background: readonly number[];
  /** Which of the lines are lore, and what brings each. */
  readonly lore: readonly (LoreRule & { readonly index: number })[];
  /** How people write. */
  readonly styles: Readonly<Record<string, string>>;
  readonly greetings: readonly Greeting[];
  readonly lost: readonly Lost[];
  readonly swipes: readonly Swiped[];
  readonly counts: ChatCounts | null;
  /** The picture the card came in, as it came. */
  readonly picture: Uint8Array | null;
}

/** What files read by the first rules have nothing of. */
export const NOTHING_BESIDES = {
  person_id: null,
  card_name: null,
  background: [],
  lore: [],
  styles: {},
  greetings: [],
  lost: [],
  swipes: [],
  counts: null,
  picture: null,
} as const satisfies Partial<ImportPlan>;

const INVISIBLE_OR_SPACE = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/** Whether a text has nothing to read. */
export function isBlank(text: string): boolean {
  return INVISIBLE_OR_SPACE.test(text);
}

/** Counts what is lost, by what it is and with the first place. */
export class Losses {
  readonly #lost = new Map<string, { count: number; readonly where: string }>();

  add(what: string, where: string): void {
    const known = this.#lost.get(what);
    if (known === undefined) this.#lost.set(what, { count: 1, where });
    else known.count++;
  }

  list(): Lost[] {
    return [...this.#lost].map(([what, { count, where }]) => ({ what, count, where }));
  }
}
