import { hidesCharacters } from "../../../app/agent/capture/hidden-characters.ts";
import { displayWidth } from "../display-width.ts";
import type { Piece, Row, Style } from "../screen.ts";

const TAB = 4;

/** A text of foreign origin with every character that hides something as a box with its code point: `U+202E`. */
export function boxHidden(text: string, style: Style): Piece[] {
  const pieces: Piece[] = [];
  let plain = "";
  for (const character of text) {
    if (!hidesCharacters(`${character}.`)) {
      plain += character;
      continue;
    }
    if (plain !== "") pieces.push({ text: plain, style });
    plain = "";
    pieces.push({ text: nameOf(character), style: "box" });
  }
  return plain === "" ? pieces : [...pieces, { text: plain, style }];
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Tabs as the spaces they stand for. */
export function expandTabs(text: string): string {
  if (!text.includes("\t")) return text;
  let [line, at] = ["", 0];
  for (const character of text) {
    const size = character === "\t" ? TAB - (at % TAB) : displayWidth(character);
    line += character === "\t" ? " ".repeat(size) : character;
    at += size;
  }
  return line;
}

/** A line is shown whole, in as many rows as it takes; of an endless one the beginning. */
const MOST_COLUMNS = 2000;

/** Pieces broken into rows of a width. At least one row. */
export function wrapPieces(pieces: readonly Piece[], width: number): Row[] {
  const rows: Piece[][] = [[]];
  let [left, all] = [width, MOST_COLUMNS];
  for (const { text, style = "plain" } of pieces) {
    let part = "";
    const put = () => {
      if (part !== "") rows.at(-1)!.push({ text: part, style });
      part = "";
    };
    // A box is not broken: half a code point is another one.
    for (const character of style === "box" ? [text] : text) {
      const size = displayWidth(character);
      if (size > left) {
        put();
        rows.push([]);
        left = width;
      }
      part += character;
      left -= size;
      all -= size;
      if (all <= 0) {
        put();
        rows.at(-1)!.push({ text: "… the rest of this line is not shown", style: "warn" });
        return rows;
      }
    }
    put();
  }
  return rows;
}
