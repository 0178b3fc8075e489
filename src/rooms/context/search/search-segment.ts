import { concatBytes, sortedByCodePoint } from "../../../core/canonical/index.ts";
import type { FileVersion, SearchWord } from "../ports.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { listWords } from "./search-words.ts";

/** Where in a section a word is. */
export const PLACES = { name: 1, heading: 2, body: 4, path: 8 } as const;
const PLACE_BITS = 16;

interface Entry {
  /** Section, count and places of every section the word is in, and apart from them where in each: few queries ask for that. */
  readonly heads: ByteWriter;
  readonly tails: ByteWriter;
  /** The section that was written last, and the one whose positions are held. */
  written: number;
  section: number;
  places: number;
  readonly positions: number[];
}

/** Files whose words are written together, made section by section. */
export class SegmentBuilder {
  readonly files: FileVersion[] = [];
  readonly #sections = new ByteWriter();
  readonly #entries = new Map<string, Entry>();
  #section = -1;
  #position = 0;
  #length = 0;
  /** UTF-16 units of text so far. */
  size = 0;

  get sections(): number {
    return this.#section + 1;
  }

  addFile(file: FileVersion): void {
    this.files.push(file);
  }

  beginSection(): void {
    this.#section++;
    this.#position = 0;
    this.#length = 0;
  }

  /** Words that no phrase connects with those before, except the next piece of the same body. */
  add(text: string, places: number, isMore = false): void {
    if (!isMore) this.#position++;
    const words = listWords(text);
    for (const word of words) this.#put(word, places);
    if (places === PLACES.body) this.#length += words.length;
    this.size += text.length;
  }

  endSection(ordinal: number): void {
    for (const value of [this.files.length - 1, ordinal, this.#length]) this.#sections.put(value);
  }

  #put(word: string, places: number): void {
    let entry = this.#entries.get(word);
    if (entry === undefined) {
      entry = {
        heads: new ByteWriter(),
        tails: new ByteWriter(),
        written: -1,
        section: this.#section,
        places: 0,
        positions: [],
      };
      this.#entries.set(word, entry);
    } else if (entry.section !== this.#section) {
      flush(entry);
      entry.section = this.#section;
    }
    entry.places |= places;
    entry.positions.push(this.#position++);
  }

  finish(): { readonly sections: Uint8Array; readonly words: SearchWord[] } {
    const words = sortedByCodePoint(this.#entries.keys()).map((word) => {
      const entry = this.#entries.get(word)!;
      flush(entry);
      return { word, postings: joinEntry(entry) };
    });
    return { sections: this.#sections.finish(), words };
  }
}

function joinEntry({ heads, tails }: Entry): Uint8Array {
  const length = new ByteWriter();
  length.put(heads.length);
  return concatBytes([length, heads, tails].map((part) => part.finish()));
}

function flush(entry: Entry): void {
  const { heads, tails, positions } = entry;
  heads.put(entry.section - entry.written);
  heads.put(positions.length * PLACE_BITS + entry.places);
  let before = 0;
  for (const position of positions) {
    tails.put(position - before);
    before = position;
  }
  entry.written = entry.section;
  entry.places = 0;
  positions.length = 0;
}

/** How many sections a segment has: three numbers each, of which every last byte is below 0x80. */
export function countSections(bytes: Uint8Array): number {
  let numbers = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! < 0x80) numbers++;
  return Math.floor(numbers / 3);
}

/** Hands over the sections of a segment: file by number there, place among the file's sections, number of its own words. */
export function eachSection(
  bytes: Uint8Array,
  take: (section: number, file: number, ordinal: number, length: number) => void,
): void {
  const reader = new ByteReader(bytes);
  for (let section = 0; !reader.isDone; section++) take(section, reader.next(), reader.next(), reader.next());
}

type TakePosting = (section: number, count: number, places: number) => void;

/** Hands over in which sections a word is, how often, and where. Cost: in how many sections it is, not how often. */
export function eachPosting(postings: Uint8Array, take: TakePosting): void {
  const heads = readHeads(postings);
  for (let section = -1; !heads.isDone; ) {
    section += heads.next();
    const head = heads.next();
    take(section, Math.floor(head / PLACE_BITS), head % PLACE_BITS);
  }
}

/** The same with the positions in each section, ascending. */
export function eachPositions(
  postings: Uint8Array,
  take: (section: number, positions: number[], places: number) => void,
): void {
  const heads = readHeads(postings);
  const tails = new ByteReader(postings, heads.end);
  for (let section = -1; !heads.isDone; ) {
    section += heads.next();
    const head = heads.next();
    const positions: number[] = [];
    let position = 0;
    for (let left = Math.floor(head / PLACE_BITS); left > 0 && !tails.isDone; left--) {
      position += tails.next();
      positions.push(position);
    }
    take(section, positions, head % PLACE_BITS);
  }
}

function readHeads(postings: Uint8Array): ByteReader {
  const first = new ByteReader(postings);
  const length = first.next();
  return new ByteReader(postings, first.at, first.at + length);
}
