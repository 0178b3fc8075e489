import { compareCodePoints } from "../../../core/canonical/index.ts";
import {
  AGENT_TRACE_VERSION,
  type AgentRecord,
  type AgentTrace,
  type Candidate,
  listAddedRanges,
  mergeModels,
  PatchRefused,
  type Run,
  readHunks,
  redactBytes,
  type TraceRange,
  toModelId,
} from "../../../rooms/workflow/index.ts";
import { findAttempt } from "../attest/attest.ts";
import type { AgentPorts } from "../ports.ts";
import { clean, type Discretion, nothingToExport } from "./discretion.ts";

type Own = AgentTrace["metadata"]["verbatim"];

/** Which lines of which revision an agent wrote, in the form of the Agent Trace specification. EXPORT_EMPTY. */
export function buildTrace(
  outside: AgentPorts,
  record: AgentRecord,
  discretion: Discretion,
  content: boolean,
): AgentTrace {
  const { run, now } = record;
  const { crypto } = run.ports;
  const traced = findTraced(record);
  const { candidate, revision, lines_of } = traced;
  const attempts = listAttempts(record, candidate);
  const models = mergeModels(attempts.map((n) => record.usage(n)?.usage ?? null));
  const [only] = models;
  // Nobody can tell which of several models wrote a line.
  const model_id = models.length === 1 && only?.model != null ? { model_id: toModelId(only.model) } : {};
  const files: AgentTrace["files"] = [];
  const other_files: Own["other_files"] = [];
  const added = listAdded(record, candidate, discretion);
  for (const { path, operation, kind } of candidate.files) {
    const ranges = kind === "text" ? (added.get(path) ?? []) : [];
    if (ranges.length === 0) other_files.push({ path, operation, kind });
    else {
      const type = traced.isMixed(path) ? "mixed" : "ai";
      files.push({ path, conversations: [{ contributor: { type, ...model_id }, ranges }] });
    }
  }
  const attempt = record.attempt(attempts[0]!);
  const { argv } = attempt ?? now.request;
  const [argv0 = "agent"] = argv;
  const id = toUuid(crypto.sha256(`verbatim-agent-trace-v1\n${run.id}\n${candidate.sha256}\n${revision}\n`));
  const { finder } = discretion;
  const words = { goal: clean(finder, now.goal), argv: argv.map((word) => clean(finder, word)) };
  const own: Own = {
    run_id: run.id,
    state: now.state,
    candidate: candidate.sha256,
    lines_of,
    base: { ...candidate.base },
    agent: { profile: attempt?.profile?.name ?? "none", argv0: argv0.replace(/^.*[/\\]/, "") || "agent" },
    models: models.map(({ model, output }) => ({ model, output })),
    sessions: attempts.toReversed().flatMap((n) => listSessions(record, n)),
    guard: attempt?.guard ?? null,
    proof_hash: attempt?.proof_hash ?? null,
    verification: findResult(record, candidate),
    other_files,
    ...(content ? { content: words } : {}),
  };
  return {
    version: AGENT_TRACE_VERSION,
    id,
    timestamp: traced.at ?? attempt?.ended_at ?? now.created_at,
    vcs: { type: "git", revision },
    tool: { name: "Verbatim", version: outside.catalytic().validator.validator_semver },
    files: files.sort((a, b) => compareCodePoints(a.path, b.path)),
    metadata: { verbatim: own },
  };
}

interface Traced extends Pick<Own, "lines_of"> {
  readonly candidate: Candidate;
  readonly revision: string;
  /** When it landed; null: it did not. */
  readonly at: string | null;
  /** Whether a file is not what the agent left, because it was merged. */
  isMixed(path: string): boolean;
}

/** The candidate whose lines are meant: as it landed, where it did. */
function findTraced(record: AgentRecord): Traced {
  const { run, now } = record;
  const l = now.state === "applied" ? now.landing : null;
  const landed = l === null ? null : record.landing(l, "result");
  const made = l === null ? null : record.landingCommit(l);
  const commit = made?.state === "done" ? made : null;
  const c = commit?.candidate ?? now.candidate;
  const candidate = c === null ? null : record.candidate(c);
  if (candidate === null) throw nothingToExport(run, `${run.id} has no change: there are no lines of an agent`);
  const left = landed === null ? null : record.candidate(landed.candidate);
  const leaves = new Map((left ?? candidate).files.map(({ path, sha256 }) => [path, sha256]));
  const lands = new Map(candidate.files.map(({ path, sha256 }) => [path, sha256]));
  return {
    candidate,
    revision: commit?.commit ?? landed?.onto.commit ?? candidate.base.commit,
    lines_of: commit !== null ? "commit" : landed !== null ? "tree" : "candidate",
    at: landed?.applied_at ?? null,
    isMixed: (path) => leaves.get(path) !== lands.get(path),
  };
}

/** The attempts that a candidate is made of, the newest first: one that began anew has nothing of those before it. */
function listAttempts(record: AgentRecord, candidate: Candidate): number[] {
  const attempts: number[] = [];
  for (let n = findAttempt(record, candidate); n >= 1; n--) {
    attempts.push(n);
    const from = record.attempt(n)?.began?.from ?? "base";
    if (from === "base") break;
  }
  return attempts;
}

function listAdded(
  record: AgentRecord,
  candidate: Candidate,
  { finder, masks }: Discretion,
): ReadonlyMap<string, TraceRange[]> {
  const { crypto } = record.run.ports;
  const patch = record.patch(candidate.c);
  if (patch === null) {
    if (candidate.patch_sha256 === null) return new Map();
    throw nothingToExport(record.run, `the change of ${record.run.id} was pruned: its lines are gone`);
  }
  const found = new Map<string, TraceRange[]>();
  for (const [path, { hunks }] of readPatch(record.run, patch)) {
    const ranges = listAddedRanges(hunks).map(({ start_line, end_line, bytes }): TraceRange => {
      // Whoever knows the rest of a line could find a secret in it by its hash.
      const isSecret = masks.isHidden(path) || !isSame(redactBytes(finder, bytes), bytes);
      const content_hash = isSecret ? {} : { content_hash: `sha256:${crypto.sha256(bytes)}` };
      return { start_line, end_line, ...content_hash };
    });
    found.set(path, ranges);
  }
  return found;
}

function readPatch(run: Run, patch: Uint8Array) {
  try {
    return readHunks(patch, run.ports.crypto);
  } catch (thrown) {
    if (!(thrown instanceof PatchRefused)) throw thrown;
    throw nothingToExport(run, `the change of ${run.id} has a name that no patch can have`);
  }
}

function listSessions(record: AgentRecord, n: number): Own["sessions"] {
  const sessions = record.usage(n)?.sessions ?? [];
  return sessions.map(({ format, session, sha256 }) => ({ attempt: n, format, session, sha256 }));
}

/** What its newest verification said; `NONE`: it was not verified. */
function findResult(record: AgentRecord, { sha256 }: Candidate): Own["verification"] {
  for (let v = record.now.verifications; v >= 1; v--) {
    const report = record.verification(v);
    if (report?.candidate === sha256) return report.result;
  }
  return "NONE";
}

/** A UUID of version 8: its bits are ours to choose, so the same lines have the same one. */
function toUuid(hash: string): string {
  const variant = ((Number.parseInt(hash[16]!, 16) & 0x3) | 0x8).toString(16);
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `${variant}${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join("-");
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
