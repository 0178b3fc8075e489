import {
  GUARD_CLASSES,
  GUARD_FACTS,
  GUARD_NAMES,
  type GuardClass,
  type GuardName,
  type GuardRequest,
} from "../../../core/contracts/guards.ts";
import type { NetworkMode } from "../contracts/constants.ts";

/** What every guard notices inside the repository afterwards. */
export const DETECTS = ["content", "create", "delete", "metadata"] as const;

/** The first version of landlock that can deny cutting a file short. */
const TRUNCATE_ABI = 3;

/**
 * What a guard cannot deny on this machine. `landlock` is the version the kernel has; one that nobody could ask counts as
 * the weakest.
 */
export function gapsOf(guard: GuardName, landlock: number | null): readonly string[] {
  const { gaps } = GUARD_FACTS[guard];
  return guard === "landlock" && (landlock ?? 0) < TRUNCATE_ABI ? [...gaps, "truncate"] : gaps;
}

/** Why a guard does not work here. */
export type ProbeReason =
  | "TOOL_MISSING"
  | "USERNS_DISABLED"
  | "USERNS_APPARMOR"
  | "SECCOMP_BLOCKED"
  | "OVERLAY_UNSUPPORTED"
  | "OVERLAY_UPPER_UNSUPPORTED"
  | "LANDLOCK_DISABLED"
  | "LANDLOCK_ABI_TOO_OLD"
  | "PROBE_LEAKED"
  | "NOT_THIS_PLATFORM";

/** What actually trying a guard gave. */
export type ProbeAnswer = "ok" | ProbeReason;

/** What makes a guard work that does not. */
export const GUARD_FIXES: Readonly<Record<ProbeReason, string>> = {
  TOOL_MISSING: "Install util-linux (unshare, setpriv) and perl; for ns-bind bubblewrap is enough.",
  USERNS_DISABLED: "Allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone.",
  USERNS_APPARMOR: "Allow user namespaces for this program in AppArmor, or run as root.",
  SECCOMP_BLOCKED: "The container forbids namespaces; give it the right to unshare, or use landlock.",
  OVERLAY_UNSUPPORTED: "The kernel has no overlay file system here; ns-bind works without it.",
  OVERLAY_UPPER_UNSUPPORTED: "The file system of the workspace cannot be an upper layer; ns-bind works without it.",
  LANDLOCK_DISABLED: "Boot a kernel with landlock among its security modules (lsm=landlock,...).",
  LANDLOCK_ABI_TOO_OLD: "Linux 5.19 or newer is needed.",
  PROBE_LEAKED: "The guard started but did not work; please report it.",
  NOT_THIS_PLATFORM: "It works only on another operating system.",
};

type GuardChoice =
  | {
      readonly guard: GuardName;
      readonly class: GuardClass;
      readonly warn: "AUDIT_ONLY" | null;
      readonly error: null;
      readonly exit: null;
    }
  | { readonly guard: null; readonly error: "GUARD_UNAVAILABLE" | "NETWORK_NOT_ENFORCEABLE"; readonly exit: 1 };

/** The guards of a platform in order of preference. */
export function guardOrder(platform: string): readonly GuardName[] {
  return GUARD_NAMES.filter((name) => [null, platform].includes(GUARD_FACTS[name].platform));
}

/**
 * Chooses the guard of a run out of what was actually tried. A named guard is never replaced by another.
 *
 * @example
 * chooseGuard("linux", "require", {}).guard; // => null
 * chooseGuard("linux", "auto", {}).guard; // => "audit"
 */
export function chooseGuard(
  platform: string,
  requested: GuardRequest,
  probes: Readonly<Partial<Record<GuardName, ProbeAnswer>>>,
  network: NetworkMode = "inherit",
): GuardChoice {
  const working = guardOrder(platform).filter((name) => name === "audit" || probes[name] === "ok");
  const refuse = (error: "GUARD_UNAVAILABLE" | "NETWORK_NOT_ENFORCEABLE"): GuardChoice => ({
    guard: null,
    error,
    exit: 1,
  });
  const named = requested !== "auto" && requested !== "require";
  const wanted = named
    ? working.filter((name) => name === requested)
    : working.filter((name) => requested === "auto" || name !== "audit");
  if (network !== "inherit") {
    if (named && wanted.length === 0) return refuse("GUARD_UNAVAILABLE");
    const able = wanted.find((name) => canConfine(name, network));
    return able === undefined ? refuse("NETWORK_NOT_ENFORCEABLE") : take(able);
  }
  const first = wanted[0];
  return first === undefined ? refuse("GUARD_UNAVAILABLE") : take(first);
}

/** Whether a guard can cut the network off, or leave single hosts of it. */
export function canConfine(guard: GuardName, network: NetworkMode): boolean {
  const { class: kind, network: cuts } = GUARD_FACTS[guard];
  return network === "inherit" || (network === "none" ? cuts : kind === "namespace");
}

function take(guard: GuardName): GuardChoice {
  const warn = guard === "audit" ? "AUDIT_ONLY" : null;
  return { guard, class: GUARD_FACTS[guard].class, warn, error: null, exit: null };
}

/** The sentence that is always printed about the chosen guard. */
export function describeGuard(guard: GuardName, network: NetworkMode): string {
  if (guard === "audit")
    return "guard audit: BLOCKS NOTHING; changes inside the repository are only noticed afterwards";
  const { blocks, gaps } = GUARD_FACTS[guard];
  const open = gaps.length === 0 ? "" : `, cannot block ${gaps.join(", ")}`;
  return `guard ${guard}: blocks ${blocks.join(", ")} outside the domains${open}; network ${network}`;
}

/** What a guard could neither prevent nor hide in a view, in words for the summary. */
export function limitsOf(guard: GuardName): readonly string[] {
  return GUARD_CLASSES[GUARD_FACTS[guard].class].limits;
}
