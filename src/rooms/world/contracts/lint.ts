import { type Cast, nameOf } from "../people/cast.ts";
import type { LedgerEntry } from "./context.ts";

const META = [
  "rehydrat",
  "context window",
  "context limit",
  "context length",
  "token limit",
  "token budget",
  "token count",
  "scene anchor",
  "system prompt",
  "language model",
  "as an ai",
  "knowledge view",
  "capsule pack",
] as const;
const DIRECTIVES = ["make it dramatic", "keep it interesting", "raise the stakes", "create tension"] as const;
const TIME_JUMPS = [
  "later that day",
  "meanwhile",
  "eventually",
  "at the same time",
  "after a while",
  "hours passed",
  "some time later",
  "the next day",
] as const;
const STATE_VARIABLE =
  /^[ \t]*[A-Za-z][A-Za-z0-9_ ]{0,30}[ \t]*[:=][ \t]*[-+]?\d+(\.\d+)?[ \t]*(%|\/[ \t]*\d+)?[ \t]*$/;

type PackLint = "PACK_META_WORD" | "PACK_DIRECTIVE" | "PACK_STATE_VARIABLE";
type WriterLintCode = "WRITER_LINT_META" | "WRITER_LINT_TIME_JUMP";

/** A line as a reader of a pack sees it: speech with the speaker's name, narration bare. */
export function renderLine(cast: Cast, entry: Pick<LedgerEntry, "channel" | "author" | "text" | "quote">): string {
  if (entry.quote != null) return entry.quote.rendered;
  return entry.channel === "VOICE" ? entry.text : `${nameOf(cast, entry.author.author_id)}: ${entry.text}`;
}

/** What is wrong with generated text, once every whole line of the ledger is taken out of it; null when nothing. */
export function lintPack(cast: Cast, text: string, used: readonly LedgerEntry[]): PackLint | null {
  const lines = takeOutLedger(cast, text, used);
  const folded = fold(lines.join("\n"));
  if (META.some((phrase) => folded.includes(phrase))) return "PACK_META_WORD";
  if (DIRECTIVES.some((phrase) => folded.includes(phrase))) return "PACK_DIRECTIVE";
  return lines.some((line) => STATE_VARIABLE.test(line)) ? "PACK_STATE_VARIABLE" : null;
}

/** What is wrong with a line a writer proposes; null when nothing. */
export function lintLine(text: string): WriterLintCode | null {
  const folded = fold(text);
  if ([...META, ...DIRECTIVES].some((phrase) => folded.includes(phrase))) return "WRITER_LINT_META";
  return TIME_JUMPS.some((phrase) => folded.includes(phrase)) ? "WRITER_LINT_TIME_JUMP" : null;
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
}

/** The lines that no ledger line accounts for. Only whole lines count: a short one must not hide part of another. */
function takeOutLedger(cast: Cast, text: string, used: readonly LedgerEntry[]): string[] {
  const lines = text.split("\n");
  const isLedger = new Array<boolean>(lines.length).fill(false);
  const blocks = new Set(used.flatMap((entry) => [entry.text, renderLine(cast, entry)]));
  for (const block of blocks) {
    const wanted = block.split("\n");
    for (let start = 0; start + wanted.length <= lines.length; start++) {
      if (wanted.every((line, i) => lines[start + i] === line)) isLedger.fill(true, start, start + wanted.length);
    }
  }
  return lines.filter((_, i) => isLedger[i] === false);
}
