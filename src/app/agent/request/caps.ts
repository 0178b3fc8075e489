import { totalmem } from "node:os";
import {
  CAP_NAMES,
  type CapHit,
  type CapMechanism,
  type CapName,
  type Caps,
  DEFAULT_CAPS,
  type HeldBy,
} from "../../../core/contracts/caps.ts";
import { readSize } from "../../../core/contracts/sizes.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { CapsOutcome } from "../../../rooms/catalytic/index.ts";
import type { AgentAttempt, AgentRun, VerificationReport } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { formatSize, groupDigits } from "../report/explain-words.ts";
import { parseSize } from "./request.ts";

/** What an agent may use, as a person writes it. */
export interface CapFlags {
  readonly memory?: string | undefined;
  readonly processes?: number | undefined;
  readonly disk?: string | undefined;
}

/** Less than that and not even the programs around the command would run. */
const LEAST: Caps = { memory: 16 * 1024 ** 2, processes: 8, disk: 1024 ** 2 };

/** Reads flags and configuration. USAGE, CONFIG_INVALID. */
export function planCaps(outside: Pick<AgentPorts, "config">, flags: CapFlags): Caps {
  const { caps, caps_at_most: bounded } = outside.config().agent;
  const defaults: Caps = {
    memory: Math.floor(totalmem() * DEFAULT_CAPS.memory_share),
    processes: DEFAULT_CAPS.processes,
    disk: DEFAULT_CAPS.disk,
  };
  const given: Readonly<Record<CapName, number | undefined>> = {
    memory: flags.memory === undefined ? undefined : parseSize("--memory", flags.memory),
    processes: flags.processes,
    disk: flags.disk === undefined ? undefined : parseSize("--disk", flags.disk),
  };
  const choose = (cap: CapName) => {
    const flag = given[cap];
    if (flag !== undefined) return requireEnough(`--${cap}`, cap, flag);
    const configured = readConfigured(caps[cap]);
    if (configured === null) return defaults[cap];
    // What only the repository says may be less than everybody gets, and never more.
    const most = bounded.includes(cap) ? Math.min(configured, defaults[cap]) : configured;
    return requireEnough(`agent.caps.${cap}`, cap, most);
  };
  return { memory: choose("memory"), processes: choose("processes"), disk: choose("disk") };
}

function readConfigured(value: string | number | null): number | null {
  return typeof value === "string" ? readSize(value) : value;
}

function requireEnough(where: string, cap: CapName, value: number): number {
  if (value >= LEAST[cap]) return value;
  const isFlag = where.startsWith("--");
  throw new VerbatimError(isFlag ? "USAGE" : "CONFIG_INVALID", {
    message: {
      cli: `${where} is too little for any command: at least ${formatCap(cap, LEAST[cap])}`,
      others: `${cap} is too little for any command: at least ${formatCap(cap, LEAST[cap])}`,
    },
    ...(isFlag ? {} : { where: `verbatim.config.json /agent/caps/${cap}` }),
  });
}

/** What a run recorded before there were caps has: those of now. */
export function readCaps(outside: Pick<AgentPorts, "config">, { request }: AgentRun): Caps {
  return request.caps ?? planCaps(outside, {});
}

/** `4 GiB`, `2,048` */
function formatCap(cap: CapName, value: number): string {
  return cap === "processes" ? groupDigits(value) : formatSize(value);
}

const WHAT: Readonly<Record<CapName, string>> = { memory: "memory", processes: "processes", disk: "disk space" };

/** Why an attempt was ended, with its numbers. */
export function describeHit({ cap, limit, used }: CapHit, who = "the agent"): string {
  const most = `${formatCap(cap, limit)}${cap === "processes" ? " processes" : ""}`;
  const seen = formatCap(cap, used);
  const noticed = used > limit && seen !== formatCap(cap, limit) ? `; ${seen} when it was noticed` : "";
  return `${who} used more ${WHAT[cap]} than the ${most} it was allowed (--${cap})${noticed}`;
}

/** Caps that no kernel holds, said before the agent starts. Everything, where somebody asked for a cap. */
export function describeHeld(held: HeldBy): string[] {
  return CAP_NAMES.flatMap((cap) => {
    if (held[cap] === "none") return [`! ${cap} limit: nothing on this system sees to it`];
    return held[cap] === "watch" && cap !== "disk" ? [`${cap} limit watched, not enforced by the kernel`] : [];
  });
}

const MECHANISMS: Readonly<Record<CapMechanism, string>> = {
  cgroup2: "held by the kernel (control group)",
  cgroup1: "held by the kernel (control group)",
  rlimit: "held by the kernel (limit of processes)",
  watch: "watched, so it can be overshot between two looks",
  none: "nothing on this system sees to it",
};

/** What saw to a cap, in words. */
export function describeMechanism(mechanism: CapMechanism): string {
  return MECHANISMS[mechanism];
}

/** The caps of an attempt as attempt.json has them. */
export function toAttemptCaps(wanted: Caps, outcome: CapsOutcome | null): NonNullable<AgentAttempt["caps"]> {
  const { mechanism = null, hit = null } = outcome ?? {};
  return { wanted: { ...wanted }, mechanism: mechanism && { ...mechanism }, hit: hit && { ...hit } };
}

/** The caps of a verification as its report has them. */
export function toReportCaps({ wanted, mechanism }: CapsOutcome): NonNullable<VerificationReport["caps"]> {
  const by = mechanism === null ? [] : CAP_NAMES.map((cap) => [`${cap}_by`, mechanism[cap]] as const);
  return { ...wanted, ...Object.fromEntries(by) };
}
