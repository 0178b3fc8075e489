import { VerbatimError } from "../../../core/errors/index.ts";
import type { AgentRecord } from "../agent/agent-record.ts";
import type { LandingCommit } from "../contracts/commit.ts";

/**
 * Makes a planned commit the newest of its ref and puts its paths into the user's index. False, and nothing done, when the
 * ref has moved on meanwhile.
 */
export async function makeCommit(record: AgentRecord, l: number): Promise<boolean> {
  const plan = record.landingCommit(l)!;
  const { commits } = record.run.ports;
  const isMoved = await commits.move(plan.ref, plan.from, plan.commit, `verbatim: ${record.run.id}`);
  if (!isMoved) {
    record.writeLandingCommit({ ...plan, state: "lost" });
    return false;
  }
  await finish(record, plan);
  return true;
}

/** What a kill left of the commit of a landing, in words; null: there was none, or nothing of it is missing. */
export async function settleCommit(record: AgentRecord, l: number): Promise<string | null> {
  const plan = record.landingCommit(l);
  if (plan === null || plan.state !== "planned") return null;
  if (await record.run.ports.commits.holds(plan.ref, plan.commit)) {
    await finish(record, plan);
    return `its landing and its commit ${plan.commit.slice(0, 7)} were complete; only the record of them was missing`;
  }
  record.writeLandingCommit({ ...plan, state: "lost" });
  return "its change is in your tree, and the commit was not made: commit it yourself";
}

async function finish(record: AgentRecord, plan: LandingCommit): Promise<void> {
  const { run } = record;
  const { l, candidate: c, commit, parent, tree, ref, verification, signed, hooks } = plan;
  if (!plan.aside && !(await run.ports.commits.refreshIndex(plan.files))) {
    // The landing stays open, so that whoever comes next finishes it.
    throw new VerbatimError("DOMAIN_BUSY", {
      message: `the commit ${commit.slice(0, 7)} was made, but another process keeps git's index locked`,
      where: run.ports.repoRoot,
      fix: {
        cli: `When they are done, have it finished: verbatim agent apply ${run.id}`,
        others: "Apply it again when they are done.",
      },
    });
  }
  const { sha256: candidate } = record.candidate(c)!;
  const facts = { l, c, candidate, commit, parent, tree, ref, verification, signed, hooks: [...hooks] };
  await record.enter("AGENT_COMMITTED", facts, "landing");
  record.writeLandingCommit({ ...plan, state: "done" });
}

/** RUN_ENDED for a landing whose commit still stands: a commit is taken back by git, in the open. */
export async function requireUncommitted(record: AgentRecord, l: number): Promise<void> {
  const { run } = record;
  const made = record.landingCommit(l);
  if (made?.state !== "done" || !(await run.ports.commits.holds(made.ref, made.commit))) return;
  const name = made.ref.replace("refs/heads/", "");
  const command = made.aside ? `git branch -D ${name}` : `git revert ${made.commit}`;
  throw new VerbatimError("RUN_ENDED", {
    message: `the change is committed as ${made.commit.slice(0, 7)} on ${name}; undo takes back files, not commits`,
    where: run.folder.dir,
    fix: { cli: `Take the commit back: ${command}`, others: `Take the commit back with git: ${command}` },
    details: { commit: made.commit, ref: made.ref },
  });
}
