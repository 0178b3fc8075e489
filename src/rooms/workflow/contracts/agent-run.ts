import { z } from "zod";
import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { CAP_MECHANISMS, CAP_NAMES } from "../../../core/contracts/caps.ts";
import { defineContract, hashHex } from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";
import { VERDICTS } from "../../../core/network/connections.ts";
import { tokens } from "./agent-usage.ts";

export const AGENT_RUN_VERSION = "verbatim-agent-run-v2";

/** Where an agent run stands; the only words for it. */
export const AGENT_STATES = [
  "preparing",
  "working",
  "capturing",
  "judging",
  "verifying",
  "rejected",
  "verify_failed",
  "agent_failed",
  "timed_out",
  "over_limit",
  "interrupted",
  "verified",
  "unverified",
  "landing",
  "applied",
  "unchanged",
  "not_started",
  "discarded",
  "undone",
] as const;

export type AgentState = (typeof AGENT_STATES)[number];

/** States that name a process of ours at work. */
export const AT_WORK: readonly AgentState[] = ["preparing", "working", "capturing", "judging", "verifying", "landing"];

/** States that need no reason: what they say is the whole story. */
const WITHOUT_REASON: readonly AgentState[] = [...AT_WORK, "verified", "applied", "unchanged"];

const text = z.string().min(1);
const texts = z.array(text);
const amount = z.int().min(0);
const number = z.int().min(1);
const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const instant = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/);

const command = z.strictObject({
  argv: z.array(z.string()).min(1),
  /** As it is shown. */
  cmd: text,
  cwd: text.optional(),
  timeout_s: number.optional(),
});

const networkMode = z.enum(["inherit", "none", "allow"]);

const caps = z.strictObject({ memory: number, processes: number, disk: number });
const held = z.enum(CAP_MECHANISMS);

const networkPlan = z.strictObject({
  mode: networkMode,
  hosts: z.array(z.strictObject({ host: text, port: z.int().min(1).max(65_535), private: z.boolean() })),
});

/** What the person asked for, checked: everything that judging and verifying again starts from. */
const request = z.strictObject({
  /** What lists of runs at work call it. */
  name: text.optional(),
  argv: z.array(z.string()).min(1),
  /** Empty: nobody is to verify the change. */
  verify: z.array(command),
  setup: z.union([z.literal(["detect", "none"]), z.array(command).min(1)]),
  baseline: z.boolean(),
  files: texts,
  allow: texts,
  deny: texts,
  leave_out: texts,
  permit: texts,
  limits: z.strictObject({
    max_files: amount.optional(),
    max_added_lines: amount.optional(),
    max_binary_bytes: amount.optional(),
  }),
  keep: texts,
  guard: text.nullable(),
  timeout_ms: number.nullable(),
  hash_all: z.boolean(),
  /** What of the network it is left, its verifications included. Runs before there was a choice do not say. */
  network: networkPlan.optional(),
  /** What it may use at most, its verifications included. Runs before there were caps do not say. */
  caps: caps.optional(),
  /** `none`: what every agent gets, and nothing else. */
  profile: text.optional(),
  /** How applying it lands: as a commit, on a branch of its own where one is named. */
  commit: z.strictObject({ message: text.nullable(), branch: text.nullable() }).optional(),
  /** Hidden files that were shown: to the agent and its verifications, all of them, or to verifications alone. */
  masks: z.strictObject({ unmask: texts, all: z.boolean(), verify: texts, verify_all: z.boolean() }).optional(),
  /** Names of variables that were passed besides the profile's; values that were given are not kept. */
  env: z.strictObject({ names: texts, set: texts, all: z.boolean() }).optional(),
  /** Places below temporary folders that were named. */
  see: texts.optional(),
  /** How often the agent starts again by itself with what was wrong. */
  fix: amount.optional(),
  /** What all attempts together may cost, in USD. */
  max_usd: z.number().min(0.000001).optional(),
});

/** What was at a path; null: nothing. The target of a link is its content. */
const there = z
  .strictObject({ mode: z.enum(["100644", "100755", "120000"]), sha256: hashHex, target: z.string().optional() })
  .nullable();

