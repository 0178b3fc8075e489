import { z } from "zod";
import { isJsonObject, parseJson, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { type AgentAttempt, type AgentRecord, describeBase, LIMIT_NAMES } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { agentSummary } from "./agent-summary.ts";
import { toGate } from "./report.ts";

const ran = z.strictObject({ cmd: z.string(), exit_code: z.int(), duration_ms: z.int() });

/** One start of the agent's command. */
export const attemptPart = z.strictObject({
  n: z.int(),
  argv: z.array(z.string()),
  started_at: z.string(),
  ended_at: z.string().nullable().describe("Null while it is at work."),
  duration_ms: z.int(),
  end: z.strictObject({ kind: z.string(), code: z.int().nullable(), limit: z.enum(LIMIT_NAMES).optional() }).nullable(),
  guard: z.string().nullable(),
  network: z.enum(["inherit", "none", "allow"]),
  kept: z.array(z.string()).describe("Paths outside the repository that stayed writable."),
  env: z.array(z.string()).describe("Names of the variables it was given; their values are recorded nowhere."),
  catalytic_run: z.string().nullable(),
  proof_hash: z.string().nullable(),
  from: z.enum(["base", "candidate", "tree"]).describe("What it found: the base alone, or with an earlier change."),
  on: z.int().nullable().describe("The number of that change; null: there was none."),
  feedback: z
    .strictObject({ text: z.string(), by: z.enum(["resume", "argument", "input", "file"]) })
    .nullable()
    .describe("What it was told about the attempt before, and how; the file VERBATIM_FEEDBACK names has it always."),
  usage: agentSummary.shape.usage
    .unwrap()
    .unwrap()
    .omit({ attempts: true })
    .nullable()
    .describe("Tokens and money by its session files; null: nobody can tell."),
});

/** A change that could land. */
export const candidatePart = z.strictObject({
  c: z.int(),
  kind: z.enum(["capture", "selection", "landing"]),
  parent: z.int().nullable(),
  attempt: z.int().nullable(),
  current: z.boolean().describe("Whether the outcome speaks of it."),
  sha256: z.string(),
  base: z.strictObject({ commit: z.string(), tree: z.string() }),
  files: z.int(),
  added: z.int(),
  deleted: z.int(),
  gate: agentSummary.shape.gate,
  permit: z.array(z.string()).describe("What was lifted for the verdict, by hand or by the configuration."),
});

/** One verification of a candidate. */
export const verificationPart = z.strictObject({
  v: z.int(),
  candidate: z.int().nullable(),
  result: z.enum(["PASS", "FAIL", "NONE"]),
  reason: z.string().nullable(),
  on: z.string().nullable().describe("What the change was verified on, in words."),
  base: z.enum(["view", "copy", "checkout"]),
  network: z.enum(["inherit", "none", "allow"]),
  setup: z.array(ran.extend({ why: z.string() })),
  commands: z.array(
    ran.extend({
      reason: z.string().nullable().describe("Why it counts as failed."),
      tail: z.array(z.string()).describe("The end of what a failed command printed."),
    }),
  ),
  baseline: z.array(ran).describe("The failed commands without the change."),
  notices: z.array(z.string()),
  started_at: z.string(),
  finished_at: z.string(),
  catalytic_run: z.string().nullable(),
});

/** Everything a run went through, by number. A run of the first generation has nothing of the kind. */
export function readParts(outside: AgentPorts, record: AgentRecord | null) {
  if (record === null) return { attempts: [], candidates: [], verifications: [] };
  const { attempts, candidates, verifications } = record.now;
  const list = <T>(most: number, read: (n: number) => T | null): T[] =>
    Array.from({ length: most }, (_, i) => read(i + 1)).filter((one) => one !== null);
  return {
    attempts: list(attempts, (n) => toAttempt(outside, record, n)),
    candidates: list(candidates, (c) => toCandidate(record, c)),
    verifications: list(verifications, (v) => toVerification(record, v)),
  };
}

function toAttempt(outside: AgentPorts, record: AgentRecord, number: number): z.infer<typeof attemptPart> | null {
  const attempt = record.attempt(number);
  if (attempt === null) return null;
  const { n, argv, started_at, ended_at, duration_ms, end, guard, network, kept, catalytic_run, proof_hash } = attempt;
  const env = attempt.proof === null ? [] : readEnvNames(outside, attempt.proof.directory);
  const facts = { n, argv, started_at, ended_at, duration_ms, end, guard, kept, catalytic_run, proof_hash };
  const { from = "base", candidate: on = null } = attempt.began ?? {};
  return {
    ...facts,
    network: network.mode,
    env,
    from,
    on,
    feedback: readFeedback(record, attempt),
    usage: toUsed(record, n),
  };
}

function toUsed(record: AgentRecord, n: number): z.infer<typeof attemptPart>["usage"] {
  const known = record.usage(n);
  if (known?.usage == null) return null;
  const { prices: _, ...usage } = known.usage;
  return { ...usage, sessions: known.sessions.length };
}

const MOST_SPEC = 1024 * 1024;

function readFeedback({ run }: AgentRecord, { feedback }: AgentAttempt): z.infer<typeof attemptPart>["feedback"] {
  const bytes = feedback === undefined ? null : run.read(feedback.file);
  return bytes === null ? null : { text: new TextDecoder().decode(bytes), by: feedback!.by };
}

/** Names only: whoever shows them can show nothing else. */
function readEnvNames(outside: AgentPorts, directory: string): string[] {
  const found = outside.readPart(directory, "JOBSPEC.json", 0, MOST_SPEC);
  const spec = found === null || found.size > MOST_SPEC ? null : parseJson(found.bytes);
  const env = isJsonObject(spec) ? spec["env"] : null;
  if (!isJsonObject(env)) return [];
  const passed = Array.isArray(env["allow"]) ? env["allow"].filter((name) => typeof name === "string") : [];
  const set = isJsonObject(env["set"]) ? Object.keys(env["set"]) : [];
  return sortedByCodePoint([...new Set([...passed, ...set])]);
}

function toCandidate(record: AgentRecord, number: number): z.infer<typeof candidatePart> | null {
  const candidate = record.candidate(number);
  if (candidate === null) return null;
  const { c, kind, parent = null, attempt = null, sha256, base, files } = candidate;
  const gate = record.gate(c);
  const sum = (side: "added" | "deleted") => files.reduce((total, file) => total + file[side], 0);
  const size = { files: files.length, added: sum("added"), deleted: sum("deleted") };
  const current = record.now.candidate === c;
  return {
    c,
    kind,
    parent,
    attempt,
    current,
    sha256,
    base,
    ...size,
    gate: gate === null ? null : toGate(gate),
    permit: gate?.permit ?? [],
  };
}

function toVerification(record: AgentRecord, v: number): z.infer<typeof verificationPart> | null {
  const report = record.verification(v);
  if (report === null) return null;
  const { result, reason, base, network, notices, started_at, finished_at, catalytic_run } = report;
  const took = ({ cmd, exit_code, ms }: { cmd: string; exit_code: number; ms: number }) => ({
    cmd,
    exit_code,
    duration_ms: ms,
  });
  return {
    v,
    candidate: findCandidate(record, report.candidate),
    result,
    reason,
    on: describeBase(base, report.lacks),
    base: base.kind,
    network,
    setup: report.setup.map((one) => ({ ...took(one), why: one.why })),
    commands: report.commands.map((one) => ({ ...took(one), reason: one.reason, tail: one.tail })),
    baseline: report.baseline.map(took),
    notices,
    started_at,
    finished_at,
    catalytic_run,
  };
}

/** The newest candidate of a hash: what was verified is known by what it does, not by its number. */
function findCandidate(record: AgentRecord, sha256: string): number | null {
  for (let c = record.now.candidates; c > 0; c--) if (record.candidate(c)?.sha256 === sha256) return c;
  return null;
}
