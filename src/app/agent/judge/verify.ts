import type { GuardRequest } from "../../../rooms/catalytic/index.ts";
import {
  type AgentRecord,
  type BaseTree,
  type Candidate,
  COPY_FOLDER,
  childEnvironment,
  formatArgv,
  type Run,
  type Session,
  TOOL_HOMES,
  type Verified,
  type ViewWrite,
  verifyCandidate,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readCaps } from "../request/caps.ts";
import { toVerifyMasks } from "../request/masks.ts";
import { readNetwork } from "../request/network.ts";
import { findSecrets, redactVerified } from "../work/redact.ts";

/** What a candidate is judged and verified on. */
export interface JudgedOn {
  /** The tree of its base, with the objects that the repository itself does not have. */
  readonly base: BaseTree & { readonly commit: string };
  /** What git ignored when the agent began; null: nobody knows. */
  readonly ignored: ReadonlyMap<string, string> | null;
  /** The caller holds the lock of the whole tree. */
  readonly locked: boolean;
}

/** Runs the verify commands of a run on a candidate, on the tree it begins with. Members of a race take turns. */
export async function verifyChange(
  outside: AgentPorts,
  session: Session,
  record: AgentRecord,
  candidate: Candidate,
  on: JudgedOn & { readonly v: number },
): Promise<Verified> {
  const work = () => verifyAlone(outside, session, record, candidate, on);
  if (outside.race === null) return await work();
  const verified = await outside.race.verify(candidate.sha256, work);
  return { ...verified, report: { ...verified.report, v: on.v } };
}

async function verifyAlone(
  outside: AgentPorts,
  session: Session,
  record: AgentRecord,
  candidate: Candidate,
  { base, ignored, locked, v }: JudgedOn & { readonly v: number },
): Promise<Verified> {
  const { run } = session;
  const { agent, workflow } = outside.config();
  const network = readNetwork(outside, record.now);
  const caps = readCaps(outside, record.now);
  const { verify, setup, baseline, guard } = record.now.request;
  const isPlain = workflow.verify.isolation === "worktree";
  // Whoever asked for a guard gets one, or GUARD_UNAVAILABLE.
  if (workflow.verify.isolation === "catalytic") await run.ports.isolations.choose("catalytic");
  try {
    const ports = await outside.verification({
      base: isPlain ? "checkout" : agent.verify.base,
      copy_max: agent.verify.copy_max,
      guard: isPlain ? "audit" : (guard as GuardRequest | null),
      network,
      masks: toVerifyMasks(record.now, agent.verify.unmask),
      caps,
      git: run.ports.git,
      checkout: { folder: run.folder.makeFolder(COPY_FOLDER), base, commit: base.commit },
    });
    const isBare = setup === "detect" && ports.place.kind === "checkout" && workflow.verify.setup.length > 0;
    const verifyIt = () =>
      verifyCandidate(
        ports,
        {
          v,
          candidate: candidate.sha256,
          base: { ...base, head: base.commit },
          writes: toWrites(candidate),
          commands: verify,
          setup: isBare ? workflow.verify.setup.map((one) => ({ ...one, cmd: formatArgv(one.argv) })) : setup,
          timeout_s: agent.verify.timeout_s,
          baseline,
          ignored_at_start: ignored,
          env: childEnvironment(run.ports.env, [...TOOL_HOMES, ...workflow.verify.env_allow], {}),
          run_id: run.id,
          network: network.mode,
          caps: null,
          locked,
        },
        session.signal,
      );
    const verified = ports.place.guarded ? await verifyIt() : await verifyWatched(run, verifyIt);
    return redactVerified(findSecrets(outside, ports.place.hidden().values), verified);
  } finally {
    run.folder.remove(COPY_FOLDER);
  }
}

/** Commands that nothing holds back could have written anywhere: the real tree is compared before and after. */
async function verifyWatched(run: Run, verify: () => Promise<Verified>): Promise<Verified> {
  const before = await run.ports.git.fingerprint(true);
  const verified = await verify();
  if ((await run.ports.git.fingerprint(true)) === before) return verified;
  const reason = "your tree changed while the verify commands ran, and no guard held them back";
  return { ...verified, report: { ...verified.report, result: "FAIL", code: "VERIFY_FAILED", reason } };
}

/** What a candidate writes. Of a deletion and an addition of one path the addition is the last word. */
export function toWrites({ files }: Candidate): ViewWrite[] {
  const writes = new Map<string, ViewWrite>();
  for (const { path, mode, sha256, target } of files) {
    if (mode === null || sha256 === null) {
      if (!writes.has(path)) writes.set(path, { path, mode: null });
    } else if (mode === "120000") writes.set(path, { path, mode, target: target ?? "" });
    else writes.set(path, { path, mode, sha256 });
  }
  return [...writes.values()];
}
