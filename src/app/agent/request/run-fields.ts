import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { GUARD_REQUESTS } from "../../../rooms/catalytic/index.ts";
import { commitFlags, toCommitWish } from "../landing/commit-flags.ts";
import type { AgentPorts } from "../ports.ts";
import { toSeen } from "../prepare/seen.ts";
import { parseUsd, requireKnownCost } from "../usage/spending.ts";
import { type CapFlags, planCaps } from "./caps.ts";
import { equip, listHosts } from "./equip.ts";
import { planNetwork } from "./network.ts";
import { type AgentRequest, parseSize, parseTimeout, planVerification, type VerifyFlags } from "./request.ts";

export const texts = z.array(z.string().min(1)).default([]);
/** How a change is verified. */
export const verifyFlags = {
  verify: texts.describe("A command that must succeed on the result, run without a shell; repeatable."),
  verify_sh: texts.describe("A shell command that must succeed on the result, run by /bin/sh -c; repeatable."),
  no_verify: z.boolean().default(false).describe("Do not verify the change; it is reported as unverified."),
  setup: texts.describe("A command to run before the verify commands; repeatable (default: found when needed)."),
  no_setup: z.boolean().default(false).describe("Do not run set-up commands before the verify commands."),
  no_baseline: z.boolean().default(false).describe("Do not try a failed verify command without the change."),
};

/** What a change may touch, and how large it may be. */
export const policyFlags = {
  permit: texts.describe(
    "A protected or secret path, or a pattern, that may change in this run; repeatable (see: --help policy).",
  ),
  max_files: z.int().min(1).optional().describe("Maximum number of files a change may touch (default: 50)."),
  max_added_lines: z
    .int()
    .min(0)
    .optional()
    .describe("Maximum number of lines a change may add, lock files not counted (default: 2000)."),
  max_binary: z.string().optional().describe("Maximum size of a binary file in a change (default: 1MiB)."),
};

/** What of the network an agent and its verifications are left. */
export const networkFlags = {
  network: z
    .enum(["inherit", "none", "allow"])
    .optional()
    .describe("inherit: as everybody; none: no network; allow: only listed hosts, every connection recorded."),
  host: texts.describe(
    "A host that may be reached, NAME, *.NAME or either with :PORT; implies --network allow; repeatable.",
  ),
};

/** What of hidden files is shown. */
export const maskFlags = {
  unmask: texts.describe("A hidden file, folder or pattern that may be seen all the same; repeatable."),
  show_secrets: z.boolean().default(false).describe("Hide no files but those of Verbatim itself."),
};

/** What an agent and its verifications may use at most. */
export const capFlags = {
  memory: z.string().optional().describe("Memory of the agent and all it starts, such as 8G (default: 80 % of yours)."),
  processes: z.int().min(1).optional().describe("Processes and threads at the same time (default: 2048)."),
  disk: z.string().optional().describe("What it may write, such as 5GB (default: 20GB)."),
};

export function toLimits(input: {
  max_files?: number | undefined;
  max_added_lines?: number | undefined;
  max_binary?: string | undefined;
}) {
  const { max_files, max_added_lines, max_binary } = input;
  return {
    ...(max_files === undefined ? {} : { max_files }),
    ...(max_added_lines === undefined ? {} : { max_added_lines }),
    ...(max_binary === undefined ? {} : { max_binary_bytes: parseSize("--max-binary", max_binary) }),
  };
}

