import { parseJson, toCanonicalFile } from "../../../core/canonical/index.ts";
import { type JsonContract, parseContract } from "../../../core/contracts/index.ts";
import type { BuiltCandidate } from "../candidate/build-candidate.ts";
import {
  AGENT_ATTEMPT,
  AGENT_GATE,
  AGENT_RUN,
  AGENT_RUN_VERSION,
  type AgentAttempt,
  type AgentGate,
  type AgentRun,
  type AgentState,
} from "../contracts/agent-run.ts";
import { AGENT_USAGE, type AgentUsage } from "../contracts/agent-usage.ts";
import { CANDIDATE, CARRIED, type Candidate, type Carried, CHOICE, type Choice } from "../contracts/candidate.ts";
import { LANDING_COMMIT, type LandingCommit } from "../contracts/commit.ts";
import { LANDING, type Landing } from "../contracts/landing.ts";
import { type AgentRecordKind, type NewWorkflowRecord, WORKFLOW_RECORDS } from "../contracts/records.ts";
import { appendToRun } from "../run/record/agent-projection.ts";
import type { RunState } from "../run/record/run-state.ts";
import type { Run } from "../run/run.ts";
import { VERIFICATION, type VerificationReport } from "../verification/report.ts";
import type { Verified } from "../verification/verify-candidate.ts";

export const AGENT_RUN_FILE = "agent/run.json";
export const ATTESTATION_FILE = "agent/attestation.dsse.json";

type Stands = "state" | "reason";
type Changes = Partial<Omit<AgentRun, "schema_version" | "run_id" | "goal" | "created_at" | Stands>>;

/** The files of an agent run below `agent/`, each read and written whole. Reading changes nothing. */
export class AgentRecord {
  readonly run: Run;
  #now: AgentRun;

  private constructor(run: Run, now: AgentRun) {
    this.run = run;
    this.#now = now;
  }

  /** Null: a run of the first generation, or none of an agent at all. CONTRACT_VIOLATED when it is not what we wrote. */
  static load(run: Run): AgentRecord | null {
    const now = readFile<AgentRun>(run, AGENT_RUN_FILE, AGENT_RUN);
    return now === null ? null : new AgentRecord(run, now);
  }

  /** The first entry of a run that prepares itself. */
  static async create(run: Run, facts: Pick<AgentRun, "request" | "base" | "shown">): Promise<AgentRecord> {
    const { goal, created_at } = run.state;
    const record = new AgentRecord(run, {
      schema_version: AGENT_RUN_VERSION,
      run_id: run.id,
      goal,
      state: "preparing",
      reason: null,
      created_at,
      updated_at: run.now(),
      duration_ms: 0,
      ...facts,
      attempts: 0,
      candidates: 0,
      verifications: 0,
      landings: 0,
      candidate: null,
      verification: null,
      landing: null,
      back_to: null,
      hooks: { reported: 0, reported_blocked: 0 },
    });
    const { commit, tree } = facts.base;
    const { argv } = facts.request;
    const { repo_id: id = null, repo_root: root, common_dir = null } = run.state;
    const started = { goal, argv, base: { commit, tree }, created_at, run_dir: run.folder.dir };
    await record.enter("AGENT_STARTED", { ...started, repo: { id, root, common_dir } }, "preparing");
    return record;
  }

  get now(): AgentRun {
    return this.#now;
  }

  /**
   * Leaves a state for another: first the entry in the ledger, then run.json, then what RUN.json tells other tools. A kill
   * in between leaves the earlier state, which the next verb repairs.
   */
  async enter<K extends AgentRecordKind>(
    kind: K,
    body: Omit<NewWorkflowRecord<K>, Stands>,
    state: AgentState,
    reason: string | null = null,
    changes: Changes = {},
  ): Promise<void> {
    const { store, actor } = this.run.ports;
    // The compiler does not follow what is left of a generic body; the two fields are those that were taken out.
    const whole = { ...body, state, reason } as unknown as NewWorkflowRecord<K>;
    const entry = WORKFLOW_RECORDS.make(kind, actor, whole);
    await appendToRun(store, this.run.id, [entry]);
    this.save({ ...changes, state, reason });
  }

