import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { SigningKey } from "../../../core/trust/index.ts";
import {
  type AgentRecord,
  closeLanding,
  describeMoved,
  finishLanding,
  isLandingOpen,
  type Landing,
  type LandingPlan,
  makeCommit,
  planLanding,
  type Run,
  requireNoConflict,
  requireVerified,
  toLanding,
  toLandingChanges,
  undoLanding,
  writeLanding,
} from "../../../rooms/workflow/index.ts";
import { attest } from "../attest/attest.ts";
import { findSigningKey } from "../attest/signing-key.ts";
import { type MadeCandidate, makeCandidate } from "../capture/candidate.ts";
import { gateCandidate, tryCandidate } from "../judge/judge.ts";
import { findVerification, verificationOf } from "../judge/verified.ts";
import type { AgentPorts } from "../ports.ts";
import type { AgentSummary } from "../report/agent-summary.ts";
import { toSummary } from "../report/report.ts";
import type { OpenAgentRun } from "../request/session.ts";
import { type CommitPlace, type CommitWish, findCommitPlace, planOnHead, prepareCommit } from "./commit.ts";
import { type LandOptions, lookNow, refusedByGate, requireLandable, sayMoved, type TreeNow } from "./landable.ts";
import { tryMade, trySelection } from "./select.ts";

/** Puts the change of a run into the tree as it is now: per file, judged again and verified again where it moved on. */
export async function land(
  outside: AgentPorts,
  { session, record }: OpenAgentRun,
  options: LandOptions,
): Promise<AgentSummary> {
  if (record.now.state === "applied") return toSummary(record);
  const whole = requireLandable(record, options);
  const made = await choose(outside, { session, record }, whole, options);
  const verification = verificationOf(record, made.candidate);
  requireVerified({ run: record.run.id, kind: made.candidate.kind, verification, unverified: options.unverified });
  // What lifts the verification of a whole change lifts nothing for a part of it.
  const isPart = made.candidate.kind === "selection";
  const without = {
    verification: verification !== "passed",
    reverification: options.noReverify || (options.unverified && !isPart),
  };
  const wish = options.commit ?? record.now.request.commit ?? null;
  if (wish !== null) refuseUnproved(options);
  // A key that cannot be used is told before anything lands.
  const key = wish === null ? null : await findSigningKey(outside, null);
  const landed = await session.withTree(() => landLocked(outside, { session, record }, made, without, wish));
  return wish === null ? landed : await attestLanded(outside, record, key);
}

/** The commit stands whether it is attested or not: what goes wrong here is told, and can be done again. */
async function attestLanded(outside: AgentPorts, record: AgentRecord, key: SigningKey | null): Promise<AgentSummary> {
  const again = `verbatim agent attest ${record.run.id}`;
  if (key === null) {
    if (await isFirstCommit(outside))
      outside.notify(`not attested: there is no key to sign with; with one: ${again} --key NAME`);
    return toSummary(record);
  }
  try {
    await attest(outside, record, { key, commit: null, out: null });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    outside.notify(`not attested: ${thrown.message}; try again: ${again}`);
  }
  return toSummary(record);
}

/** Whoever has no key is told once, not with every commit. */
async function isFirstCommit(outside: AgentPorts): Promise<boolean> {
  const store = await outside.store("read");
  return await store.read(
    async ({ ledger }) => (await ledger.browse({ kinds: ["AGENT_COMMITTED"], limit: 2 })).length < 2,
  );
}

/** What lands without being verified as it lands is not committed as if it had been. */
function refuseUnproved({ noReverify }: LandOptions): void {
  if (!noReverify) return;
  throw new VerbatimError("USAGE", {
    message: {
      cli: "--commit and --no-reverify contradict each other: what is committed is what was verified",
      others: "commit and no_reverify contradict each other: what is committed is what was verified",
    },
  });
}

/** What lands: the whole candidate, one that was named, or a part that has just been judged and verified by itself. */
async function choose(
  outside: AgentPorts,
  open: OpenAgentRun,
  whole: MadeCandidate,
  options: LandOptions,
): Promise<MadeCandidate> {
  const { record } = open;
  const isNamed = whole.candidate.c !== record.now.candidate;
  const part = await trySelection(outside, open, whole, options);
  const tried = part ?? (isNamed ? await tryMade(outside, open, whole, false) : null);
  if (tried === null) return whole;
  if (tried.result === "rejected") throw refusedByGate(record.run, tried.gate);
  const mayFail = part === null && options.unverified && whole.candidate.kind !== "selection";
  if (tried.result === "failed" && !mayFail) {
    throw failedAgain(record.run, part === null ? "this candidate" : "the part you chose", tried.reason);
  }
  return tried.made;
}

function failedAgain({ id, folder }: Run, what: string, reason: string | null): VerbatimError {
  return new VerbatimError("LAND_UNVERIFIED", {
    message: `${what} does not pass: ${reason ?? "the verification failed"}`,
    where: folder.dir,
    fix: {
      cli: `Nothing was applied. See: verbatim agent show ${id}`,
      others: "Nothing was applied. Look at what the verification printed.",
    },
  });
}

