import { lstatSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { findPathProblem, showPath } from "../../../core/paths/index.ts";
import type { ViewOutcome } from "../../../rooms/catalytic/index.ts";
import type { AgentState } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import type { AgentSummary } from "../report/agent-summary.ts";
import { formatDuration } from "../report/explain-words.ts";

/** Paths of the repository as a person writes them; a file to show must be there. */
export function requirePaths(
  root: string,
  { files, leaveOut }: { readonly files: readonly string[]; readonly leaveOut: readonly string[] },
): void {
  const named = [
    ...leaveOut.map((path) => ["--leave-out", path.replace(/\/+$/, "")] as const),
    ...files.map((path) => ["--file", path] as const),
  ];
  for (const [flag, path] of named) {
    if (findPathProblem(path) !== null) {
      throw new VerbatimError("USAGE", {
        message: {
          cli: `${flag} must be a path inside the repository: ${showPath(path)}`,
          others: `not a path inside the repository: ${showPath(path)}`,
        },
      });
    }
  }
  const missing = files.find((path) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile() !== true);
  if (missing === undefined) return;
  throw new VerbatimError("FILE_NOT_FOUND", {
    message: { cli: `--file ${showPath(missing)} is not a file`, others: `${showPath(missing)} is not a file` },
    where: missing,
  });
}

/** What the record of the run says it is for: the goal on one line. */
export function toIntent(goal: string): string {
  const line = goal.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return [...`Let an agent work: ${line}`].slice(0, 200).join("");
}

/**
 * Places that stay writable, absolutely. One that is given by hand and not there is refused: nothing of it would be
 * kept. One in the configuration is left out, with a note.
 */
export function toKeptPlaces(outside: AgentPorts, given: readonly string[]): string[] {
  const isThere = (place: string) => statSync(place, { throwIfNoEntry: false }) !== undefined;
  const byHand = given.map((path) => toKept("--keep", path));
  const missing = byHand.find((place) => !isThere(place));
  if (missing !== undefined) {
    throw new VerbatimError("FILE_NOT_FOUND", {
      message: {
        cli: `--keep ${showPath(missing)} does not exist, so nothing the agent writes there would be kept`,
        others: `${showPath(missing)} does not exist, so nothing the agent writes there would be kept`,
      },
      where: missing,
      fix: {
        cli: "Create the folder first, or leave the flag out.",
        others: "Create the folder first, or leave it out.",
      },
    });
  }
  const configured = outside.config().agent.keep.map((path) => toKept("agent.keep", path));
  for (const place of configured.filter((one) => !isThere(one))) {
    outside.notify(`agent.keep: ${showPath(place)} does not exist, so nothing the agent writes there will be kept`);
  }
  return [...configured.filter(isThere), ...byHand];
}

function toKept(name: string, path: string): string {
  const place = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  if (resolve(place) === place.replace(/(?<=.)[/\\]+$/, "")) return resolve(place);
  throw new VerbatimError("USAGE", {
    message: `${name} must be absolute or start with ~/: ${JSON.stringify(path)}`,
  });
}

/** Why an agent's work cannot be judged, for people. */
export function describeFailure({ run, command_ms }: ViewOutcome): {
  readonly outcome: AgentState;
  readonly reason: string;
} {
  switch (run.condition) {
    case "COMMAND_FAILED":
      return {
        outcome: "agent_failed",
        reason:
          run.exit_code === null
            ? "the agent was killed by a signal"
            : `the agent ended with exit code ${run.exit_code}`,
      };
    case "COMMAND_TIMED_OUT":
      return {
        outcome: "timed_out",
        reason: `the agent was stopped after ${formatDuration(command_ms)} (--timeout); what it did so far is kept`,
      };
    case "INTERRUPTED":
      return { outcome: "interrupted", reason: `the agent was interrupted by ${run.interrupted_by ?? "a signal"}` };
    default:
      return { outcome: "agent_failed", reason: run.message === "" ? run.condition : run.message };
  }
}

const GUARD_LOST = "GUARD_LOST";

/** Errors that may come when the agent is at work already. */
const LATE: ReadonlySet<string> = new Set(["INTERNAL", "INTERRUPTED", "DISK_FULL", GUARD_LOST]);

/** What became of a run that ended with an error: the agent never began, or Verbatim broke off. */
export function describeBreak(
  thrown: unknown,
  hasWorked: boolean,
): { readonly outcome: AgentState; readonly reason: string } {
  const isEarly = !hasWorked && isVerbatimError(thrown) && !LATE.has(thrown.code);
  const what = isVerbatimError(thrown) ? (isGuard(thrown) ? "" : `${thrown.code}: `) + thrown.message : String(thrown);
  return isEarly
    ? { outcome: "not_started", reason: `the agent could not be started: ${what}${seeDoctor(thrown)}` }
    : {
        outcome: "interrupted",
        reason: isLost(thrown) ? "the guard around it was killed" : `Verbatim stopped: ${what}`,
      };
}

function isLost(thrown: unknown): boolean {
  return isVerbatimError(thrown) && thrown.code === GUARD_LOST;
}

/** Where to look when it is the machine that does not let an agent start. */
function seeDoctor(thrown: unknown): string {
  return isGuard(thrown) ? ". See: verbatim doctor" : "";
}

function isGuard(thrown: unknown): boolean {
  return isVerbatimError(thrown) && thrown.code.startsWith("GUARD_");
}

/** What may be said of the real tree after a run, and no more. */
export function describeTree(proof: AgentSummary["proof"]): string {
  const isSame = proof?.tree_root_before != null && proof.tree_root_before === proof.tree_root_after;
  // A view that is too large to read says nothing about the real tree.
  const isTouched = proof?.violations.some((violation) => !violation.startsWith("VIEW_")) === true;
  if (proof === null || !isSame || isTouched) return "it is not proved that your tree is unchanged";
  return proof.guard === "audit"
    ? "no change to your tree was found, but nothing was prevented"
    : "your tree is unchanged";
}
