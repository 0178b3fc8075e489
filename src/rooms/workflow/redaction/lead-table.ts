/** Leads that are found in any case; they are written in lower case. */
type IsFolded = (lead: string) => boolean;

/**
 * The beginnings of everything that is looked for, at least three bytes each. Most of what is printed has none of them, and
 * to say so is what costs: three bytes together choose one mark, and only where it is set the text is compared.
 */
export class LeadTable {
  readonly #marks = new Uint8Array(65_536);
  readonly #byMark = new Map<number, string[]>();
  readonly #starts = new Set<string>();
  readonly #foldedStarts = new Set<string>();
  readonly #isFolded: IsFolded;
  readonly #longest: number;

  constructor(leads: readonly string[], isFolded: IsFolded) {
    this.#isFolded = isFolded;
    this.#longest = Math.max(0, ...leads.map(({ length }) => length));
    for (const lead of leads) {
      const starts = isFolded(lead) ? this.#foldedStarts : this.#starts;
      for (let length = 1; length <= lead.length; length++) starts.add(lead.slice(0, length));
      for (const [a, b, c] of isFolded(lead) ? inAnyCase(lead) : [lead]) this.#mark(lead, a!, b!, c!);
    }
  }

  #mark(lead: string, ...three: [string, string, string]): void {
    const [a, b, c] = three.map((sign) => sign.charCodeAt(0)) as [number, number, number];
    const mark = toMark(a, b, c);
    this.#marks[mark] = 1;
    const known = this.#byMark.get(mark);
    if (known === undefined) this.#byMark.set(mark, [lead]);
    else if (!known.includes(lead)) known.push(lead);
  }

  /** The next place at which one stands, from a position on; -1 where there is none. One byte is one character. */
  next(text: string, from: number): number {
    const marks = this.#marks;
    let [a, b] = [text.charCodeAt(from), text.charCodeAt(from + 1)];
    for (let at = from; at + 2 < text.length; at++) {
      const c = text.charCodeAt(at + 2);
      const mark = toMark(a, b, c);
      if (marks[mark] === 1 && this.#stands(text, at, mark)) return at;
      a = b;
      b = c;
    }
    return -1;
  }

  /** How many of some bytes nothing could begin in; null where one of them stands there. */
  cleanLength(bytes: Uint8Array): number | null {
    const marks = this.#marks;
    const most = bytes.length - 2;
    let a = bytes[0] ?? 0;
    let b = bytes[1] ?? 0;
    for (let at = 0; at < most; at++) {
      const c = bytes[at + 2]!;
      const mark = toMark(a, b, c);
      if (marks[mark] === 1) {
        const text = String.fromCharCode(...bytes.subarray(at, at + this.#longest));
        if (this.#stands(text, 0, mark)) return null;
      }
      a = b;
      b = c;
    }
    const from = Math.max(0, bytes.length - this.#longest + 1);
    return from + this.findTail(String.fromCharCode(...bytes.subarray(from)), 0);
  }

  /** The first place from a position on at which the end of a text may be the beginning of one. */
  findTail(text: string, from: number): number {
    for (let at = Math.max(from, text.length - this.#longest + 1); at < text.length; at++) {
      const rest = text.slice(at);
      if (this.#starts.has(rest) || this.#foldedStarts.has(rest.toLowerCase())) return at;
    }
    return text.length;
  }

  #stands(text: string, at: number, mark: number): boolean {
    return this.#byMark.get(mark)!.some((lead) => {
      if (text.startsWith(lead, at)) return true;
      return this.#isFolded(lead) && text.slice(at, at + lead.length).toLowerCase() === lead;
    });
  }
}

/** Different bytes may have one mark; what is there is compared then. */
function toMark(a: number, b: number, c: number): number {
  return ((a << 9) ^ (b << 5) ^ c) & 0xffff;
}

/** The first three letters of a lead, in every case. */
function inAnyCase(lead: string): string[] {
  return [...lead.slice(0, 3)].reduce<string[]>(
    (made, sign) => made.flatMap((text) => [...new Set([sign, sign.toUpperCase()])].map((one) => `${text}${one}`)),
    [""],
  );
}
