import { VerbatimError } from "../../../core/errors/index.ts";
import type { Candidate } from "../contracts/candidate.ts";
import { LANDING_VERSION, type LandedFile, type Landing } from "../contracts/landing.ts";
import { formatArgv } from "../dispatch/argv-template.ts";
import type { LandingPlan } from "./plan-landing.ts";

/** The record of a plan; what the caller learns later (verification, commit, time) is added to it. */
export function toLanding(
  plan: LandingPlan,
  facts: Pick<Landing, "l" | "candidate" | "onto" | "moved" | "work_tree">,
): Landing {
  return {
    schema_version: LANDING_VERSION,
    ...facts,
    files: plan.files.map(({ path, how, why, ranges }) => ({
      path,
      how,
      ...(why === undefined ? {} : { why }),
      ranges,
    })),
  };
}

const WHY: Readonly<Record<NonNullable<LandedFile["why"]>, string>> = {
  lines: "changed in the same place",
  binary: "binary, and changed by both",
  link: "a link, and changed by both",
  both_created: "created by both",
  deleted_and_edited: "deleted by one and edited by the other",
  in_the_way: "something else is in its place",
  not_a_file: "neither a file nor a link",
  twin: "another spelling of the name is there",
};

/** `lines 40-44`, `line 7 and lines 9-12`, or why there are no lines to name. */
export function describeConflict({ why = "lines", ranges }: LandedFile): string {
  const parts = ranges.map(({ start, end }) => (start === end ? `line ${start}` : `lines ${start}-${end}`));
  return parts.length === 0 ? WHY[why] : parts.join(" and ");
}

/** `merged: yours at line 88, the agent's at 12 and 41`. */
export function describeMerge({ ranges }: LandedFile): string {
  const of = (whose: "yours" | "agent") => ranges.filter((range) => range.whose === whose);
  const list = (whose: "yours" | "agent") =>
    of(whose)
      .map(({ start }) => String(start))
      .join(", ")
      .replace(/, ([0-9]+)$/, " and $1");
  if (ranges.length === 0) return "merged: your change and the agent's are in different parts of it";
  return `merged: yours at line ${list("yours")}, the agent's at ${list("agent")}`;
}

const amount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** `2 commits, 1 local edit`, or where HEAD went that does not follow from where it was. */
export function describeMoved({ moved, onto }: Pick<Landing, "moved" | "onto">): string | null {
  if (moved === undefined) return null;
  const { from, commits, edits } = moved;
  const parts = [
    ...(commits === null ? [`HEAD moved from ${from.slice(0, 7)} to ${onto.commit.slice(0, 7)}`] : []),
    ...(commits === null || commits === 0 ? [] : [amount(commits, "commit")]),
    ...(edits === 0 ? [] : [amount(edits, "local edit")]),
  ];
  return `the tree moved on since the agent began${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}

/** `1 file was`, `1 of 4 files was`, `all 3 files were`. */
function describeShare(count: number, all: number): string {
  if (all === 1) return "1 file was";
  return count === all ? `all ${all} files were` : `${count} of ${all} files ${count === 1 ? "was" : "were"}`;
}

/** LAND_CONFLICT with every file that cannot land and the ways on; `run` is how a person names the run. */
export function requireNoConflict(
  { files }: { readonly files: readonly LandedFile[] },
  run: string,
  moved: string | null = null,
): void {
  const conflicts = files.filter(({ how }) => how === "conflict");
  if (conflicts.length === 0) return;
  const [count, all] = [conflicts.length, files.length];
  const rest = conflicts.map(({ path }) => `--except ${formatArgv([path])}`).join(" ");
  const them = count === 1 ? "it" : "them";
  const ways = [
    { says: "let the agent do it", command: `verbatim agent continue ${run} --from tree` },
    ...(count < all ? [{ says: "take the rest", command: `verbatim agent apply ${run} ${rest}` }] : []),
    ...conflicts.slice(0, MOST_WAYS).map(({ path }) => ({
      says: "the agent's version",
      command: `verbatim agent show ${run} --diff ${formatArgv([path])}`,
    })),
    { says: `after you changed ${them}`, command: `verbatim agent apply ${run}` },
  ];
  throw new VerbatimError("LAND_CONFLICT", {
    message: `${describeShare(count, all)} changed by you and by the agent in the same place`,
    fix: ways.map(({ says, command }) => `${says}: ${command}`).join("\n"),
    details: {
      files: conflicts.map((file) => ({ path: file.path, where: describeConflict(file), ranges: file.ranges })),
      ways,
      moved,
    },
  });
}

/** How many files are named one by one among the ways on. */
const MOST_WAYS = 3;

/** LAND_UNVERIFIED unless the candidate is verified, or may land without. A selection is a change that nobody tried. */
export function requireVerified(facts: {
  readonly run: string;
  readonly kind: Candidate["kind"];
  /** `none`: the run was asked for without verification. */
  readonly verification: "passed" | "failed" | "missing" | "none";
  /** `--unverified`. */
  readonly unverified: boolean;
}): void {
  const { run, kind, verification, unverified } = facts;
  if (verification === "passed" || verification === "none") return;
  if (unverified && kind !== "selection") return;
  const ways = [`verbatim agent verify ${run}`, ...(kind === "selection" ? [] : ["apply it with --unverified"])];
  throw new VerbatimError("LAND_UNVERIFIED", {
    message:
      kind === "selection"
        ? "this selection is not verified; a part of a change is a change of its own"
        : `this candidate is not verified${verification === "failed" ? ": its verification failed" : ""}`,
    fix: `Verify it: ${ways.join(", or ")}`,
  });
}
