import type { Paint } from "./io.ts";
import { NOUNS } from "./nouns.ts";

/** The lines of the first help page: fits one screen, verbs grouped by room. */
export function formatFirstHelp(paint: Paint, version: string): string[] {
  const lines = [
    `${paint.bold("verbatim")} ${version}  puts AI agents under contract`,
    "",
    "usage: verbatim <noun> <verb> [arguments] [flags]",
  ];
  lines.push("");
  let room = "";
  for (const entry of NOUNS) {
    lines.push(formatNoun(paint, entry.room === room ? "" : entry.room, entry.noun, entry.summary));
    room = entry.room;
  }
  // Not nouns of this surface: src/main.ts starts them.
  lines.push(formatNoun(paint, "doors", "mcp", "Model Context Protocol on standard input, or --http"));
  lines.push(formatNoun(paint, "", "studio", "HTTP API, MCP and a page on 127.0.0.1 (--no-web)"));
  lines.push(
    "",
    paint.bold("flags of every verb"),
    "  -C DIR        work in another folder     --json      one JSON value on stdout",
    "  --full        whole ids                  --quiet     no notes on stderr",
    "  --no-progress no progress bars           --debug     stack traces",
    "",
    "more: verbatim <noun> --help   exit codes: 0 done, 1 the contract says no,",
    "      2 bad input, 3 internal error, 4 busy or unavailable",
  );
  return lines;
}

function formatNoun(paint: Paint, room: string, noun: string, summary: string): string {
  return `${paint.bold(room.padEnd(10))} ${noun.padEnd(12)} ${summary}`;
}
