/** Time zone data, because neither core nor rooms may use `Intl`. */
export interface Zones {
  /** Whether an IANA name is known here. */
  isKnown(zone: string): boolean;
  /** Offset of a zone at an instant in whole minutes, truncated toward zero. */
  offsetMinutes(zone: string, ms: number): number;
}

/** Splits a text into what a reader sees as characters (UAX #29 extended grapheme clusters). */
export interface Graphemes {
  /** The clusters in order; joined they are the text. */
  split(text: string): Iterable<string>;
}

/** Counts what a model would count. */
export interface Tokenizer {
  readonly name: string;
  count(text: string): number;
}