const agentRun = z.strictObject({
  schema_version: z.literal(AGENT_RUN_VERSION),
  run_id: text,
  goal: text,
  state: z.enum(AGENT_STATES),
  /** Why, in words; every state has one that does not speak for itself. */
  reason: text.nullable(),
  created_at: instant,
  updated_at: instant,
  duration_ms: amount,
  base: z.strictObject({
    commit: objectId,
    tree: objectId,
    /** Changed and untracked files that the agent saw, at most 20 of them. */
    dirty: texts,
    dirty_count: amount,
    /** Files that did not stand still while the tree was read. */
    busy: texts,
  }),
  request,
  /** How many there are: attempts/01, candidates/01, verifications/01, landings/01 and so on. */
  attempts: amount,
  candidates: amount,
  verifications: amount,
  landings: amount,
  /** The candidate that the state speaks of. */
  candidate: number.nullable(),
  /** The newest verification of that candidate. */
  verification: number.nullable(),
  /** The landing that is open, or that put the change into the tree. */
  landing: number.nullable(),
  /** Where the run goes back to when the landing or the verification comes to nothing. */
  back_to: z
    .strictObject({
      state: z.enum(AGENT_STATES),
      reason: text.nullable(),
      candidate: number.nullable(),
      verification: number.nullable(),
    })
    .nullable(),
  /** The earlier attempt that the newest one repeats: it left the same change, or failed in the same way. */
  repeats: number.nullable().optional(),
  /** What its attempts used so far; null, and absent before there were readers of sessions: nobody can tell. */
  usage: z
    .strictObject({ ...tokens, usd: z.number().min(0).nullable() })
    .nullable()
    .optional(),
  /** Nothing of it is pruned. */
  pinned: z.boolean().optional(),
  /** When its logs, transcripts and proofs went. */
  pruned_at: instant.optional(),
  shown: z.strictObject({ files: texts, bytes: amount }),
  hooks: z.strictObject({ reported: amount, reported_blocked: amount }),
});

/** What an attempt can be ended for. */
export const LIMIT_NAMES = [...CAP_NAMES, "money"] as const;

/** How an attempt ended. */
const end = z.strictObject({
  kind: z.enum(["exited", "signal", "timeout", "limit", "stopped"]),
  code: z.int().nullable(),
  /** Which cap, for `limit`. */
  limit: z.enum(LIMIT_NAMES).optional(),
});

const proof = z.strictObject({
  directory: text,
  accepted: z.boolean(),
  condition: text,
  launcher: text.nullable(),
  tree_root_before: text.nullable(),
  tree_root_after: text.nullable(),
  hashed: z.enum(["everything", "what could have changed"]),
  violations: texts,
  limits: texts,
  /** Paths that others changed meanwhile; what is inside `.git` is nobody's business but git's. */
  concurrent_changes: texts,
  /** Files and folders of the real tree that were compared before and after. */
  checked: amount.optional(),
  /** HEAD of the real repository before and after, where somebody moved it meanwhile. */
  head_moved: z.strictObject({ from: objectId, to: objectId }).optional(),
});

const network = z.strictObject({
  mode: networkMode,
  /** What could be reached, with `allow`. */
  hosts: texts.optional(),
  /** SHA-256 of network.jsonl. */
  log_sha256: hashHex.optional(),
  allowed: amount.optional(),
  refused: amount.optional(),
  /** The first of them, those with the same end together. */
  connections: z
    .array(
      z.strictObject({
        host: z.string(),
        port: z.int().min(0).max(65_535).nullable(),
        verdict: z.enum(VERDICTS),
        count: number,
      }),
    )
    .optional(),
  /** The agent ended what passed its connections on. */
  lost: z.literal(true).optional(),
});

const attempt = z.strictObject({
  schema_version: z.literal("verbatim-agent-attempt-v1"),
  n: number,
  argv: z.array(z.string()).min(1),
  started_at: instant,
  /** Null while it is at work. */
  ended_at: instant.nullable(),
  duration_ms: amount,
  end: end.nullable(),
  kept: texts,
  /** What was hidden from it, and what the guard could not hide. */
  masks: texts.optional(),
  not_hidden: texts.optional(),
  /** Places below temporary folders that it could read. */
  seen: texts.optional(),
  guard: text.nullable(),
  network,
  catalytic_run: text.nullable(),
  proof_hash: hashHex.nullable(),
  proof: proof.nullable(),
  /** Commits the agent made in its private repository; null: too many to count. */
  commits: amount.nullable(),
  /** Ignored paths that it wrote and that no candidate has. */
  ignored_written: amount,
  /** What it left that no candidate carries. */
  not_carried: z.array(z.strictObject({ path: text, why: text, sha256: hashHex.nullable() })),
  /** The profile it had, by the hash of its canonical text; null: none. */
  profile: z.strictObject({ name: text, sha256: hashHex }).nullable().optional(),
  /** Names of variables only; values are never written. */
  env: z.strictObject({ passed: texts, set: texts, withheld: texts }).optional(),
  /** What it might use, what saw to that (null while it is at work), and what was too much. */
  caps: z
    .strictObject({
      wanted: caps,
      mechanism: z.strictObject({ memory: held, processes: held, disk: held }).nullable(),
      hit: z.strictObject({ cap: z.enum(CAP_NAMES), limit: number, used: amount }).nullable(),
    })
    .optional(),
  /** What it found, where that is not what the first attempt found. */
  began: z
    .strictObject({
      /** `candidate`: the base with that candidate. `tree`: the tree as it was then, with that candidate merged into it. */
      from: z.enum(["base", "candidate", "tree"]),
      candidate: number.nullable(),
      /** What its candidate is held against. */
      base: z.strictObject({ commit: objectId, tree: objectId }),
      /** Where the real tree was not as the base any more, and the base was written into the view. */
      frozen: z.array(z.strictObject({ path: text, base: there, real: there })),
    })
    .optional(),
  /** What it was told about the attempt before: the file, and how it reached the command besides. */
  feedback: z
    .strictObject({ file: text, sha256: hashHex, by: z.enum(["resume", "argument", "input", "file"]) })
    .optional(),
  /** What it had cost with the attempts before, in USD, when it was ended for it; null: what it used has no price. */
  money: z.strictObject({ limit: z.number().min(0.000001), used: z.number().min(0).nullable() }).optional(),
  /** SHA-256 of usage.json. */
  usage_sha256: hashHex.optional(),
  /** Login files that it changed, and what became of them. */
  login: z.array(z.strictObject({ path: text, what: text })).optional(),
});

