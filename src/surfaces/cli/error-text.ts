import { isVerbatimError, type VerbatimError } from "../../core/errors/index.ts";
import type { Io } from "./io.ts";
import { showLine, showText } from "./plain-text.ts";

/** An error as `--json` prints it. */
export function toErrorJson(error: VerbatimError): unknown {
  return {
    error: {
      code: error.code,
      message: error.message,
      where: error.where ?? null,
      fix: error.fix,
      details: error.details ?? {},
    },
  };
}

/** An error as people read it: what, where, what next; a list of problems below. */
export function formatError(error: VerbatimError, io: Io): string[] {
  const lines = [`${io.paint.bad(`error[${error.code}]`)} ${showText(error.message)}`];
  if (error.where !== undefined && error.where !== "") lines.push(`  where: ${showLine(error.where)}`);
  for (const problem of listProblems(error)) lines.push(`  - ${showLine(problem)}`);
  lines.push(`  fix: ${showText(error.fix)}`);
  return lines;
}

const MOST_PROBLEMS = 20;

function listProblems(error: VerbatimError): string[] {
  const problems = error.details?.["problems"];
  if (!Array.isArray(problems)) return [];
  const shown = problems.slice(0, MOST_PROBLEMS).map((problem: Readonly<Record<string, unknown>>) => {
    const place = [problem["where"], problem["file_path"], problem["pointer"]].find(
      (one) => typeof one === "string" && one !== "",
    );
    const words = [
      problem["code"],
      place === undefined ? "" : `at ${String(place)}`,
      ...listNumbers(problem),
      problem["message"],
    ];
    return words.filter((word) => typeof word === "string" && word !== "").join(" ");
  });
  const rest = problems.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more (see --json)`] : shown;
}

/** Where in the file, and how far beyond a limit, when the problem says so. */
function listNumbers({ byte_offset, bytes, limit }: Readonly<Record<string, unknown>>): string[] {
  const words: string[] = [];
  if (typeof byte_offset === "number") words.push(`(byte ${byte_offset})`);
  if (typeof bytes === "number") words.push(`(${bytes} bytes, ${String(limit)} allowed)`);
  return words;
}

/** The stack of everything that led to an error, for --debug and for internal errors. */
export function formatStack(thrown: unknown): string {
  const parts: string[] = [];
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    parts.push(cause.stack ?? String(cause));
    if (isVerbatimError(cause) && cause.details !== undefined)
      parts.push(`details: ${JSON.stringify(cause.details, toPlain)}`);
  }
  return parts.length > 0 ? parts.join("\ncaused by: ") : String(thrown);
}

function toPlain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
