import { VerbatimError } from "../../../core/errors/index.ts";

/** What a commit says besides what a person wrote. */
export interface CommitTrailers {
  readonly run: string;
  /** SHA-256 of the candidate. */
  readonly candidate: string;
  /** The agent and, where it is known, its model. */
  readonly assisted_by: string;
}

const MOST_SUBJECT = 72;
// Control characters and separators of lines: a goal is one line here, and nothing in it may become a trailer.
const BREAKS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const FORBIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f]/;
const TRAILER = /^[A-Za-z0-9][A-Za-z0-9-]*: \S/;
const OURS = /^\s*verbatim-(?:run|candidate)\s*:/im;

/** The message of a commit: what a person wrote or the goal of the run, and the trailers. USAGE for a text nobody could read. */
export function formatCommitMessage(written: string | null, goal: string, trailers: CommitTrailers): string {
  const text = written === null ? toSubject(goal) : requireMessage(written);
  const { run, candidate, assisted_by } = trailers;
  const ours = [
    `Verbatim-Run: ${run}`,
    `Verbatim-Candidate: sha256:${candidate}`,
    `Assisted-by: ${assisted_by.replace(BREAKS, " ").trim()}`,
  ];
  const last = text.slice(text.lastIndexOf("\n\n") + 2).split("\n");
  const joins = text.includes("\n\n") && last.every((line) => TRAILER.test(line));
  return `${text}${joins ? "\n" : "\n\n"}${ours.join("\n")}\n`;
}

/** USAGE for a message that could not be a commit's, or that names a run itself. */
export function requireMessage(written: string): string {
  const text = written.replaceAll("\r\n", "\n").trim();
  const why =
    text === ""
      ? "the message of a commit cannot be empty"
      : FORBIDDEN.test(text)
        ? "the message of a commit cannot contain control characters"
        : OURS.test(text)
          ? "the message of a commit names its run by itself; leave out Verbatim-Run and Verbatim-Candidate"
          : null;
  if (why !== null) throw new VerbatimError("USAGE", { message: why, where: "/message" });
  return text;
}

function toSubject(goal: string): string {
  const line = goal.toWellFormed().replace(BREAKS, " ").trim();
  const letters = [...line];
  if (letters.length <= MOST_SUBJECT) return line === "" ? "Change by an agent" : line;
  return `${letters
    .slice(0, MOST_SUBJECT - 3)
    .join("")
    .trim()}...`;
}
