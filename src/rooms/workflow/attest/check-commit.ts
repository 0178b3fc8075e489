import { encodeUtf8, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { acceptContract } from "../../../core/contracts/index.ts";
import { codeFacts, type Finding, isVerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { evaluateTrust, readAttestation, type TrustPolicy } from "../../../core/trust/index.ts";
import { AGENT_CHANGE, type AgentChangePredicate } from "../contracts/agent-change.ts";
import { resolveAgentPolicy } from "../policy/agent-policy.ts";
import type { ChangedPath, CommitFacts, History } from "./ports.ts";

/** Why a commit does not hold, the furthest last. */
const CHECK_CODES = [
  "CHECK_NOTE_MISSING",
  "CHECK_UNTRUSTED",
  "CHECK_SUBJECT",
  "CHECK_FILES_DIFFER",
  "CHECK_NOT_VERIFIED",
  "CHECK_PERMIT",
] as const satisfies readonly Finding<"workflow">[];
type CheckCode = (typeof CHECK_CODES)[number];

/** What is known of a commit. */
export interface CheckedCommit {
  readonly commit: string;
  readonly subject: string;
  readonly by: "agent" | "people";
  /** The run that its message names. */
  readonly run: string | null;
  readonly ok: boolean;
  readonly code: CheckCode | null;
  readonly says: string;
  /** Names of the trusted keys that signed for it. */
  readonly signed_by: readonly string[];
}

export interface CheckPorts {
  readonly crypto: SyncCrypto;
  readonly history: History;
}

export interface CheckRules {
  readonly policy: TrustPolicy;
  /** Commits of people need an attestation as well. */
  readonly requireAll: boolean;
}

// Wherever it stands in a message: a trailer that git would not count must not make a commit look like a person's.
const TRAILER = /^[ \t]*verbatim-run[ \t]*:[ \t]*(.*)$/im;
const MOST_LINES = 100;

/** Whether a commit is what somebody you trust says that an agent changed and commands passed. */
export async function checkCommit(
  ports: CheckPorts,
  { policy, requireAll }: CheckRules,
  facts: CommitFacts,
): Promise<CheckedCommit> {
  const named = TRAILER.exec(facts.message);
  const run = named === null ? null : (named[1] ?? "").trim();
  const by: CheckedCommit["by"] = run === null ? "people" : "agent";
  const head = { commit: facts.commit, subject: facts.message.split("\n")[0] ?? "", by, run };
  if (run === null && !requireAll) {
    return { ...head, ok: true, code: null, says: "names no run", signed_by: [] };
  }
  const { code, says, signed_by } = await findBest(ports, policy, facts, run);
  return { ...head, ok: code === null, code, says, signed_by };
}

interface Judged {
  readonly code: CheckCode | null;
  readonly says: string;
  readonly signed_by: readonly string[];
}

/** One attestation that holds is enough; else the one that came furthest says why none does. */
async function findBest(ports: CheckPorts, policy: TrustPolicy, facts: CommitFacts, run: string | null) {
  const lines = await ports.history.note(facts.commit);
  let best = refuse("CHECK_NOTE_MISSING", "there is no attestation of it on refs/notes/verbatim");
  for (const line of lines.slice(0, MOST_LINES)) {
    const judged = await judgeLine(ports, policy, facts, run, line);
    if (judged.code === null) return judged;
    if (rank(judged) >= rank(best)) best = judged;
  }
  return best;
}

function rank({ code }: Judged): number {
  return code === null ? CHECK_CODES.length : CHECK_CODES.indexOf(code);
}

function refuse(code: CheckCode, says: string): Judged {
  return { code, says, signed_by: [] };
}

async function judgeLine(
  { crypto, history }: CheckPorts,
  policy: TrustPolicy,
  facts: CommitFacts,
  run: string | null,
  line: string,
): Promise<Judged> {
  const attestation = readAttestation(encodeUtf8(line));
  if (attestation === null || attestation === "MALFORMED") {
    return refuse("CHECK_NOTE_MISSING", "its note on refs/notes/verbatim has no attestation in it");
  }
  const trust = await evaluateTrust(crypto, policy, "AGENT", attestation);
  if (trust.code !== null) {
    const why = codeFacts(trust.code).says;
    return refuse("CHECK_UNTRUSTED", `nobody that the policy trusts signed for it: ${lower(why)}`);
  }
  const signed_by = policy.keys.filter(({ key_id }) => trust.valid_keys.includes(key_id)).map(({ name }) => name);
  const statement = readStatement(attestation.payload);
  if (statement === null) {
    return refuse("CHECK_UNTRUSTED", "what was signed is no statement about a commit of an agent");
  }
  const { commit, predicate } = statement;
  if (commit !== facts.commit) {
    return refuse("CHECK_SUBJECT", `its attestation is about another commit, ${commit.slice(0, 12)}`);
  }
  if (run !== null && predicate.run_id !== run) {
    return refuse(
      "CHECK_SUBJECT",
      `its attestation is about the run ${predicate.run_id}, and its message names another`,
    );
  }
  const differs = await findDifference(history, await history.changes(facts), predicate);
  if (differs !== null) return refuse("CHECK_FILES_DIFFER", differs);
  const unverified = findUnverified(policy, predicate);
  if (unverified !== null) return refuse("CHECK_NOT_VERIFIED", unverified);
  const { isPermitted } = resolveAgentPolicy({ permit: policy.permit ?? [] });
  const lifted = predicate.policy.permitted.find((path) => !isPermitted(path));
  if (lifted !== undefined) {
    return refuse("CHECK_PERMIT", `${lifted} was permitted for its run, and the policy does not permit it`);
  }
  return { code: null, says: describeProof(predicate), signed_by };
}

/** A statement of ours whose parts agree with each other; null: anything else. */
function readStatement(
  payload: Uint8Array,
): { readonly commit: string; readonly predicate: AgentChangePredicate } | null {
  let value: JsonValue;
  try {
    value = parseJson(payload);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
  const accepted = acceptContract(AGENT_CHANGE, value);
  const first = accepted?.subject[0];
  if (accepted === null || first === undefined || !("gitCommit" in first.digest)) return null;
  return { commit: first.digest.gitCommit, predicate: accepted.predicate as AgentChangePredicate };
}

/** The first path that is not as it was attested, in words. Bytes are read only once all names agree. */
async function findDifference(
  history: History,
  changed: readonly ChangedPath[],
  { files }: AgentChangePredicate,
): Promise<string | null> {
  const wanted = new Map(files.map((file) => [file.path, file]));
  if (wanted.size !== files.length) return "its attestation names a path twice";
  for (const { path, mode } of changed) {
    const file = wanted.get(path);
    if (file === undefined) return `${path} was changed, and its attestation does not name it`;
    if (file.mode !== mode)
      return `${path} ${describeMode(mode)}, and was attested as one that ${describeMode(file.mode)}`;
  }
  const there = new Set(changed.map(({ path }) => path));
  const missing = files.find(({ path }) => !there.has(path));
  if (missing !== undefined) return `${missing.path} was attested, and the commit does not change it`;
  for (const { path, id } of changed) {
    if (id !== null && (await history.hash(id)) !== wanted.get(path)!.sha256)
      return `${path} has other bytes than were attested`;
  }
  return null;
}

function describeMode(mode: string | null): string {
  return mode === null ? "is gone" : `has the mode ${mode}`;
}

function findUnverified(
  { require_commands = [] }: TrustPolicy,
  { policy, verification }: AgentChangePredicate,
): string | null {
  if (policy.verdict !== "accept") return "the policy of its run did not accept it";
  const { result, commands } = verification;
  if (result !== "PASS") return result === "NONE" ? "nothing verified it" : "its verification failed";
  const passed = new Set(commands.filter(({ exit_code }) => exit_code === 0).map(({ cmd }) => cmd));
  const missing = require_commands.find((command) => !passed.has(command));
  return missing === undefined ? null : `the policy asks for ${missing}, which did not run on it`;
}

function describeProof({ verification: { commands }, agent }: AgentChangePredicate): string {
  const ran = commands.filter(({ cmd }) => !cmd.startsWith("verbatim:")).map(({ cmd }) => cmd);
  const by = agent.model === undefined ? agent.argv0 : `${agent.argv0} (${agent.model})`;
  return `by ${by}; ${ran.length === 0 ? "verified" : `${ran.join(", ")} passed`}`;
}

function lower(sentence: string): string {
  return `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, "");
}
