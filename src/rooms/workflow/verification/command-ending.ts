import type { GateCommandResult } from "../ports.ts";
import { pickTelling } from "./telling-lines.ts";

const TAIL_LINES = 20;
/** What npm says around the output of a script, which is not why the script failed. */
const AROUND = /^npm (?:error|warn|notice|ERR!|WARN)(?: |$)/;
const LINE_LENGTH = 500;
const decoder = new TextDecoder();

/** Why a command counts as failed, in words that are never empty: `npm test ended with exit code 1`. */
export function describeEnding(cmd: string, result: GateCommandResult, timeoutSeconds: number): string {
  switch (result.ending) {
    case "exited":
      return `${cmd} ended with exit code ${result.exit_code}`;
    case "timeout":
      return `${cmd} took longer than ${formatLimit(timeoutSeconds)}`;
    case "not_found":
      return `${cmd} did not start: ${explainStart(decoder.decode(result.stderr))}`;
  }
}

function explainStart(words: string): string {
  if (words.includes("ENOENT")) return "no such program";
  if (words.includes("EACCES")) return "the file may not be executed";
  return words.trim().split("\n").at(-1) || "the system gave no reason";
}

function formatLimit(seconds: number): string {
  return seconds % 60 === 0 && seconds >= 60 ? `${seconds / 60} min` : `${seconds} s`;
}

/** The lines of what a command printed that say why it failed. */
export function toTail({ stdout, stderr }: GateCommandResult): string[] {
  const text = `${decoder.decode(stdout)}\n${decoder.decode(stderr)}`;
  const lines = text.split("\n").map((line) => line.trimEnd());
  const said = lines.filter((line) => line !== "");
  const own = said.filter((line) => !AROUND.test(line));
  const kept = pickTelling(own.length === 0 ? said : own, TAIL_LINES);
  return kept.map((line) => (line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH).toWellFormed()}…` : line));
}
