import { z } from "zod";
import { hashHex } from "../../../core/contracts/index.ts";
import { type BodyOf, defineRecords, type RecordOf } from "../../../core/contracts/records.ts";
import { AGENT_STATES, LIMIT_NAMES } from "./agent-run.ts";

const text = z.string().min(1);
const amount = z.int().min(0);
const number = z.int().min(1);
const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** Where the run stands after what an entry speaks of. */
const stands = { state: z.enum(AGENT_STATES), reason: text.nullable() };

/** A candidate: its number, what it is known by, its size, and the hash of candidate.json. */
const candidate = {
  c: number,
  candidate: hashHex,
  candidate_sha256: hashHex,
  patch_sha256: hashHex.nullable(),
  carried_sha256: hashHex.nullable(),
  files: amount,
  carried: amount,
  added: amount,
  deleted: amount,
};

/** A verification: its number, its candidate, what it stood on, and the hash of report.json. */
const verification = {
  v: number,
  c: number,
  candidate: hashHex,
  base: z.strictObject({ kind: z.enum(["view", "copy", "checkout"]), tree: objectId }),
  report_sha256: hashHex,
};

/** What happened in an agent run. Each entry says where the run stands after it. */
const AGENT_BODIES = {
  AGENT_STARTED: z.strictObject({
    ...stands,
    goal: text,
    argv: z.array(z.string()).min(1),
    base: z.strictObject({ commit: objectId, tree: objectId }),
    created_at: text,
    run_dir: text,
    /** Who the run belongs to. */
    repo: z.strictObject({
      id: z
        .string()
        .regex(/^[0-9a-f]{32}$/)
        .nullable(),
      root: text,
      common_dir: text.nullable(),
    }),
  }),
  AGENT_ATTEMPT_STARTED: z.strictObject({
    ...stands,
    n: number,
    argv: z.array(z.string()).min(1),
    /** What a later attempt began with, and the text it was told. */
    from: z.enum(["base", "candidate", "tree"]).optional(),
    candidate: number.nullable().optional(),
    feedback_sha256: hashHex.optional(),
    comments: z.array(text).optional(),
  }),
  AGENT_ATTEMPT_ENDED: z.strictObject({
    ...stands,
    n: number,
    /** `not_started` and `lost`: there is no end to speak of. */
    end: z.enum(["exited", "signal", "timeout", "limit", "stopped", "not_started", "lost"]),
    code: z.int().nullable(),
    guard: text.nullable(),
    catalytic_run: text.nullable(),
    proof_hash: hashHex.nullable(),
    attempt_sha256: hashHex.nullable(),
    /** What the run has cost so far, in millionths of a dollar; null: nobody can tell. */
    usd_micro: amount.nullable().optional(),
  }),
  /** Money in millionths of a dollar; null: what was used has no price. */
  AGENT_LIMIT_HIT: z.strictObject({
    ...stands,
    n: number,
    cap: z.enum(LIMIT_NAMES),
    limit: amount,
    used: amount.nullable(),
  }),
  AGENT_NETWORK_RECORDED: z.strictObject({
    ...stands,
    n: number,
    allowed: amount,
    refused: amount,
    log_sha256: hashHex,
  }),
  /** Without a candidate when nothing changed. */
  AGENT_CAPTURED: z.strictObject({ ...stands, attempt: number, candidate: z.strictObject(candidate).nullable() }),
  AGENT_SELECTED: z.strictObject({ ...stands, parent: number, candidate: z.strictObject(candidate) }),
  AGENT_GATED: z.strictObject({
    ...stands,
    c: number,
    candidate: hashHex,
    verdict: z.enum(["accept", "reject"]),
    codes: z.array(text),
    permit: z.array(text),
    gate_sha256: hashHex,
  }),
  AGENT_SETUP_RAN: z.strictObject({
    ...stands,
    v: number,
    commands: z.array(z.strictObject({ cmd: text, exit_code: amount })).min(1),
  }),
  AGENT_VERIFIED: z.strictObject({ ...stands, ...verification }),
  AGENT_VERIFY_FAILED: z.strictObject({ ...stands, ...verification }),
  AGENT_LANDING_STARTED: z.strictObject({
    ...stands,
    l: number,
    c: number,
    onto: z.strictObject({ commit: objectId, tree: objectId }),
    plan_sha256: hashHex,
  }),
  AGENT_LANDED: z.strictObject({
    ...stands,
    l: number,
    c: number,
    candidate: hashHex,
    files: amount,
    added: amount,
    deleted: amount,
    merged: amount,
    /** Null: what landed was not verified. */
    verification: number.nullable(),
    /** What was done without, because someone asked for that. */
    without: z.array(z.enum(["verification", "reverification"])),
    result_sha256: hashHex,
  }),
  AGENT_COMMITTED: z.strictObject({
    ...stands,
    l: number,
    /** The candidate whose tree it is. */
    c: number,
    candidate: hashHex,
    commit: objectId,
    parent: objectId,
    tree: objectId,
    ref: text,
    /** What verified exactly that tree; null: nothing did. */
    verification: number.nullable(),
    signed: z.boolean(),
    hooks: z.array(text),
  }),
  AGENT_LAND_REFUSED: z.strictObject({ ...stands, l: number.nullable(), c: number, code: text, paths: z.array(text) }),
  AGENT_ATTESTED: z.strictObject({ ...stands, commit: objectId, statement_sha256: hashHex, key_id: hashHex }),
  AGENT_DISCARDED: z.strictObject({ ...stands }),
  AGENT_UNDONE: z.strictObject({ ...stands, l: number, paths: z.array(text) }),
} as const;

