/** Letters of one look on a row. */
export interface Run {
  readonly text: string;
  readonly look: Look;
}

export type Look = "" | "bold" | "dim" | "good" | "bad" | "warn" | "typed";

interface Cell {
  letter: string;
  look: Look;
}

const LOOKS: Readonly<Record<string, Look>> = {
  1: "bold",
  2: "dim",
  31: "bad",
  32: "good",
  33: "warn",
  36: "dim",
  90: "dim",
};

/** What a terminal shows after some bytes, as far as our own output goes: colours, carriage returns, erased lines. */
export class Screen {
  readonly #rows: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #look: Look = "";

  write(text: string): void {
    for (const [token, sequence, letter] of text.matchAll(
      /\u001b\[([0-9;?]*)([A-Za-z])|\u001b[\]PX^_].*?(?:\u0007|\u001b\\)|[\s\S]/gu,
    )) {
      if (letter !== undefined) this.#obey(sequence ?? "", letter);
      else if (token === "\n") this.#go(this.#row + 1, this.#column);
      else if (token === "\r") this.#column = 0;
      else if (token === "\b") this.#column = Math.max(0, this.#column - 1);
      else if (token >= " " && !token.startsWith("\u001b")) this.#put(token);
    }
  }

  /** The rows that hold anything, without what is blank at their ends. */
  rows(): Run[][] {
    const rows = this.#rows.map((cells) => {
      const runs: { text: string; look: Look }[] = [];
      const end = cells.findLastIndex((cell) => cell?.letter !== " " && cell !== undefined);
      for (const cell of cells.slice(0, end + 1)) {
        const last = runs.at(-1);
        const { letter, look } = cell ?? { letter: " ", look: "" as Look };
        if (last?.look === look) last.text += letter;
        else runs.push({ text: letter, look });
      }
      return runs;
    });
    const end = rows.findLastIndex((runs) => runs.length > 0);
    return rows.slice(0, end + 1);
  }

  #put(letter: string): void {
    const row = this.#rows[this.#row]!;
    while (row.length < this.#column) row.push({ letter: " ", look: "" });
    row[this.#column] = { letter, look: this.#look };
    this.#column += 1;
  }

  #go(row: number, column: number): void {
    this.#row = Math.max(0, row);
    this.#column = Math.max(0, column);
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }

  #obey(sequence: string, letter: string): void {
    const count = Number(sequence === "" ? 1 : sequence) || 1;
    if (letter === "m") this.#look = lookOf(sequence);
    if (letter === "A") this.#go(this.#row - count, this.#column);
    if (letter === "B") this.#go(this.#row + count, this.#column);
    if (letter === "C") this.#column += count;
    if (letter === "G") this.#column = count - 1;
    if (letter === "K") this.#rows[this.#row]!.splice(sequence === "2" ? 0 : this.#column);
    if (letter === "J") {
      this.#rows[this.#row]!.splice(this.#column);
      this.#rows.splice(this.#row + 1);
    }
  }
}

/** The strongest look of a list of attributes; colours go before bold. */
function lookOf(sequence: string): Look {
  const looks = sequence.split(";").map((code) => LOOKS[code] ?? "");
  return (
    looks.find((look) => look === "good" || look === "bad" || look === "warn") ??
    looks.find((look) => look !== "") ??
    ""
  );
}
