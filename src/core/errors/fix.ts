import type { Surface } from "../operation.ts";

/** What to do next, in the words of each surface. The library has the words of the command line. */
export type Fix = Readonly<Record<Exclude<Surface, "library">, string>>;

/** What the table says: one text for every surface, as long as it needs no terminal, or one for each. */
export type FixWords = string | Fix;

/** A text of one case: the words of the command line, and those for everybody who has no terminal. */
export interface CaseWords {
  readonly cli: string;
  readonly others: string;
}

/** What to do next in one case. Words that need a terminal are for the command line alone; the table serves the others. */
export type OwnFix = FixWords | CaseWords;

// A command of ours or of the shell, a flag, or what was printed: a page has buttons, and a model has tools.
const TERMINAL =
  /(?<![./\w])(?:verbatim|chmod) |--(?!git\b)|(?<!\S)-[A-Za-z]\b|\bflags?\b|\bcommand again\b|\b(?:listed|lines) above\b/;

/** Whether a text tells its reader to type something, or to look at a terminal. */
export function needsTerminal(text: string): boolean {
  return TERMINAL.test(text);
}

/** What the table says to a surface. */
export function fixAt(surface: Surface, words: FixWords): string {
  return typeof words === "string" ? words : words[toReader(surface)];
}

/** What one case says to a surface: its own words where they serve there, otherwise those of the table. */
export function ownFixAt(surface: Surface, own: OwnFix | undefined, table: FixWords): string {
  if (own === undefined) return fixAt(surface, table);
  const words = typeof own === "object" && "others" in own ? wordsAt(surface, own) : fixAt(surface, own);
  // Whoever forgot to write words for a page leaves it with the general ones, never with a command.
  return toReader(surface) === "cli" || !needsTerminal(words) ? words : fixAt(surface, table);
}

/** A text of one case for a surface. */
export function wordsAt(surface: Surface, words: string | CaseWords): string {
  if (typeof words === "string") return words;
  return toReader(surface) === "cli" ? words.cli : words.others;
}

function toReader(surface: Surface): keyof Fix {
  return surface === "library" ? "cli" : surface;
}
