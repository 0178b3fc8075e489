import { z } from "zod";
import { defineOperation, LOCAL_SURFACES } from "../../core/operation.ts";
import { attestAgentRun, attested } from "./attest.ts";
import { checked, checkRange } from "./check.ts";
import type { AgentPorts } from "./ports.ts";

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

/** What others can check about a run. */
export const EVIDENCE_OPERATIONS = [attest, check] as const;