/** What became of the files of a run. Entries never go. */
const FILE_BODIES = {
  AGENT_SLIMMED: z.strictObject({ catalytic_run: text, files: number, bytes: number, list_sha256: hashHex }),
  AGENT_PRUNED: z.strictObject({ files: amount, records: amount, bytes: amount }),
} as const;

const runId = text;

/** What people say about a run. It leaves the run where it stands. */
const COMMENT_BODIES = {
  AGENT_COMMENTED: z.strictObject({
    id: text,
    /** Of which candidate, and where in it; without lines it is about the whole file. */
    at: z.strictObject({
      candidate: number,
      path: text,
      side: z.enum(["base", "result"]),
      from: number.nullable(),
      to: number.nullable(),
    }),
    /** The lines as they were, at most 20 of them. */
    quote: z.array(z.string()),
    text,
  }),
  AGENT_COMMENT_WITHDRAWN: z.strictObject({ id: text }),
} as const;

/** What happened in a race, in its own stream: `race/<id>`. What became of its members is in theirs. */
const RACE_BODIES = {
  RACE_STARTED: z.strictObject({
    goal: text,
    base_tree: objectId,
    members: z.array(z.strictObject({ run_id: runId, argv: z.array(z.string()).min(1), profile: text })).min(2),
    rule: z.enum(["ask", "first", "smallest", "cheapest"]),
  }),
  RACE_DECIDED: z.strictObject({
    /** Best first. */
    ranking: z.array(z.strictObject({ run_id: runId, outcome: z.enum(AGENT_STATES) })).min(2),
    /** The one that was applied when the race ended; null: none was. */
    winner: runId.nullable(),
  }),
} as const;

const BODIES = {
  ...AGENT_BODIES,
  ...COMMENT_BODIES,
  ...FILE_BODIES,
  ...RACE_BODIES,
  /** A line of events.jsonl; `findEventProblems` judges it with the codes of its own. */
  WORKFLOW_EVENT: z.looseObject({}),
  /** The receipt of a pack: hashes of the request, of the pack, and of every file's content. */
  CONTEXT_PACK: z.strictObject({
    request_sha256: hashHex,
    pack_sha256: hashHex,
    files: z.array(z.strictObject({ path: z.string(), sha256: hashHex })),
  }),
} as const;

/** The records that the workflow room writes to the stream of a run. */
export const WORKFLOW_RECORDS = defineRecords(BODIES);
type WorkflowRecord = RecordOf<typeof BODIES>;
export type AgentRecordKind = keyof typeof AGENT_BODIES;
export type NewWorkflowRecord<K extends WorkflowRecord["kind"]> = BodyOf<typeof BODIES, K>;