/** What every run can be asked for. */
export const runFields = {
  goal: z.string().min(1).describe("What the agent should do; this goes into the record, not to the agent."),
  ...verifyFlags,
  files: texts.describe("A file for the context pack at VERBATIM_PACK; repeatable."),
  allow: texts.describe("A path that may change; repeatable (default: everything)."),
  deny: texts.describe("A path that may not change; repeatable."),
  ...policyFlags,
  guard: z.enum(GUARD_REQUESTS).optional().describe("How the agent is confined."),
  timeout: z.string().optional().describe("How long the agent may take: 90s, 30m, 2h (default: no limit)."),
  keep: texts.describe(
    "A path outside the repository, such as ~/.claude, that stays writable and is not covered by the proof; repeatable.",
  ),
  leave_out: texts.describe("A path or pattern whose changes are dropped before the gate; repeatable."),
  ...networkFlags,
  ...capFlags,
  hash_all: z.boolean().default(false).describe("Read and hash every file before and after."),
  profile: z
    .string()
    .min(1)
    .optional()
    .describe("Which agent the command is: claude, codex, ... or none (default: found from the command)."),
  env: texts.describe("A variable that the agent gets besides those of its profile, NAME or NAME=VALUE; repeatable."),
  ...maskFlags,
  see: texts.describe(
    "A file or folder below /tmp or /var/tmp that the agent may read; files named in COMMAND are seen anyway; repeatable.",
  ),
  env_all: z.boolean().default(false).describe("The agent gets every variable of yours but those of Verbatim."),
  fix: z
    .int()
    .min(0)
    .max(10)
    .optional()
    .describe("How often the agent starts again, told what was wrong, when its change does not pass (default: 0)."),
  max_usd: z
    .string()
    .optional()
    .describe(
      "What all attempts may cost in USD, such as 2 or 0.50, by the agent's own session files; none: no limit.",
    ),
  name: z.string().min(1).max(100).optional().describe("What ps calls the run (default: its goal)."),
  ...commitFlags,
};

const { goal: _goal, files: _files, allow: _allow, deny: _deny, ...rest } = runFields;
const { commit: _commit, message: _message, branch: _branch, ...continued } = rest;

/** The same of an attempt that goes on: its goal, its files, its scope and how it lands stay. */
export const continueFields = continued;

export type ContinueFlags = z.output<z.ZodObject<typeof continueFields>>;

export type RunInput = z.output<z.ZodObject<typeof runFields>>;

/** There is no guard on Windows itself; inside WSL2 everything holds. */
export function requireGuardedSystem({ platform }: AgentPorts): void {
  if (platform === "win32") throw new VerbatimError("AGENT_NEEDS_WSL");
}

export function toRequest(outside: AgentPorts, input: RunInput, command: readonly string[]): AgentRequest {
  requireGuardedSystem(outside);
  const equipment = equip(outside, command, {
    profile: input.profile ?? null,
    env: input.env,
    envAll: input.env_all,
  });
  return {
    goal: input.goal,
    name: input.name ?? null,
    equipment,
    env: toNames(input),
    fix: input.fix ?? outside.config().agent.fix,
    maxUsd: readMaxUsd(outside, input.max_usd, equipment),
    plan: planVerification(outside, input),
    files: input.files,
    allow: input.allow,
    deny: input.deny,
    leaveOut: input.leave_out,
    permit: input.permit,
    limits: toLimits(input),
    command,
    guard: input.guard ?? null,
    timeoutMs: readTimeout(outside, input.timeout),
    keep: input.keep,
    hashAll: input.hash_all,
    network: planNetwork(outside, input, listHosts(equipment)),
    see: toSeen(outside, input.see),
    masks: { unmask: input.unmask, all: input.show_secrets },
    caps: planCaps(outside, input),
    commit: toCommitWish(input),
  };
}

/** What can be written down of variables: their names. */
export function toNames({ env, env_all }: Pick<RunInput, "env" | "env_all">): AgentRequest["env"] {
  const set = env.filter((one) => one.includes("=")).map((one) => one.slice(0, one.indexOf("=")));
  return { names: env.filter((one) => !one.includes("=")), set, all: env_all };
}

export function readTimeout(outside: AgentPorts, given: string | undefined): number | null {
  if (given !== undefined) return parseTimeout(given);
  const { timeout_s } = outside.config().agent;
  return timeout_s === null ? null : timeout_s * 1000;
}

/** Whatever limits money, where it can be seen to. USAGE, COST_UNKNOWN. */
export function readMaxUsd(
  outside: AgentPorts,
  given: string | undefined,
  equipment: AgentRequest["equipment"],
  configured = outside.config().agent.max_usd,
): number | null {
  const maxUsd = given === undefined ? configured : parseUsd(given);
  requireKnownCost(outside, equipment, maxUsd);
  return maxUsd;
}

/** Whether anything is said about caps. */
export function hasCaps({ memory, processes, disk }: CapFlags): boolean {
  return memory !== undefined || processes !== undefined || disk !== undefined;
}

/** Without any of these flags a run is verified as it was asked for. */
export function isSaid({ verify: words, verify_sh, no_verify, setup, no_setup, no_baseline }: VerifyFlags): boolean {
  return words.length + verify_sh.length + setup.length > 0 || no_verify || no_setup || no_baseline;
}
