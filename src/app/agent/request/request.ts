import type { Caps } from "../../../core/contracts/caps.ts";
import { NO_PROFILE } from "../../../core/contracts/config/index.ts";
import { readSize } from "../../../core/contracts/sizes.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { GuardRequest } from "../../../rooms/catalytic/index.ts";
import {
  type AgentRun,
  findVerifyCommands,
  formatArgv,
  parseVerifyCommand,
  type RequestedCommand,
  verifyNotConfigured,
} from "../../../rooms/workflow/index.ts";
import type { CommitWish } from "../landing/commit.ts";
import type { AgentPorts } from "../ports.ts";
import type { Equipment } from "./equip.ts";
import type { NetworkPlan } from "./network.ts";

/** What a person asks of an agent run, checked: whatever would fail only after the agent has worked fails before. */
export interface AgentRequest {
  readonly goal: string;
  /** What lists of runs at work call it; null: its goal. */
  readonly name: string | null;
  readonly command: readonly string[];
  readonly plan: VerifyPlan;
  readonly files: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Paths and patterns whose changes are dropped. */
  readonly leaveOut: readonly string[];
  readonly permit: readonly string[];
  readonly limits: AgentRun["request"]["limits"];
  readonly guard: GuardRequest | null;
  readonly timeoutMs: number | null;
  /** Places of the command line, which must be there. */
  readonly keep: readonly string[];
  readonly hashAll: boolean;
  readonly network: NetworkPlan;
  readonly caps: Caps;
  /** Null: applying it makes no commit. */
  readonly commit: CommitWish | null;
  readonly equipment: Equipment;
  /** Names of variables besides the profile's, those given with a value, and whether it is all of them. */
  readonly env: { readonly names: readonly string[]; readonly set: readonly string[]; readonly all: boolean };
  /** How often the agent starts again by itself with what was wrong. */
  readonly fix: number;
  /** What all attempts together may cost, in USD; null: whatever they cost. */
  readonly maxUsd: number | null;
  /** Places below temporary folders that the agent sees. */
  readonly see: readonly string[];
  /** Hidden files that the agent sees all the same. */
  readonly masks: { readonly unmask: readonly string[]; readonly all: boolean };
}

/** How a change is to be verified, as a person writes it. */
export interface VerifyFlags {
  readonly verify: readonly string[];
  readonly verify_sh: readonly string[];
  readonly no_verify: boolean;
  readonly setup: readonly string[];
  readonly no_setup: boolean;
  readonly no_baseline: boolean;
}

/** The same, checked. */
export interface VerifyPlan {
  /** Empty: nobody is to verify the change. */
  readonly commands: readonly RequestedCommand[];
  /** The commands are those of `workflow.verify.gates.lite`. */
  readonly configured: boolean;
  readonly setup: AgentRun["request"]["setup"];
  /** Whether a failed verify command is tried without the change. */
  readonly baseline: boolean;
}

/**
 * Reads the verify and set-up commands before anything exists: VERIFY_NEEDS_SHELL, VERIFY_PROGRAM_MISSING, and
 * VERIFY_NOT_CONFIGURED with what the repository itself would suggest.
 */
export function planVerification(outside: AgentPorts, flags: VerifyFlags): VerifyPlan {
  const facts = outside.commandFacts();
  const { agent, workflow } = outside.config();
  const parse = (written: Parameters<typeof parseVerifyCommand>[0]): RequestedCommand => {
    const { argv, cmd } = parseVerifyCommand(written, facts);
    return { argv: [...argv], cmd };
  };
  const given = [...flags.verify.map(parse), ...flags.verify_sh.map((sh) => parse({ sh }))];
  if (given.length > 0 && flags.no_verify) {
    throw new VerbatimError("USAGE", {
      message: {
        cli: "--verify and --no-verify contradict each other",
        others: "verify and no_verify contradict each other",
      },
    });
  }
  if (flags.setup.length > 0 && flags.no_setup) {
    throw new VerbatimError("USAGE", {
      message: {
        cli: "--setup and --no-setup contradict each other",
        others: "setup and no_setup contradict each other",
      },
    });
  }
  const own = flags.no_verify || given.length > 0 ? given : agent.verify.commands.map(parse);
  const configured = own.length === 0 && !flags.no_verify;
  // A gate that is configured and empty verifies nothing either.
  const gate = configured ? (workflow.verify.gates.get("lite") ?? []) : [];
  if (configured && gate.length === 0) throw verifyNotConfigured(findVerifyCommands(facts));
  const asked = flags.no_setup ? [] : flags.setup.length > 0 ? flags.setup : agent.verify.setup;
  const setup = asked.map((text) => parseVerifyCommand(text, facts, "--setup"));
  return {
    commands: configured ? gate.map((one) => ({ ...one, argv: [...one.argv], cmd: formatArgv(one.argv) })) : own,
    configured,
    setup: flags.no_setup
      ? "none"
      : setup.length > 0
        ? setup.map(({ argv, cmd }) => ({ argv: [...argv], cmd }))
        : "detect",
    baseline: !flags.no_baseline && agent.verify.baseline,
  };
}

/** The request as run.json keeps it. */
export function toRecorded(request: AgentRequest, keep: readonly string[]): AgentRun["request"] {
  return {
    ...(request.name === null ? {} : { name: request.name }),
    argv: [...request.command],
    verify: [...request.plan.commands],
    setup: request.plan.setup,
    baseline: request.plan.baseline,
    files: [...request.files],
    allow: [...request.allow],
    deny: [...request.deny],
    leave_out: [...request.leaveOut],
    permit: [...request.permit],
    limits: { ...request.limits },
    keep: [...keep],
    guard: request.guard,
    timeout_ms: request.timeoutMs,
    hash_all: request.hashAll,
    network: { mode: request.network.mode, hosts: request.network.hosts.map((one) => ({ ...one })) },
    caps: { ...request.caps },
    ...(request.commit === null ? {} : { commit: { ...request.commit } }),
    profile: request.equipment.known?.profile.name ?? NO_PROFILE,
    masks: { unmask: [...request.masks.unmask], all: request.masks.all, verify: [], verify_all: false },
    env: { names: [...request.env.names], set: [...request.env.set], all: request.env.all },
    see: [...request.see],
    fix: request.fix,
    ...(request.maxUsd === null ? {} : { max_usd: request.maxUsd }),
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `90s`, `30m`, `2h` in milliseconds. */
export function parseTimeout(text: string): number {
  const [, count, unit = "s"] = /^([1-9][0-9]{0,8})(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (ms >= 1 && ms <= 86_400_000) return ms;
  throw new VerbatimError("USAGE", {
    message: {
      cli: `--timeout must be a time like 90s, 30m or 2h, at most one day: ${JSON.stringify(text)}`,
      others: `timeout must be a time like 90s, 30m or 2h, at most one day: ${JSON.stringify(text)}`,
    },
  });
}

/** `500kB`, `2MiB`, `1048576` in bytes. */
export function parseSize(flag: string, text: string): number {
  const bytes = readSize(text);
  if (bytes !== null) return bytes;
  const sized = `a size like 500kB, 2MiB or 1048576: ${JSON.stringify(text)}`;
  throw new VerbatimError("USAGE", {
    message: { cli: `${flag} must be ${sized}`, others: `${flag.slice(2).replaceAll("-", "_")} must be ${sized}` },
  });
}
