import { VerbatimError } from "../../../core/errors/index.ts";
import {
  type AgentRecord,
  type CommitPoint,
  type CommitRow,
  formatCommitMessage,
  LANDING_COMMIT_VERSION,
  type LandingCommit,
  type LandingPlan,
  planLanding,
  type Run,
  readTreeAsFiles,
  requireMessage,
  toLandingChanges,
} from "../../../rooms/workflow/index.ts";
import { type MadeCandidate, makeCandidate } from "../capture/candidate.ts";
import { gateCandidate, tryCandidate } from "../judge/judge.ts";
import type { AgentPorts } from "../ports.ts";
import { listProfiles } from "../request/equip.ts";
import type { OpenAgentRun } from "../request/session.ts";
import { runCommitHooks } from "./commit-hooks.ts";
import { refusedByGate, type TreeNow } from "./landable.ts";

/** How a landing is committed. */
export interface CommitWish {
  /** Null: the goal of the run. */
  readonly message: string | null;
  /** A new branch that the commit goes to, beside the working tree; null: the one HEAD is on. */
  readonly branch: string | null;
}

/** Where a commit goes. */
export interface CommitPlace extends CommitPoint {
  readonly wish: CommitWish;
  /** The ref that is moved, and from where. */
  readonly ref: string;
  readonly from: string | null;
}

/** Whatever would keep a commit from being made, asked before an agent starts and before anything lands. */
export async function findCommitPlace({ commits }: Run["ports"], wish: CommitWish): Promise<CommitPlace> {
  if (wish.message !== null) requireMessage(wish.message);
  await commits.requireIdentity();
  const point = await commits.head();
  if (wish.branch !== null) return { ...point, wish, ref: await commits.newBranch(wish.branch), from: null };
  const doing = await commits.unfinished();
  if (doing !== null) {
    throw new VerbatimError("COMMIT_REFUSED", {
      message: `the repository is in the middle of ${doing}; a commit now would become part of it`,
      fix: {
        cli: `Finish ${doing} first, or use --branch NAME.`,
        others: `Finish ${doing} first.`,
      },
    });
  }
  return { ...point, wish, ref: point.branch ?? "HEAD", from: point.commit };
}

/** HEAD as the tree that a change is planned on. */
export async function planOnHead(
  outside: AgentPorts,
  { ports }: Run,
  base: { readonly tree: string; readonly objects: string },
  head: CommitPoint,
  files: Parameters<typeof planLanding>[2],
): Promise<LandingPlan> {
  const { landing, crypto, commits } = ports;
  const paths = files.map(({ path }) => path);
  const tree = { tree: head.tree, objects: null };
  const seen = await readTreeAsFiles(landing.trees, tree, await commits.paths(head.tree), paths);
  const content = await outside.content("append");
  return await planLanding({ ...landing, files: seen, content, crypto }, base, files);
}

interface CommitRequest {
  readonly place: CommitPlace;
  readonly l: number;
  readonly made: MadeCandidate;
  /** What lands, and on which tree. */
  readonly plan: LandingPlan;
  readonly there: TreeNow;
  /** Nobody asked for a verification, or somebody does without. */
  readonly unverified: boolean;
}

/**
 * Makes the commit of a landing: HEAD and the change, judged and verified as that tree where nothing verified it yet, let
 * through by the hooks inside a guard, signed. It happens before anything of the change is in the tree, so no program that
 * the change could choose runs outside a guard. Nothing refers to the commit when this returns.
 */
export async function prepareCommit(
  outside: AgentPorts,
  open: OpenAgentRun,
  request: CommitRequest,
): Promise<LandingCommit> {
  const { record } = open;
  const { run } = record;
  const { place, l } = request;
  const { commits, landing, crypto } = run.ports;
  const { plan, candidate, verification } = await settleTree(outside, open, request);
  const base = { tree: place.tree, objects: null };
  const content = await outside.content("append");
  const rows: CommitRow[] = [];
  for (const { path, after } of toLandingChanges(plan)) {
    if (after === null) rows.push({ path, mode: null, id: null });
    else {
      const { mode, sha256 } = after;
      rows.push({ path, mode, id: await commits.store(path, mode, await content.get(sha256)) });
    }
  }
  const tree = await commits.makeTree(base, rows);
  const { sha256 } = record.candidate(candidate)!;
  const { goal } = record.now;
  const trailers = { run: run.id, candidate: sha256, assisted_by: nameAgent(outside, record) };
  const message = formatCommitMessage(place.wish.message, goal, trailers);
  const hooks = await commits.hooks();
  const head = { tree, objects: run.objects(), commit: place.commit };
  if (hooks.length > 0) await runCommitHooks(outside, open, { head, hooks, message, candidate: sha256, l });
  const { commit, signed } = await commits.make({ tree, parent: place.commit, message });
  // What git keeps is what others will read; its line ends may be others than those of the tree.
  const kept = await landing.trees.find(
    { tree, objects: null },
    rows.filter(({ mode }) => mode !== null).map(({ path }) => path),
  );
  const files: LandingCommit["files"] = [];
  for (const row of rows) {
    const file = kept.get(row.path);
    files.push({ ...row, sha256: file === undefined ? null : crypto.sha256(await file.read()) });
  }
  const intent: LandingCommit = {
    schema_version: LANDING_COMMIT_VERSION,
    l,
    candidate,
    verification,
    parent: place.commit,
    tree,
    commit,
    ref: place.ref,
    from: place.from,
    aside: place.wish.branch !== null,
    signed,
    hooks: hooks.map(({ name }) => name),
    files,
    state: "planned",
  };
  record.writeLandingCommit(intent);
  return intent;
}

