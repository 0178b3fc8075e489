import { formatCanonical } from "../../core/canonical/index.ts";
import { isVerbatimError, type VerbatimError } from "../../core/errors/index.ts";
import { showLine, showPlace } from "../../core/text/index.ts";
import type { Paint } from "./io.ts";

/** An error as `--json` prints it. Details without a JSON form are left out: an error is never lost over them. */
export function toErrorLine(error: VerbatimError): string {
  const { code, details = {} } = error;
  const where = error.where?.toWellFormed() ?? null;
  const head = { code, message: error.message.toWellFormed(), where, fix: error.fix.toWellFormed() };
  try {
    return formatCanonical({ error: { ...head, details } });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return formatCanonical({ error: { ...head, details: {} } });
  }
}

/** An error as people read it: what, where, what next; a list of problems below. */
export function formatError(error: VerbatimError, paint: Paint): string[] {
  const lines = [`${paint.bad(`error[${error.code}]`)} ${error.message}`];
  if (error.where !== undefined && error.where !== "") lines.push(`  where: ${showPlace(error.where)}`);
  for (const problem of listProblems(error)) lines.push(`  - ${showLine(problem)}`);
  const moved = error.details?.["moved"];
  if (typeof moved === "string") lines.push(`  ${showLine(moved)}`);
  lines.push(...formatFiles(error), ...formatFix(error));
  return lines;
}

type Facts = Readonly<Record<string, unknown>>;

function listFacts(error: VerbatimError, key: string): Facts[] {
  const listed = error.details?.[key];
  return Array.isArray(listed) ? listed.filter((one): one is Facts => typeof one === "object" && one !== null) : [];
}

/** Files that the error is about, each with where in it. */
function formatFiles(error: VerbatimError): string[] {
  const files = listFacts(error, "files").flatMap(({ path, where }) =>
    typeof path === "string" && typeof where === "string" ? [[showLine(path), showLine(where)] as const] : [],
  );
  const shown = files.slice(0, MOST_PROBLEMS);
  const width = Math.max(FIX_WIDTH, ...shown.map(([path]) => path.length));
  const lines = shown.map(([path, where]) => `  ${path.padEnd(width)}  ${where}`);
  return files.length > shown.length ? [...lines, `  and ${files.length - shown.length} more (see --json)`] : lines;
}

const FIX_WIDTH = 12;

/** What to do next; where there are several ways, each on a line of its own with what to type. */
function formatFix(error: VerbatimError): string[] {
  const ways = listFacts(error, "ways").flatMap(({ says, command }) =>
    typeof says === "string" && typeof command === "string" ? [[`${says}:`, command] as const] : [],
  );
  if (ways.length === 0) return [`  fix: ${error.fix}`];
  const width = Math.max(...ways.map(([says]) => says.length));
  return ways.map(([says, command], i) => {
    return `  ${(i === 0 ? "fix" : "").padEnd(FIX_WIDTH)}  ${says.padEnd(width)}  ${showLine(command)}`;
  });
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
      place === undefined ? "" : `at ${showPlace(String(place))}`,
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
