/** Shares of the usable window, in percent, that each part of a frame may take, measured on its JSON. */
const PART_PERCENT = {
  notes: 5,
  about: 10,
  people: 20,
  pinned: 8,
  lore: 10,
  opportunities: 4,
} as const;

export type BoundedPart = keyof typeof PART_PERCENT;

/** What stays free between a bare frame and the trigger, so that the newest line always fits. */
const SPARE_PERCENT = 5;
const LINE_PERCENT = 10;
/** Rules text of an owner may take this much. */
export const RULES_PERCENT = 25;
/** Ids of those present that a frame names. */
export const MAX_PRESENT = 64;
/** Items of the calendar that a frame offers. */
export const MAX_OPPORTUNITIES = 20;

/** How much of their bound optional parts get in each try of a rehydration. */
export const SHARES = [1, 0.5, 0] as const;
export type Share = (typeof SHARES)[number];

/** Tokens a part may take; notes keep theirs in every try. */
export function boundOf(usable: number, part: BoundedPart, share: Share = 1): number {
  const whole = Math.floor((usable * PART_PERCENT[part]) / 100);
  return part === "notes" ? whole : Math.floor(whole * share);
}

/** A longer line is quoted by its beginning and its end. */
export function lineCapOf(usable: number): number {
  return Math.floor((usable * LINE_PERCENT) / 100);
}

/** Tokens that stay free below the trigger. */
export function spareOf(usable: number): number {
  return Math.floor((usable * SPARE_PERCENT) / 100);
}
