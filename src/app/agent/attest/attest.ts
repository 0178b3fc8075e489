import { z } from "zod";
import { compareCodePoints, encodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { computeRoot } from "../../../core/ledger/index.ts";
import {
  addSignature,
  type Envelope,
  type SigningKey,
  STATEMENT_PAYLOAD_TYPE,
  signEnvelope,
  toEnvelopeFile,
} from "../../../core/trust/index.ts";
import {
  type AgentChangePredicate,
  type AgentRecord,
  ATTESTATION_FILE,
  type Candidate,
  type CommitFacts,
  type CommitRow,
  formatAgentStatement,
  resolveAgentPolicy,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { withAgentRun } from "../request/session.ts";
import { findOwnAgentRun } from "../runs/find-agent-run.ts";
import { requireSecond } from "../runs/work-tree.ts";
import { listSigners, readKept } from "./attestation.ts";
import { requireSigningKey } from "./signing-key.ts";

export const attested = z.strictObject({
  run_id: z.string(),
  commit: z.string(),
  signed_by: z.array(z.string()).describe("Ids of the keys that have signed the statement so far."),
  note: z.boolean().describe("Whether the statement is on refs/notes/verbatim."),
  file: z.string().describe("Where the statement is kept with the run."),
  out: z.string().nullable(),
});

/** What is signed, and where else it goes. */
export interface AttestRequest {
  readonly key: SigningKey;
  /** Null: the commit that the run made. */
  readonly commit: string | null;
  readonly out: string | null;
}

/** Signs a statement about the commit of a run and puts it on the notes of the repository. */
export async function attestAgentRun(
  outside: AgentPorts,
  name: string,
  {
    key: named,
    ...request
  }: { readonly key: string | null; readonly commit: string | null; readonly out: string | null },
): Promise<z.infer<typeof attested>> {
  const key = await requireSigningKey(outside, named);
  const run = await findOwnAgentRun(outside, await outside.workflow("mutate"), name);
  requireSecond(run);
  return await withAgentRun(outside, run, "agent attest", ({ record }) => attest(outside, record, { key, ...request }));
}

/** The statement is kept before the note is written; asked again, the same one is signed once more and noted again. */
export async function attest(
  outside: AgentPorts,
  record: AgentRecord,
  { key, commit: named, out }: AttestRequest,
): Promise<z.infer<typeof attested>> {
  const { run } = record;
  const change = await findChange(outside, record, named);
  const { commit } = change.facts;
  const kept = readKept(record, commit);
  const payload = kept?.payload ?? encodeUtf8(formatAgentStatement(commit, await describe(outside, record, change)));
  const envelope =
    kept === null
      ? await signEnvelope(key, STATEMENT_PAYLOAD_TYPE, payload)
      : await addSignature(kept, key, STATEMENT_PAYLOAD_TYPE, payload);
  const bytes = toEnvelopeFile(envelope);
  if (kept === null || kept.envelope !== envelope) {
    record.writeAttestation(bytes);
    const { state, reason } = record.now;
    const statement_sha256 = run.ports.crypto.sha256(payload);
    await record.enter("AGENT_ATTESTED", { commit, statement_sha256, key_id: key.key_id }, state, reason);
  }
  if (out !== null) await run.ports.files.create(out, bytes);
  const { notes } = outside.config().agent.attest;
  if (notes) await note(record, commit, envelope);
  return {
    run_id: run.id,
    commit,
    signed_by: listSigners(envelope),
    note: notes,
    file: `${run.folder.dir}/${ATTESTATION_FILE}`,
    out,
  };
}

/** One line an envelope; the same statement with fewer signatures gives way to the one with more. */
async function note({ run }: AgentRecord, commit: string, envelope: Envelope): Promise<void> {
  await run.ports.commits.requireIdentity();
  const line = new TextDecoder().decode(toEnvelopeFile(envelope)).trimEnd();
  await run.ports.history.editNote(commit, (lines) => [
    ...lines.filter((one) => payloadOf(one) !== envelope.payload),
    line,
  ]);
}

function payloadOf(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "payload" in value ? String(value.payload) : null;
  } catch {
    // A line that another program wrote stays as it is.
    return null;
  }
}

/** A commit, and the candidate that it is of. */
interface AttestedChange {
  readonly facts: CommitFacts;
  readonly candidate: Candidate;
  readonly verification: number | null;
  readonly files: AgentChangePredicate["files"];
}

/** The commit of the run, or a named one that has exactly the tree and the changes that the run stands for. ATTEST_REFUSED. */
async function findChange(outside: AgentPorts, record: AgentRecord, named: string | null): Promise<AttestedChange> {
  const { run, now } = record;
  const { history } = run.ports;
  if (["discarded", "undone", "rejected"].includes(now.state)) {
    throw refuse(record, `the run is ${now.state}: nothing of it can be vouched for`);
  }
  const made = now.landing === null ? null : record.landingCommit(now.landing);
  const own = made?.state === "done" ? made : null;
  const name = named ?? own?.commit ?? null;
  if (name === null)
    throw refuse(record, "nothing of the run was committed by Verbatim: name the commit that has its change");
  const facts = await history.find(name);
  if (facts === null) {
    throw new VerbatimError("USAGE", {
      message: `${JSON.stringify(name)} is no commit of this repository`,
      where: "/commit",
    });
  }
  const c = own?.candidate ?? now.candidate;
  const candidate = c === null ? null : record.candidate(c);
  if (candidate === null) throw refuse(record, "the run has no change");
  if (record.gate(candidate.c)?.verdict !== "accept") throw refuse(record, "its change was not accepted by the policy");
  const verification = own === null ? now.verification : own.verification;
  const { tree, rows } =
    own === null ? await makeTree(outside, record, candidate) : { tree: own.tree, rows: own.files };
  if (facts.tree !== tree) {
    throw refuse(record, `${facts.commit.slice(0, 12)} does not have the tree that the run stands for`);
  }
  const wanted = new Map(rows.map((row) => [row.path, row]));
  const files: AgentChangePredicate["files"] = [];
  for (const { path, mode, id } of await history.changes(facts)) {
    const row = wanted.get(path);
    if (row === undefined || row.mode !== mode || row.id !== id) {
      throw refuse(record, `${facts.commit.slice(0, 12)} changes ${path} in a way that is not the run's`);
    }
    files.push({ path, mode: row.mode, sha256: id === null ? null : await history.hash(id) });
  }
  if (files.length === 0) throw refuse(record, `${facts.commit.slice(0, 12)} changes nothing`);
  return { facts, candidate, verification, files: files.sort((a, b) => compareCodePoints(a.path, b.path)) };
}

/** The tree that a candidate makes of its base, as git would keep it. */
async function makeTree(
  outside: AgentPorts,
  { run }: AgentRecord,
  { base, files }: Candidate,
): Promise<{ readonly tree: string; readonly rows: readonly CommitRow[] }> {
  const { commits } = run.ports;
  const content = await outside.content("read");
  const rows: CommitRow[] = [];
  for (const { path, mode, sha256 } of files) {
    if (mode === null || sha256 === null) rows.push({ path, mode: null, id: null });
    else rows.push({ path, mode, id: await commits.store(path, mode, await content.get(sha256)) });
  }
  return { tree: await commits.makeTree({ tree: base.tree, objects: run.objects() }, rows), rows };
}

function refuse({ run }: AgentRecord, message: string): VerbatimError {
  return new VerbatimError("ATTEST_REFUSED", {
    message,
    where: run.folder.dir,
    fix: {
      cli: `Name the commit that has exactly the change: verbatim agent attest ${run.id} --commit HEX`,
      others: "Name the commit that has exactly the change.",
    },
  });
}

/** Everything that is said of a commit, from the files of the run. */
async function describe(
  outside: AgentPorts,
  record: AgentRecord,
  { candidate, verification: v, files }: AttestedChange,
): Promise<AgentChangePredicate> {
  const { run, now } = record;
  const attempt = record.attempt(findAttempt(record, candidate));
  const report = v === null ? null : record.verification(v);
  const verified = report?.candidate === candidate.sha256 ? report : null;
  const gate = record.gate(candidate.c)!;
  const { isPermitted } = resolveAgentPolicy({ permit: gate.permit });
  const { network } = attempt ?? {};
  const [argv0 = "agent"] = now.request.argv;
  const model = record.usage(attempt?.n ?? 1)?.usage?.models.find((one) => one.model !== null)?.model ?? null;
  const store = await outside.store("read");
  const ledger = await store.read(async ({ ledger: reader }) => {
    const size = await reader.size();
    const root = await computeRoot(run.ports.crypto, (from, limit) => reader.readHashes(from, limit), size);
    return { index: Math.max(0, size - 1), root };
  });
  const applied = now.landing === null ? null : record.landing(now.landing, "result");
  return {
    run_id: run.id,
    goal: now.goal,
    base: { commit: candidate.base.commit, tree: candidate.base.tree },
    candidate: candidate.sha256,
    files: [...files],
    agent: {
      profile: attempt?.profile?.name ?? "none",
      argv0: argv0.replace(/^.*[/\\]/, "") || "agent",
      ...(model === null ? {} : { model }),
    },
    guard: attempt?.guard ?? null,
    proof_hash: attempt?.proof_hash ?? null,
    network: {
      mode: network?.mode ?? "inherit",
      allowed: network?.allowed ?? 0,
      refused: network?.refused ?? 0,
      log_sha256: network?.log_sha256 ?? null,
    },
    policy: { verdict: gate.verdict, permitted: files.map(({ path }) => path).filter(isPermitted) },
    verification: {
      base: verified === null ? null : { kind: verified.base.kind, tree: verified.base.tree },
      commands: (verified?.commands ?? []).map(({ cmd, exit_code }) => ({ cmd, exit_code })),
      result: verified?.result ?? "NONE",
    },
    ledger,
    finished_at: applied?.applied_at ?? now.updated_at,
  };
}

/** The attempt that a candidate came from, over those it was made of. */
export function findAttempt(record: AgentRecord, candidate: Candidate): number {
  for (
    let one: Candidate | null = candidate;
    one !== null;
    one = one.parent === undefined ? null : record.candidate(one.parent)
  ) {
    if (one.attempt !== undefined) return one.attempt;
  }
  return Math.max(1, record.now.attempts);
}