async function landLocked(
  outside: AgentPorts,
  { session, record }: OpenAgentRun,
  made: MadeCandidate,
  without: Without,
  wish: CommitWish | null,
): Promise<AgentSummary> {
  const { run, now } = record;
  const { candidate } = made;
  const { c } = candidate;
  const base = { tree: candidate.base.tree, objects: run.objects() };
  const committed = wish === null ? null : await findCommitPlace(run.ports, wish);
  // A branch of its own leaves the working tree alone: what it follows is the tree that the change lands on.
  const aside = wish?.branch == null ? null : committed;
  const there: TreeNow = aside ?? (await lookNow(outside, run));
  const { landing, crypto, random } = run.ports;
  const content = await outside.content("append");
  const plan =
    aside === null
      ? await planLanding({ ...landing, content, crypto }, base, candidate.files)
      : await planOnHead(outside, run, base, aside, candidate.files);
  const l = now.landings + 1;
  const isMoved = there.tree !== candidate.base.tree;
  const moved = isMoved ? { moved: await sayMoved(run, candidate, there) } : {};
  const { here } = outside;
  const work_tree = here === null ? {} : { work_tree: { root: here.root, repo_id: here.repo_id } };
  const onto = { commit: there.commit, tree: there.tree };
  const planned = toLanding(plan, { l, candidate: c, onto, ...moved, ...work_tree });
  await refuseConflict(record, planned, c);
  const plan_sha256 = record.writeLanding(planned, "plan");
  const { state, reason, verification } = now;
  const begun = { l, c, onto, plan_sha256 };
  await record.enter("AGENT_LANDING_STARTED", begun, "landing", null, {
    landings: l,
    landing: l,
    candidate: c,
    verification: now.candidate === c ? verification : (findVerification(record, candidate)?.v ?? null),
    back_to: { state, reason, candidate: now.candidate, verification },
  });
  const place = { folder: run.folder, l };
  try {
    if (isMoved) await judgeAgain(outside, { session, record }, plan, there, without);
    const request = { l, made, plan, there, unverified: without.verification || without.reverification };
    if (committed !== null) await prepareCommit(outside, { session, record }, { ...request, place: committed });
    await writeLanding({ files: landing.files, content, crypto, random }, place, aside === null ? plan : { files: [] });
    if (committed !== null && !(await makeCommit(record, l))) {
      undoLanding({ files: landing.files, crypto }, place);
      throw headMoved(committed);
    }
  } catch (thrown) {
    // What could not be put back is left to whoever comes next, who finds the journal open.
    if (!isLandingOpen(place)) await goBack(record, c, thrown);
    throw thrown;
  }
  await finishLanding(record, planned, listWithout(record, without, isMoved));
  closeLanding(place);
  await session.event("orchestrator", "RUN_PASSED", "");
  return toSummary(record);
}

function headMoved({ ref, commit }: CommitPlace): VerbatimError {
  return new VerbatimError("LAND_RACED", {
    message: `${ref.replace("refs/heads/", "")} moved on from ${commit.slice(0, 7)} while the change was committed; everything was put back`,
    details: { ref, commit },
  });
}

/** What a landing does without. */
interface Without {
  readonly verification: boolean;
  readonly reverification: boolean;
}

function listWithout(
  { now }: AgentRecord,
  { verification, reverification }: Without,
  isMoved: boolean,
): (keyof Without)[] {
  if (now.request.verify.length === 0) return ["verification"];
  return [
    ...(verification ? (["verification"] as const) : []),
    ...(isMoved && reverification ? (["reverification"] as const) : []),
  ];
}

async function refuseConflict(record: AgentRecord, landing: Landing, c: number): Promise<void> {
  const paths = landing.files.filter(({ how }) => how === "conflict").map(({ path }) => path);
  if (paths.length === 0) return;
  const { state, reason } = record.now;
  await record.enter("AGENT_LAND_REFUSED", { l: null, c, code: "LAND_CONFLICT", paths }, state, reason);
  requireNoConflict(landing, record.run.id, describeMoved(landing));
}

/** The change on the tree as it is now is a candidate of its own: judged, and verified by the commands of the run. */
async function judgeAgain(
  outside: AgentPorts,
  { session, record }: OpenAgentRun,
  plan: LandingPlan,
  there: TreeNow,
  without: Without,
): Promise<void> {
  const changes = toLandingChanges(plan);
  if (changes.length === 0) return;
  const { run, now } = record;
  const base = { ...there, objects: run.objects() };
  const parent = now.candidate!;
  const made = await makeCandidate(outside, record, { kind: "landing", parent, base, changes });
  const { gate, facts } = await gateCandidate(outside, session, record, made, base);
  await record.enter("AGENT_GATED", facts, "landing");
  if (gate.verdict === "reject") throw refusedByGate(run, gate);
  const { c } = made.candidate;
  if (now.request.verify.length === 0 || without.reverification) {
    return record.save({ candidate: c, verification: null });
  }
  const tried = await tryCandidate(outside, session, record, made, { base, ignored: null, locked: true });
  const passed = tried.report.result === "PASS";
  await record.enter(passed ? "AGENT_VERIFIED" : "AGENT_VERIFY_FAILED", tried.facts, "landing");
  if (!passed) throw failedAgain(run, "the change on the tree as it is now", tried.report.reason);
  record.save({ candidate: c, verification: tried.report.v });
}

/** Nothing of the landing is in the tree: the run stands where it stood. */
async function goBack(record: AgentRecord, c: number, thrown: unknown): Promise<void> {
  const { back_to, landing: l } = record.now;
  const { state, reason, candidate, verification } = back_to!;
  const code = thrown instanceof VerbatimError ? thrown.code : "INTERNAL";
  const refused = { l, c, code, paths: [] };
  const back = { candidate, verification, landing: null, back_to: null };
  await record.enter("AGENT_LAND_REFUSED", refused, state, reason, back);
}
