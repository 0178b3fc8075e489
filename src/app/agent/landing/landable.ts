import { VerbatimError } from "../../../core/errors/index.ts";
import { lookAtTree } from "../../../rooms/catalytic/index.ts";
import {
  type AgentGate,
  type AgentRecord,
  type Candidate,
  type CandidatePick,
  formatArgv,
  type Landing,
  type Run,
  resolveSelection,
} from "../../../rooms/workflow/index.ts";
import { type MadeCandidate, readCandidate } from "../capture/candidate.ts";
import { describeRejection } from "../judge/judge.ts";
import type { AgentPorts } from "../ports.ts";
import { rememberBase } from "../prepare/prepare-base.ts";
import type { CommitWish } from "./commit.ts";

/** What a person asks of a landing. */
export interface LandOptions {
  /** The number of a candidate; null: the one that the run stands for. */
  readonly candidate: number | null;
  readonly only: readonly string[];
  readonly except: readonly string[];
  /** What exactly is taken, in place of `only`. */
  readonly picks?: readonly CandidatePick[] | undefined;
  /** Do not verify again on a tree that has moved on. */
  readonly noReverify: boolean;
  /** Land although the verification failed or is missing. */
  readonly unverified: boolean;
  /** Commit it; undefined: as the run was asked to. */
  readonly commit?: CommitWish | undefined;
}

export const LAND_ALL: LandOptions = { candidate: null, only: [], except: [], noReverify: false, unverified: false };

/** Whether parts are named, which may still turn out to be all of them. */
function isPart({ only, except, picks }: LandOptions): boolean {
  return only.length > 0 || except.length > 0 || picks !== undefined;
}

/** The candidate that could land, or RUN_NOT_PASSED, RUN_ENDED, LAND_UNVERIFIED with the way on. */
export function requireLandable(record: AgentRecord, options: LandOptions): MadeCandidate {
  const { run, now } = record;
  const c = options.candidate ?? now.candidate;
  const made = c === null ? null : readCandidate(record, c);
  const verify = `verbatim agent verify ${run.id}`;
  const words = now.state.replaceAll("_", " ");
  const where = run.folder.dir;
  if (made === null && options.candidate !== null) throw noCandidate(c);
  if (made === null || ["discarded", "undone", "unchanged", "not_started"].includes(now.state)) {
    throw new VerbatimError("RUN_ENDED", {
      message: `the run is ${words}: it has nothing to apply`,
      where,
      fix: `See: verbatim agent show ${run.id}`,
    });
  }
  if (made.candidate.kind === "landing" && c !== now.candidate) throw noCandidate(c);
  const gate = record.gate(made.candidate.c);
  const isSelection = isPart(options);
  if (gate === null || gate.candidate !== made.candidate.sha256) {
    throw new VerbatimError("LAND_UNVERIFIED", {
      message: `the run is ${words}, so its change has not been judged`,
      where,
      fix: `Judge it: ${verify}`,
    });
  }
  if (gate.verdict === "reject" && !isSelection) throw refusedByGate(run, gate);
  return made;
}

function noCandidate(c: number | null): VerbatimError {
  return new VerbatimError("SELECTION_INVALID", { message: `there is no candidate ${c} that could be applied` });
}

/** The first thing the gate says, as an error; the way on is a new verdict. */
export function refusedByGate({ id, folder }: Run, gate: AgentGate): VerbatimError {
  const first = gate.findings[0]!;
  const code = (["POLICY_NEVER", "POLICY_PROTECTED", "POLICY_SECRET", "POLICY_LIMIT"] as const).find(
    (one) => one === first.code,
  );
  const flags = gate.findings.flatMap(({ flag }) => flag ?? []);
  const isLifted = gate.findings.every(({ flag }) => flag !== null);
  const reason = describeRejection(gate);
  return new VerbatimError(code ?? "RUN_NOT_PASSED", {
    message: {
      cli: `the change is rejected: ${reason}`,
      others: `the change is rejected: ${reason.replace(/--(?:allow|deny)(?=$| \(and )/, "the scope of the run")}`,
    },
    where: folder.dir,
    fix: {
      cli: isLifted
        ? `Judge it again: verbatim agent verify ${id} ${[...new Set(flags)].join(" ")}`
        : `Apply the rest: verbatim agent apply ${id} --except ${first.path === null ? "PATH" : formatArgv([first.path])}`,
      others: isLifted
        ? "Leave out what is listed and verify the rest, or permit it and verify again."
        : "Leave out what is listed and verify the rest.",
    },
    details: { findings: gate.findings },
  });
}

/** The chosen parts of a change; null: all of it was chosen. */
export function pickParts(
  record: AgentRecord,
  { candidate }: MadeCandidate,
  options: LandOptions,
): CandidatePick[] | null {
  if (!isPart(options)) return null;
  const picked = resolveSelection(candidate, options);
  const isAll =
    picked.every(({ hunks }) => hunks === "all") &&
    picked.length === new Set(candidate.files.map(({ path }) => path)).size;
  if (!isAll) return picked;
  const gate = record.gate(candidate.c)!;
  if (gate.verdict === "reject") throw refusedByGate(record.run, gate);
  return null;
}

/** What is in the tree now, as a tree of git. */
export interface TreeNow {
  readonly commit: string;
  readonly tree: string;
}

export async function lookNow(outside: AgentPorts, run: Run): Promise<TreeNow> {
  const base = rememberBase(run.ports.git, () => lookAtTree(outside.catalytic(), outside.places()));
  try {
    const { commit } = await base.git.head();
    return { commit, tree: await base.git.writeWorkingTree(run.objects(), true) };
  } finally {
    base.look()?.close();
  }
}

export async function sayMoved(run: Run, { base }: Candidate, there: TreeNow): Promise<NonNullable<Landing["moved"]>> {
  return { from: base.commit, ...(await run.ports.git.movedSince(base, there, run.objects())) };
}
