import { concatBytes, encodeUtf8 } from "../../../core/canonical/index.ts";
import { LeadTable } from "./lead-table.ts";
import { type Match, matchForm, SECRET_FORMS, type SecretForm } from "./matchers.ts";

/** A value that must not be written down, and what stands in its place. */
export interface KnownSecret {
  readonly name: string;
  readonly value: string;
}

/** What is held back is mostly the beginning of something that does not come. */
const LONGEST_START = 32;

/** Shorter values are words that anybody may print. */
const LEAST_BYTES = 8;

interface Literal {
  readonly name: string;
  readonly text: string;
}

/** What all filters of one run look for, made once. */
export class SecretFinder {
  readonly #literals: readonly Literal[];
  readonly #forms: readonly SecretForm[];
  readonly leads: LeadTable;

  constructor(secrets: readonly KnownSecret[], forms: readonly SecretForm[] = SECRET_FORMS) {
    const literals = secrets.flatMap(({ name, value }) => toSpellings(value).map((text) => ({ name, text })));
    // The longest first: one value may begin with another.
    this.#literals = literals.sort((a, b) => b.text.length - a.text.length);
    this.#forms = forms;
    const leads = [
      ...literals.map(({ text }) => text.slice(0, 6)),
      ...forms.map(({ parts: [first] }) => ("text" in first! ? first.text : "")),
    ];
    this.leads = new LeadTable([...new Set(leads)], isFolded);
  }

  /** What is found at a place; the longest of what is found there. */
  match(text: string, at: number, before: string, closed: boolean): { name: string; end: number } | "more" | null {
    let found: { name: string; end: number } | null = null;
    const take = (name: string, match: Match): boolean => {
      if (match === "more") return true;
      if (match !== null && (found === null || match.end > found.end)) found = { name, end: match.end };
      return false;
    };
    const isInWord = /[A-Za-z0-9]/.test(before);
    for (const { name, text: value } of this.#literals) {
      const here = text.slice(at, at + value.length);
      if (here.length < value.length && !closed && value.startsWith(here)) return "more";
      if (here === value) take(name, { end: at + value.length });
    }
    for (const form of this.#forms) {
      if (isInWord && form.anywhere !== true) continue;
      if (take(form.name, matchForm(form, text, at, closed))) return "more";
    }
    return found;
  }
}

/** Only this lead is found in any case. */
function isFolded(lead: string): boolean {
  return lead === "authorization:";
}

/**
 * A value as programs write it: plain, with the line ends of a terminal, inside JSON, in base64, in addresses. One byte is one
 * character here.
 */
function toSpellings(value: string): string[] {
  const bytes = encodeUtf8(value);
  if (bytes.length < LEAST_BYTES) return [];
  const plain = toBinary(bytes);
  const texts = [plain, plain.replaceAll(/\r?\n/g, "\r\n"), JSON.stringify(plain).slice(1, -1), ...toAddresses(bytes)];
  return [...new Set([...texts, ...toBase64(bytes)])];
}

/** Signs that some encoders of addresses leave as they are, and others do not. */
const LEFT: readonly string[] = ["-_.!~*'()", "-_.~", "-_.~/", "-_."];

function toAddresses(bytes: Uint8Array): string[] {
  return LEFT.flatMap((left) => {
    const upper = Array.from(bytes, (byte) => {
      const sign = String.fromCharCode(byte);
      return /[A-Za-z0-9]/.test(sign) || left.includes(sign)
        ? sign
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }).join("");
    return [upper, upper.replaceAll(/%../g, (code) => code.toLowerCase()), upper.replaceAll("%20", "+")];
  });
}

/** Programs break it into lines of this length. */
const BASE64_LINE = 76;
/** Of a last line that is shorter than this nothing is said. */
const LEAST_BASE64 = 10;

/**
 * What of it is the same whatever stands before and behind the value: a group of three bytes is four characters, and only
 * those count that hold nothing else.
 */
function toBase64(bytes: Uint8Array): string[] {
  const plain = toBinary(bytes);
  const all = [0, 1, 2].flatMap((before) => {
    const from = Math.ceil((before * 8) / 6);
    const whole = btoa("\0".repeat(before) + plain).slice(from, Math.floor(((before + bytes.length) * 8) / 6));
    const lines = before > 0 ? [] : (whole.match(new RegExp(`.{1,${BASE64_LINE}}`, "g")) ?? []);
    return [whole, ...lines].filter((text) => text.length >= LEAST_BASE64);
  });
  return all.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
}

function toBinary(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

function fromBinary(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Takes known secrets and forms of credentials out of a stream before it is written. What comes out is the same however
 * the stream was cut; bytes are held back only from the first place where something may have begun.
 */
export class Redactor {
  readonly #finder: SecretFinder;
  #held = "";
  #before = "";
  #count = 0;

  constructor(finder: SecretFinder) {
    this.#finder = finder;
  }

  /** How many were taken out so far. */
  get count(): number {
    return this.#count;
  }

  add(bytes: Uint8Array): Uint8Array {
    if (this.#held.length < LONGEST_START) {
      const all = this.#held === "" ? bytes : concatBytes([fromBinary(this.#held), bytes]);
      const clean = this.#finder.leads.cleanLength(all);
      if (clean !== null) {
        if (clean > 0) this.#before = String.fromCharCode(all[clean - 1]!);
        this.#held = toBinary(all.subarray(clean));
        return all.subarray(0, clean);
      }
    }
    return this.#push(toBinary(bytes), false);
  }

  /** What was held back, once nothing more will come. */
  end(): Uint8Array {
    return this.#push("", true);
  }

  #push(more: string, closed: boolean): Uint8Array {
    const text = this.#held + more;
    const out: Uint8Array[] = [];
    let done = 0;
    const emit = (to: number) => {
      if (to > done) {
        out.push(fromBinary(text.slice(done, to)));
        this.#before = text[to - 1]!;
      }
      done = to;
    };
    for (let from = 0; ; ) {
      const at = this.#finder.leads.next(text, from);
      if (at < 0) break;
      // What stands behind something that was taken out begins a word.
      const before = at === done ? this.#before : text[at - 1]!;
      const match = this.#finder.match(text, at, before, closed);
      if (match === "more") {
        emit(at);
        this.#held = text.slice(at);
        return concatBytes(out);
      }
      if (match === null) {
        from = at + 1;
        continue;
      }
      emit(at);
      out.push(encodeUtf8(`[redacted:${match.name}]`));
      this.#count++;
      this.#before = "";
      done = match.end;
      from = match.end;
    }
    const tail = closed ? text.length : this.#finder.leads.findTail(text, done);
    emit(tail);
    this.#held = text.slice(tail);
    return concatBytes(out);
  }
}

/** A whole text without its secrets. */
export function redactBytes(finder: SecretFinder, bytes: Uint8Array): Uint8Array {
  const redactor = new Redactor(finder);
  return concatBytes([redactor.add(bytes), redactor.end()]);
}