/** The change on HEAD alone, without the edits somebody has in the tree, and what verified exactly that. */
async function settleTree(
  outside: AgentPorts,
  { session, record }: OpenAgentRun,
  { place, made, plan, there, unverified }: CommitRequest,
): Promise<{ readonly plan: LandingPlan; readonly candidate: number; readonly verification: number | null }> {
  const { run, now } = record;
  const { candidate } = made;
  const objects = run.objects();
  const isSame = there.tree === place.tree;
  const onHead = isSame
    ? plan
    : await planOnHead(outside, run, { tree: candidate.base.tree, objects }, place, candidate.files);
  refuseConflict(onHead);
  const changes = toLandingChanges(onHead);
  if (changes.length === 0) {
    throw new VerbatimError("COMMIT_REFUSED", {
      message: "HEAD has this change already, so there is nothing to commit",
      fix: { cli: "Apply it without --commit.", others: "Apply it without a commit." },
    });
  }
  await refuseFiltered(
    run,
    changes.map(({ path }) => path),
  );
  if (isSame) return { plan: onHead, candidate: now.candidate ?? candidate.c, verification: now.verification };
  const base = { commit: place.commit, tree: place.tree, objects };
  const own = await makeCandidate(outside, record, { kind: "landing", parent: candidate.c, base, changes });
  const { gate, facts } = await gateCandidate(outside, session, record, own, base);
  await record.enter("AGENT_GATED", facts, "landing");
  if (gate.verdict === "reject") throw refusedByGate(run, gate);
  const { c } = own.candidate;
  if (now.request.verify.length === 0 || unverified) return { plan: onHead, candidate: c, verification: null };
  const tried = await tryCandidate(outside, session, record, own, { base, ignored: null, locked: true });
  const passed = tried.report.result === "PASS";
  await record.enter(passed ? "AGENT_VERIFIED" : "AGENT_VERIFY_FAILED", tried.facts, "landing");
  if (passed) return { plan: onHead, candidate: c, verification: tried.report.v };
  throw new VerbatimError("LAND_UNVERIFIED", {
    message: `the commit would not pass without what you have not committed: ${tried.report.reason}`,
    where: run.folder.dir,
    fix: {
      cli: "Nothing was applied. Commit your own edits first, or apply it without --commit.",
      others: "Nothing was applied. Commit your own edits first, or apply it without a commit.",
    },
  });
}

/** The agent, and the model it used where that is known. */
function nameAgent(outside: AgentPorts, record: AgentRecord): string {
  const attempt = record.attempt(record.now.attempts);
  const name = attempt?.profile?.name;
  const known = name === undefined ? undefined : listProfiles(outside).find(({ profile }) => profile.name === name);
  return known?.profile.title ?? nameProgram(record.now.request.argv);
}

function nameProgram([program = "agent"]: readonly string[]): string {
  return program.replace(/^.*[/\\]/, "") || "agent";
}

function refuseConflict({ files }: LandingPlan): void {
  const paths = files.filter(({ how }) => how === "conflict").map(({ path }) => path);
  if (paths.length === 0) return;
  throw new VerbatimError("LAND_CONFLICT", {
    message: `HEAD and the agent's change do not fit together in ${paths.join(", ")}`,
    fix: {
      cli: "Commit your own edits of it first, or apply it without --commit.",
      others: "Commit your own edits of it first, or apply it without a commit.",
    },
    details: { files: paths.map((path) => ({ path })), paths },
  });
}

/** git keeps other bytes of such files than the tree shows, and the program that knows them is the user's. */
async function refuseFiltered({ ports }: Run, paths: readonly string[]): Promise<void> {
  const [first] = await ports.commits.filtered(paths);
  if (first === undefined) return;
  throw new VerbatimError("COMMIT_REFUSED", {
    message: `a filter in your git settings rewrites ${first}, and no filter runs on what an agent wrote`,
    where: first,
    fix: {
      cli: "Apply it without --commit, look at the file, and commit it yourself.",
      others: "Apply it without a commit, look at the file, and commit it yourself.",
    },
  });
}
