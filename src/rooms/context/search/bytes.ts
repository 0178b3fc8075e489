/** Numbers as bytes, seven bits in each, the lowest first: most of those in a search index take one. */
export class ByteWriter {
  #bytes = new Uint8Array(16);
  #length = 0;

  put(value: number): void {
    if (this.#length + 8 > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    let left = value;
    while (left > 0x7f) {
      this.#bytes[this.#length++] = (left % 0x80) + 0x80;
      left = Math.floor(left / 0x80);
    }
    this.#bytes[this.#length++] = left;
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }
}

/** Reads them again. Bytes that end inside a number end with it. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  /** Where the bytes that are read end. */
  readonly end: number;
  #at: number;

  /** Reads the bytes from one place to before another; what lies beyond the end of the bytes is not there. */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.end = Math.min(end, bytes.length);
  }

  /** Where the next number begins. */
  get at(): number {
    return this.#at;
  }

  get isDone(): boolean {
    return this.#at >= this.end;
  }

  next(): number {
    let value = 0;
    for (let unit = 1; this.#at < this.end; unit *= 0x80) {
      const byte = this.#bytes[this.#at++]!;
      if (byte < 0x80) return value + byte * unit;
      value += (byte - 0x80) * unit;
    }
    return value;
  }
}