  /** Replaces run.json. */
  save(changes: Changes & Partial<Pick<AgentRun, Stands>>): void {
    this.#now = { ...this.#now, ...changes, updated_at: this.run.now() };
    this.#write(AGENT_RUN_FILE, this.#now);
    const mirrored = toRunState(this.#now.state);
    const { status, stop_reason } = this.run.state;
    if (status !== mirrored.status || stop_reason !== mirrored.stop_reason)
      this.run.save({ ...mirrored, blocked: null });
  }

  attempt(n: number): AgentAttempt | null {
    return readFile(this.run, `agent/attempts/${toName(n)}/attempt.json`, AGENT_ATTEMPT);
  }

  /** Writes attempt.json and gives back its hash. */
  writeAttempt(attempt: AgentAttempt): string {
    return this.#write(`agent/attempts/${toName(attempt.n)}/attempt.json`, attempt);
  }

  /** What an attempt used; null: its agent has no sessions that can be read. */
  usage(n: number): AgentUsage | null {
    return readFile(this.run, `agent/attempts/${toName(n)}/usage.json`, AGENT_USAGE);
  }

  /** Writes usage.json and gives back its hash. */
  writeUsage(usage: AgentUsage): string {
    return this.#write(`agent/attempts/${toName(usage.n)}/usage.json`, usage);
  }

  candidate(c: number): Candidate | null {
    return readFile(this.run, `${candidateFolder(c)}/candidate.json`, CANDIDATE);
  }

  /** The text part of a candidate; null: it has none. */
  patch(c: number): Uint8Array | null {
    return this.run.read(`${candidateFolder(c)}/diff.patch`);
  }

  carried(c: number): Carried | null {
    return readFile(this.run, `${candidateFolder(c)}/carried.json`, CARRIED);
  }

  /** Writes the files of a candidate, candidate.json last, and gives back its hash. */
  async writeCandidate({ candidate, carried }: BuiltCandidate, patch: Uint8Array | null): Promise<string> {
    const folder = candidateFolder(candidate.c);
    return await this.#writeTogether(`${folder}/candidate.json`, candidate, [
      ...(patch === null ? [] : ([[`${folder}/diff.patch`, patch]] as const)),
      ...(carried === null ? [] : ([[`${folder}/carried.json`, carried]] as const)),
    ]);
  }

  /** What somebody who read a candidate has decided so far; null: nothing yet. */
  choice(c: number): Choice | null {
    return readFile(this.run, `${candidateFolder(c)}/choice.json`, CHOICE);
  }

  writeChoice(c: number, choice: Choice): void {
    this.#write(`${candidateFolder(c)}/choice.json`, choice);
  }

  gate(c: number): AgentGate | null {
    return readFile(this.run, `${candidateFolder(c)}/gate.json`, AGENT_GATE);
  }

  /** The newest verdict on a candidate takes the place of the one before. */
  writeGate(gate: AgentGate): string {
    return this.#write(`${candidateFolder(gate.c)}/gate.json`, gate);
  }

  verification(v: number): VerificationReport | null {
    return readFile(this.run, `agent/verifications/${toName(v)}/report.json`, VERIFICATION);
  }

  /** What the commands printed first, the report last. */
  async writeVerification({ report, stdout, stderr }: Pick<Verified, "report" | "stdout" | "stderr">): Promise<string> {
    const folder = `agent/verifications/${toName(report.v)}`;
    return await this.#writeTogether(`${folder}/report.json`, report, [
      [`${folder}/stdout.log`, stdout],
      [`${folder}/stderr.log`, stderr],
    ]);
  }

  landing(l: number, file: "plan" | "result"): Landing | null {
    return readFile(this.run, `agent/landings/${toName(l)}/${file}.json`, LANDING);
  }

  writeLanding(landing: Landing, file: "plan" | "result"): string {
    return this.#write(`agent/landings/${toName(landing.l)}/${file}.json`, landing);
  }

  /** The commit that a landing made or was about to make; null: none. */
  landingCommit(l: number): LandingCommit | null {
    return readFile(this.run, `agent/landings/${toName(l)}/commit.json`, LANDING_COMMIT);
  }

  writeLandingCommit(commit: LandingCommit): void {
    this.#write(`agent/landings/${toName(commit.l)}/commit.json`, commit);
  }

  /** The envelope of the newest attestation, as bytes; null: nobody attested anything. */
  attestation(): Uint8Array | null {
    return this.run.read(ATTESTATION_FILE);
  }

  writeAttestation(bytes: Uint8Array): void {
    this.run.folder.write(ATTESTATION_FILE, bytes);
  }

  /** A file and what it speaks of, which has its name before it. All become durable at once: one by one is slow. */
  async #writeTogether(
    path: string,
    value: object,
    before: readonly (readonly [string, Uint8Array])[],
  ): Promise<string> {
    const bytes = toCanonicalFile(value);
    await this.run.folder.writeAll([...before, [path, bytes]]);
    return this.run.ports.crypto.sha256(bytes);
  }

  #write(path: string, value: object): string {
    const bytes = toCanonicalFile(value);
    this.run.folder.write(path, bytes);
    return this.run.ports.crypto.sha256(bytes);
  }
}

/** Two digits at least: 01, 02, ... */
export function toName(n: number): string {
  return String(n).padStart(2, "0");
}

function candidateFolder(c: number): string {
  return `agent/candidates/${toName(c)}`;
}

function readFile<T>(run: Run, path: string, contract: JsonContract): T | null {
  const bytes = run.read(path);
  if (bytes === null) return null;
  const value = parseJson(bytes, { file: `${run.folder.dir}/${path}` });
  return JSON.parse(JSON.stringify(parseContract(contract, value))) as T;
}

/** What RUN.json says of a run, for tools that know workflow runs only. */
function toRunState(state: AgentState): Pick<RunState, "status" | "stop_reason"> {
  switch (state) {
    case "applied":
      return { status: "pass", stop_reason: null };
    case "undone":
      return { status: "fail", stop_reason: "rolled_back" };
    case "discarded":
      return { status: "fail", stop_reason: "aborted" };
    case "unchanged":
    case "not_started":
      return { status: "fail", stop_reason: state };
    case "rejected":
    case "verify_failed":
    case "agent_failed":
    case "timed_out":
    case "over_limit":
    case "interrupted":
      return { status: "fail", stop_reason: null };
    default:
      return { status: "running", stop_reason: null };
  }
}
