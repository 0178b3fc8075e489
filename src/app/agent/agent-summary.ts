import { z } from "zod";

/** How an agent run ended, in one word. `verified` is said of a change that a command of the user accepted. */
const AGENT_OUTCOMES = [
  "working",
  "not_started",
  "agent_failed",
  "timed_out",
  "interrupted",
  "unchanged",
  "rejected",
  "verify_failed",
  "verified",
  "unverified",
  "applied",
  "undone",
  "discarded",
] as const;

export type AgentOutcome = (typeof AGENT_OUTCOMES)[number];

/** What a person wants to know about an agent run; also `agent/summary.json` of the run. */
export const agentSummary = z.strictObject({
  run_id: z.string().describe("The workflow run."),
  run_dir: z.string(),
  goal: z.string(),
  outcome: z.enum(AGENT_OUTCOMES),
  reason: z.string().nullable().describe("Why nothing can be applied, in words; null when something can."),
  created_at: z.string(),
  duration_ms: z.int(),
  base: z.strictObject({
    commit: z.string(),
    dirty: z.array(z.string()).describe("Changed and untracked files that the agent saw, at most 20."),
    dirty_count: z.int(),
  }),
  agent: z.strictObject({
    argv: z.array(z.string()),
    exit_code: z.int().nullable(),
    duration_ms: z.int(),
    commits: z
      .int()
      .nullable()
      .describe(
        "Commits the agent made in its private copy of the repository, which is gone; null: too many to count.",
      ),
    stdout: z.string().describe("File with what the agent printed."),
    stderr: z.string(),
  }),
  proof: z
    .strictObject({
      catalytic_run: z.string(),
      directory: z.string(),
      accepted: z.boolean(),
      condition: z.string(),
      proof_hash: z.string().nullable(),
      guard: z.string(),
      launcher: z.string().nullable(),
      tree_root_before: z.string().nullable(),
      tree_root_after: z.string().nullable(),
      hashed: z.enum(["everything", "what could have changed"]),
      violations: z.array(z.string()),
      limits: z.array(z.string()).default([]).describe("What the guard could neither prevent nor hide, in words."),
      concurrent_changes: z
        .array(z.string())
        .describe("Paths in the real tree that something else changed while the agent worked."),
    })
    .nullable(),
  changes: z.strictObject({
    files: z.array(
      z.strictObject({
        path: z.string(),
        operation: z.enum(["create", "modify", "delete", "mode"]),
        added: z.int(),
        deleted: z.int(),
      }),
    ),
    added_lines: z.int(),
    deleted_lines: z.int(),
    ignored: z.int().describe("Ignored paths that changed; they are not part of the change."),
    binaries: z.array(z.string()),
    links: z.array(z.string()),
    not_carried: z.array(z.strictObject({ path: z.string(), why: z.string(), sha256: z.string().nullable() })),
  }),
  gate: z
    .strictObject({
      verdict: z.enum(["accept", "reject"]),
      code: z.string().nullable(),
      rule: z.string().nullable(),
      findings: z.array(z.strictObject({ code: z.string(), rule: z.string(), path: z.string().nullable() })),
    })
    .nullable(),
  verify: z
    .strictObject({
      result: z.enum(["PASS", "FAIL", "NONE"]).describe("NONE: there was no command to verify the change."),
      isolation: z.string(),
      catalytic_run: z.string().nullable(),
      on: z.string().nullable().default(null).describe("What the change was verified on, in words."),
      setup: z
        .array(z.strictObject({ cmd: z.string(), why: z.string(), exit_code: z.int(), duration_ms: z.int() }))
        .default([])
        .describe("Commands that had to run first, and why."),
      also_fails: z.boolean().default(false).describe("The failed command fails without the change too."),
      notices: z.array(z.string()).default([]).describe("What else somebody should know about the verification."),
      commands: z.array(z.strictObject({ cmd: z.string(), exit_code: z.int(), duration_ms: z.int() })),
      failures: z.array(z.strictObject({ kind: z.string(), id: z.string(), message: z.string() })),
    })
    .nullable(),
  shown: z.strictObject({
    files: z.array(z.string()).describe("Files of the context pack."),
    bytes: z.int(),
  }),
  kept: z.array(z.string()).describe("Paths outside the repository that stayed writable."),
  hooks: z
    .strictObject({ reported: z.int(), reported_blocked: z.int() })
    .describe("Hook calls as the agent itself reported them. Nothing else confirms them, so they are not judgements."),
});

export type AgentSummary = z.infer<typeof agentSummary>;

export const SUMMARY_FILE = "agent/summary.json";
export const CAPTURED_FILE = "agent/captured.patch";
