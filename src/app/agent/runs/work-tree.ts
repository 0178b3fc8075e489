import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import { AgentRecord, isAge, type Run, requireOwn, resolveRunName } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { quotePath } from "../report/explain-end.ts";
import { findAgentRun, isPath, WORDS } from "./find-agent-run.ts";
import { listAgentRuns } from "./list.ts";

/** The flag that lets a run of another work tree of the same repository be used in this one. */
const HERE = "--here";

/**
 * Lets `work` change a run: one of this work tree, or with `here` also one of another work tree of the same repository, in
 * whose place this one is changed. RUN_NOT_FOUND, RUN_AMBIGUOUS, RUN_OTHER_REPO.
 */
export async function withRunHere<T>(
  outside: AgentPorts,
  name: string,
  here: boolean,
  work: (outside: AgentPorts, run: Run) => Promise<T>,
): Promise<T> {
  const ports = await outside.workflow("mutate");
  if (!here) {
    const run = await findAgentRun(outside, ports, name).catch((thrown: unknown) => explain(outside, name, thrown));
    const isOfSibling = outside.siblings().some(({ root }) => root === run.state.repo_root);
    requireOwn(run, isOfSibling ? HERE : undefined);
    return await work(outside, run);
  }
  const { root, found } = await findAnywhere(outside, name);
  if (root === ports.repoRoot) return await work(outside, await findAgentRun(outside, ports, found));
  return await outside.borrow(root, async (borrowed) => {
    const run = await findAgentRun(borrowed, await borrowed.workflow("mutate"), found);
    requireOwn(run);
    return await work(borrowed, run);
  });
}

/** The work tree that a run belongs to, out of all of this repository, and a name for it there. */
async function findAnywhere(outside: AgentPorts, name: string): Promise<{ root: string; found: string }> {
  const ports = await outside.workflow("read");
  const trees = outside.siblings().map(({ root }) => root);
  if (isPath(name)) {
    const run = await findAgentRun(outside, ports, name);
    if (ports.runs.isOwn(run.state)) return { root: ports.repoRoot, found: name };
    const root = trees.find((one) => one === run.state.repo_root);
    if (root === undefined) requireOwn(run);
    return { root: root!, found: run.folder.dir };
  }
  const { runs } = await listAgentRuns(outside, { limit: Number.MAX_SAFE_INTEGER, all: true });
  const id = resolveRunName(runs, name, { ...WORDS, list: `${WORDS.list} --all` });
  const { root, run_dir } = runs.find(({ run_id }) => run_id === id)!;
  return { root, found: run_dir };
}

/** A run that is not here may be in another work tree; then that is what is said. */
async function explain(outside: AgentPorts, name: string, thrown: unknown): Promise<never> {
  const isMissing = isVerbatimError(thrown) && thrown.code === "RUN_NOT_FOUND";
  if (!isMissing || isPath(name) || isAge(name) || outside.siblings().length === 0) throw thrown;
  const { root, found } = await findAnywhere(outside, name).catch(() => {
    throw thrown;
  });
  throw new VerbatimError("RUN_OTHER_REPO", {
    message: `the run ${name} belongs to another work tree of this repository, ${showPath(root)}`,
    where: found,
    fix: {
      cli: `Use it there: verbatim -C ${quotePath(root)} ..., or in this work tree: add ${HERE}`,
      others: "Use it in that work tree.",
    },
    details: { repo_root: root },
  });
}

/** RUN_OTHER_REPO for whoever would take back or finish in this work tree what was put into another. */
export function requireLandedHere(outside: AgentPorts, record: AgentRecord): void {
  const { run, now } = record;
  if (now.landing === null || !["landing", "applied", "undone"].includes(now.state)) return;
  const landed = record.landing(now.landing, "plan")?.work_tree ?? null;
  if ((landed?.repo_id ?? null) === (outside.here?.repo_id ?? null)) return;
  const root = landed?.root ?? run.state.repo_root;
  const flag = landed === null ? "" : ` ${HERE}`;
  const verb = now.state === "landing" ? "apply" : "undo";
  throw new VerbatimError("RUN_OTHER_REPO", {
    message: `the change of this run was ${now.state === "landing" ? "on its way into" : "applied in"} ${showPath(root)}`,
    where: run.folder.dir,
    fix: {
      cli: `Go on there: verbatim -C ${quotePath(root)} agent ${verb} ${run.id}${flag}`,
      others: "Go on in that work tree.",
    },
    details: { repo_root: root },
  });
}

/** RUN_ENDED for a run of the first generation, which knows no candidates. */
export function requireSecond(run: Run): void {
  if (AgentRecord.load(run) !== null) return;
  throw new VerbatimError("RUN_ENDED", {
    message: "the run was made by an earlier version; it can be shown, applied as a whole, undone and discarded",
    where: run.folder.dir,
    fix: `See: verbatim agent show ${run.id}`,
  });
}
