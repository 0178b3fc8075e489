/** One line without its end, or the news that there was one that is longer than allowed. */
export interface Line {
  readonly bytes: Buffer;
  readonly tooLong: boolean;
}

const LINE_FEED = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Cuts a stream of bytes into lines. Every byte is looked at once and copied once, however long a line is. */
export class LineSplitter {
  readonly most: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(most: number) {
    this.most = most;
  }

  *push(chunk: Buffer): Generator<Line> {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end));
      yield this.#finish();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** Bytes of a line that is too long are counted and not kept. */
  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.most) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #finish(): Line {
    const tooLong = this.#length > this.most;
    const bytes = tooLong ? NOTHING : this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    return { bytes, tooLong };
  }
}