const finding = z.strictObject({
  code: text,
  rule: text,
  path: text.nullable(),
  line: number.nullable(),
  /** A whole sentence without its full stop. */
  says: text,
  /** The flag that lifts it, as it is typed; null: there is none. */
  flag: text.nullable(),
  fix: text,
});

const gate = z.strictObject({
  schema_version: z.literal("verbatim-agent-gate-v1"),
  c: number,
  /** SHA-256 of the candidate. */
  candidate: hashHex,
  verdict: z.enum(["accept", "reject"]),
  findings: z.array(finding),
  /** What was lifted by hand or by the configuration. */
  permit: texts,
  judged_at: instant,
});

export type AgentRun = z.infer<typeof agentRun>;
export type AgentAttempt = z.infer<typeof attempt>;
export type PathThen = z.infer<typeof there>;
export type AgentGate = z.infer<typeof gate>;
export type GateFinding = z.infer<typeof finding>;
export type RequestedCommand = z.infer<typeof command>;

/** agent/run.json. */
export const AGENT_RUN = defineContract({
  room: "workflow",
  name: "agent-run",
  title: "Agent run",
  summary: "agent/run.json: where an agent run stands and what was asked of it.",
  schema: agentRun,
  checks: [
    {
      code: "AGENT_RUN_INCONSISTENT",
      summary: FINDINGS.workflow.AGENT_RUN_INCONSISTENT,
      run: findContradictions,
    },
  ],
});

/** agent/attempts/NN/attempt.json. */
export const AGENT_ATTEMPT = defineContract({
  room: "workflow",
  name: "agent-attempt",
  title: "Attempt of an agent run",
  summary: "attempt.json: one start of the agent's command, how it ended, and the proof about the real tree.",
  schema: attempt,
});

/** agent/candidates/NN/gate.json. */
export const AGENT_GATE = defineContract({
  room: "workflow",
  name: "agent-gate",
  title: "Verdict on a candidate",
  summary: "gate.json: what policy, scope and git say about a candidate, and which flag would help.",
  schema: gate,
  checks: [
    {
      code: "AGENT_GATE_INCONSISTENT",
      summary: FINDINGS.workflow.AGENT_GATE_INCONSISTENT,
      run: (value) => {
        if (!isJsonObject(value) || !Array.isArray(value["findings"])) return [];
        return (value["verdict"] === "reject") === value["findings"].length > 0 ? [] : ["/findings"];
      },
    },
  ],
});

/** No end without its reason, no candidate that there is not, no way back without a way. */
function findContradictions(value: JsonValue): string[] {
  if (!isJsonObject(value)) return [];
  const { state, reason, back_to } = value;
  const isQuiet = WITHOUT_REASON.some((one) => one === state);
  const pointers: string[] = [];
  if (!isQuiet && reason === null) pointers.push("/reason");
  for (const [one, all] of [
    ["candidate", "candidates"],
    ["verification", "verifications"],
    ["landing", "landings"],
  ] as const) {
    const [n, count] = [value[one], value[all]];
    if (typeof n === "number" && typeof count === "number" && n > count) pointers.push(`/${one}`);
  }
  if (state === "landing" && back_to === null) pointers.push("/back_to");
  return pointers;
}
