import { z } from "zod";
import { CAP_MECHANISMS, CAP_NAMES } from "../../../core/contracts/caps.ts";
import { AGENT_STATES } from "../../../rooms/workflow/index.ts";
import { networkPart } from "../work/connections.ts";

const held = z.enum(CAP_MECHANISMS);

const used = {
  input: z.int().describe("Tokens that were neither read from a cache nor written to one."),
  cached_input: z.int(),
  cache_write: z.int(),
  output: z.int().describe("Thoughts included."),
  reasoning: z.int(),
  usd: z.number().nullable().describe("About; null: the price of a model is not known."),
};

/** What a person wants to know about an agent run; also `agent/summary.json` of the run. */
export const agentSummary = z.strictObject({
  run_id: z.string().describe("The workflow run."),
  run_dir: z.string(),
  goal: z.string(),
  outcome: z.enum(AGENT_STATES).describe("Where the run stands, in one word."),
  code: z
    .string()
    .nullable()
    .describe(
      "What went wrong, as a code of the table of errors; null where nothing did, or where only the reason says.",
    ),
  reason: z.string().nullable().describe("Why the run stands there, in words; null where that goes without saying."),
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
    profile: z.string().nullable().default(null).describe("The profile it had; null: none."),
    withheld: z.array(z.string()).default([]).describe("Names of your variables that it did not get."),
    hidden: z.array(z.string()).default([]).describe("Secret files and folders that it found empty."),
    seen: z.array(z.string()).default([]).describe("What it could read below temporary folders."),
    not_hidden: z.array(z.string()).default([]).describe("Those that the guard could not hide from it."),
    login: z
      .array(z.strictObject({ path: z.string(), what: z.string() }))
      .default([])
      .describe("Login files that it changed, and what became of them: refreshed, kept, or why they are as they were."),
    caps: z
      .strictObject({
        wanted: z.strictObject({ memory: z.int(), processes: z.int(), disk: z.int() }),
        mechanism: z
          .strictObject({ memory: held, processes: held, disk: held })
          .nullable()
          .describe("What saw to each: the kernel (cgroup2, cgroup1, rlimit), looking again and again, or nothing."),
        hit: z.strictObject({ cap: z.enum(CAP_NAMES), limit: z.int(), used: z.int() }).nullable(),
      })
      .nullable()
      .default(null)
      .describe("What it might use at most, what saw to that, and the cap that it ran into."),
    money: z
      .strictObject({ limit: z.number(), used: z.number().nullable() })
      .nullable()
      .default(null)
      .describe(
        "What the run had cost in USD when the agent was ended for it; used is null where a price is not known.",
      ),
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
        .describe("Paths in the real tree, outside .git, that something else changed while the agent worked."),
      checked: z.int().optional().describe("Files and folders of the real tree that were compared before and after."),
      head_moved: z
        .strictObject({ from: z.string(), to: z.string() })
        .optional()
        .describe("HEAD before and after, where something else moved it while the agent worked."),
    })
    .nullable(),
  changes: z.strictObject({
    files: z.array(
      z.strictObject({
        path: z.string(),
        operation: z.enum(["create", "modify", "delete", "mode"]),
        added: z.int(),
        deleted: z.int(),
        kind: z.enum(["text", "binary", "link", "mode"]).default("text").describe("How the file travels."),
        bytes: z.int().default(0).describe("Size afterwards."),
        old_bytes: z.int().optional().describe("Size before, of a binary file that was there."),
        target: z.string().optional().describe("Where a link leads."),
        notices: z.array(z.string()).default([]).describe("What a person should look at before the change lands."),
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
      permit: z.array(z.string()).default([]).describe("What you or the configuration permitted for the verdict."),
      findings: z.array(
        z.strictObject({
          code: z.string(),
          rule: z.string(),
          path: z.string().nullable(),
          line: z.int().nullable().default(null),
          says: z.string().default("").describe("What is wrong, as a sentence."),
          flag: z.string().nullable().default(null).describe("The flag that lifts it; null: there is none."),
          fix: z.string().default("").describe("What to do about it."),
        }),
      ),
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
  network: networkPart.nullable().default(null).describe("What of the network the agent had, and what it did with it."),
  landing: z
    .strictObject({
      l: z.int(),
      files: z.array(
        z.strictObject({ path: z.string(), how: z.enum(["as_is", "already", "merged", "conflict"]), says: z.string() }),
      ),
      moved: z.boolean().describe("The tree was not as the agent found it."),
      since: z.string().nullable().default(null).describe("What happened to it since the agent began, in words."),
      reverified: z.boolean(),
      work_tree: z.string().optional().describe("The work tree it went into, where that is not the one of the run."),
      commit: z
        .strictObject({
          commit: z.string(),
          ref: z.string().describe("The branch it is on, or HEAD."),
          aside: z.boolean().describe("It is on a branch of its own, and the working tree was not touched."),
          signed: z.boolean(),
          hooks: z.array(z.string()).describe("Hooks of the repository that let it through."),
          attested: z.array(z.string()).optional().describe("Ids of the keys that have signed a statement about it."),
        })
        .optional()
        .describe("The commit that was made of it."),
    })
    .nullable()
    .default(null)
    .describe("How the change came into the tree."),
  hooks: z
    .strictObject({ reported: z.int(), reported_blocked: z.int() })
    .describe("Hook calls as the agent itself reported them. Nothing else confirms them, so they are not judgements."),
  usage: z
    .strictObject({
      ...used,
      attempts: z.int(),
      sessions: z.int().describe("Session files that say so."),
      models: z.array(
        z.strictObject({
          model: z.string().nullable(),
          ...used,
          usd_from: z.enum(["agent", "table"]).nullable().describe("Who says what it cost; null: there is no price."),
        }),
      ),
    })
    .nullable()
    .default(null)
    .describe("Tokens and money of all attempts, as the agent's own session files say; null: nobody can tell."),
});

export type AgentSummary = z.infer<typeof agentSummary>;

/** Runs of the first generation have it in place of run.json. */
export const SUMMARY_FILE = "agent/summary.json";
export const CAPTURED_FILE = "agent/captured.patch";
