import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

const KEEP_TERMINAL = readFileSync(new URL("./scripts/keep-terminal.pl", import.meta.url), "utf8");

/** What would change how perl itself runs. It is put aside, and the command gets it back. */
const OF_PERL = ["PERL5OPT", "PERL5LIB", "PERL5DB", "PERLIO", "PERL_UNICODE", "PERL_BADLANG"];

/** The environment of a command as the script that keeps its terminal must get it. */
export function hideFromPerl(env: Readonly<Record<string, string>>): Record<string, string> {
  const shown: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(env)) {
    shown[OF_PERL.includes(name) ? `VERBATIM_KEPT_${name}` : name] = value;
  }
  shown["PERL_BADLANG"] = "0";
  return shown;
}

/** Finds the mark behind the last words of a command, and keeps it out of what the command said. */
export class LastWords {
  readonly #mark: Buffer;
  readonly #answer = randomBytes(16).toString("hex");
  #held: Buffer = Buffer.alloc(0);
  #isHeard = false;

  constructor() {
    this.#mark = Buffer.from(`\0${randomBytes(16).toString("hex")}\0`);
  }

  /** The command that keeps the terminal until its last words were heard. */
  wrap(perl: string, command: readonly string[]): string[] {
    return [perl, "-e", KEEP_TERMINAL, this.#mark.toString("latin1").slice(1, -1), this.#answer, ...command];
  }

  /** What of these bytes the command said; `reply` is given the answer when the mark is among them. */
  hear(bytes: Buffer, reply: (answer: string) => void): Buffer {
    if (this.#isHeard) return bytes;
    const all = Buffer.concat([this.#held, bytes]);
    const at = all.indexOf(this.#mark);
    if (at !== -1) {
      this.#isHeard = true;
      this.#held = Buffer.alloc(0);
      reply(`${this.#answer}\n`);
      return Buffer.concat([all.subarray(0, at), all.subarray(at + this.#mark.length)]);
    }
    const begun = this.#begun(all);
    this.#held = all.subarray(all.length - begun);
    return all.subarray(0, all.length - begun);
  }

  /** What was held back because it might have become the mark. */
  rest(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  /** How many bytes at the end may be the beginning of the mark. */
  #begun(bytes: Buffer): number {
    for (let count = Math.min(this.#mark.length - 1, bytes.length); count > 0; count--) {
      if (bytes.subarray(bytes.length - count).equals(this.#mark.subarray(0, count))) return count;
    }
    return 0;
  }
}
