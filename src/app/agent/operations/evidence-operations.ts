import { z } from "zod";
import { readSize, SIZE_FORM } from "../../../core/contracts/sizes.ts";
import { defineOperation, LOCAL_SURFACES, OWNER } from "../../../core/operation.ts";
import { attestAgentRun, attested } from "../attest/attest.ts";
import { checked, checkRange } from "../attest/check.ts";
import { EXPORT_FORMATS, exportAgentRun, exported } from "../export/export.ts";
import type { AgentPorts } from "../ports.ts";
import { pinAgentRun, pinned, pruneAgentRuns, pruned, retentionOf } from "../storage/prune.ts";

const run = z
  .string()
  .min(1)
  .describe("Run id, a unique beginning or the last six digits of one, @ (newest), @2, or a run directory.");

const attest = defineOperation({
  name: "agent.attest",
  summary: "Signs what is known of the commit of an agent run, and keeps it as a note of git.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    run,
    key: z
      .string()
      .min(1)
      .optional()
      .describe("A key by name or file (default: agent.attest.key, VERBATIM_KEY_FILE, or the key in VERBATIM_KEY)."),
    commit: z
      .string()
      .min(1)
      .optional()
      .describe("The commit with exactly this change (default: the one that Verbatim made)."),
    out: z.string().min(1).optional().describe("New file for the attestation as well."),
  }),
  output: attested,
  run: (outside: AgentPorts, { run: name, key = null, commit = null, out = null }) =>
    attestAgentRun(outside, name, { key, commit, out }),
});

const check = defineOperation({
  name: "agent.check",
  summary: "Checks commits of agents against their attestations, from the objects and notes of git alone.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    range: z.string().min(1).max(1000).describe("A commit, or A..B."),
    trust: z
      .string()
      .min(1)
      .describe("Trust policy; one inside the repository is read from what the commits build on, never from them."),
    require_all: z.boolean().default(false).describe("Commits of people need an attestation as well."),
    format: z.enum(["text", "github"]).default("text").describe("How the answer is printed."),
  }),
  output: checked,
  run: (outside: AgentPorts, { require_all: requireAll, ...input }) => checkRange(outside, { ...input, requireAll }),
});

const exportRun = defineOperation({
  name: "agent.export",
  summary: "Writes what an agent did in a form for other tools: the lines it wrote, or what was said and done.",
  effect: "read",
  who: OWNER,
  surfaces: [...LOCAL_SURFACES, "http"],
  localFields: ["out"],
  input: z.strictObject({
    run,
    format: z
      .enum(EXPORT_FORMATS)
      .default("agent-trace")
      .describe("A record of the Agent Trace specification 0.1.0, or the sessions of the agent in one form."),
    content: z
      .boolean()
      .default(false)
      .describe("With the goal, the command and, in a transcript, every text and argument; secrets are taken out."),
    out: z.string().min(1).optional().describe("New file for it instead of the output."),
  }),
  output: exported,
  run: (outside: AgentPorts, { run: name, format, content, out = null }) =>
    exportAgentRun(outside, name, { format, content, out }),
});

const pin = defineOperation({
  name: "agent.pin",
  summary: "Keeps an agent run from being pruned, or no longer.",
  effect: "mutate",
  who: OWNER,
  surfaces: [...LOCAL_SURFACES, "http"],
  input: z.strictObject({ run, unpin: z.boolean().default(false).describe("Let it be pruned again.") }),
  output: pinned,
  run: (outside: AgentPorts, { run: name, unpin }) => pinAgentRun(outside, name, !unpin),
});

const DAY = 24 * 60 * 60 * 1000;

const prune = defineOperation({
  name: "agent.prune",
  summary: "Takes logs, transcripts and proofs of old agent runs; their changes, reports and attestations stay.",
  effect: "mutate",
  who: OWNER,
  surfaces: [...LOCAL_SURFACES, "http"],
  input: z.strictObject({
    older_than: z
      .string()
      .regex(/^[0-9]+d$/)
      .optional()
      .describe("Of runs that are older, such as 14d (default: agent.retention.keep_days)."),
    keep: z.int().min(0).optional().describe("Of all but so many runs (default: agent.retention.keep_runs)."),
    max_size: z
      .string()
      .regex(SIZE_FORM)
      .optional()
      .describe("Of the oldest until the rest takes no more (default: agent.retention.max_bytes)."),
    dry_run: z.boolean().default(false).describe("Say what would go, and change nothing."),
  }),
  output: pruned,
  run: (outside: AgentPorts, { older_than, keep, max_size, dry_run }) => {
    const usual = retentionOf(outside);
    const retention = {
      keep_runs: keep ?? usual.keep_runs,
      keep_ms: older_than === undefined ? usual.keep_ms : Number(older_than.slice(0, -1)) * DAY,
      max_bytes: max_size === undefined ? usual.max_bytes : (readSize(max_size) ?? usual.max_bytes),
    };
    return pruneAgentRuns(outside, retention, dry_run);
  },
});

/** What others can check about a run, and what is kept of it. */
export const EVIDENCE_OPERATIONS = [attest, check, exportRun, pin, prune] as const;
