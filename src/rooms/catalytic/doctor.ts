import { GUARD_FACTS, guardOrder, type ProbeReason } from "./guard-choice.ts";
import { listLocks } from "./locks.ts";
import { listUnfinished } from "./recover.ts";
import type { RoomPorts } from "./room-ports.ts";
import { GUARD_NAMES, type GuardName } from "./words.ts";

const FIXES: Readonly<Record<ProbeReason, string>> = {
  TOOL_MISSING: "Install util-linux (unshare, setpriv) and perl.",
  USERNS_DISABLED: "Allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone.",
  USERNS_APPARMOR: "Allow user namespaces for this program in AppArmor, or run as root.",
  SECCOMP_BLOCKED: "The container forbids namespaces; give it the right to unshare, or use landlock.",
  OVERLAY_UNSUPPORTED: "The kernel has no overlay file system here; ns-bind works without it.",
  OVERLAY_UPPER_UNSUPPORTED: "The file system of the workspace cannot be an upper layer; ns-bind works without it.",
  LANDLOCK_DISABLED: "Boot a kernel with landlock among its security modules (lsm=landlock,...).",
  LANDLOCK_ABI_TOO_OLD: "Linux 5.19 or newer is needed.",
  PROBE_LEAKED: "The guard started but did not hold; please report it.",
  NOT_THIS_PLATFORM: "It belongs to another system.",
};

/** Tries every guard anew and says what it can do, which one would be chosen, and what is left from earlier runs. */
export async function examine(ports: RoomPorts) {
  const probes = await ports.guards.probe(true);
  const here = guardOrder(ports.host.platform);
  const guards = GUARD_NAMES.map((name) => {
    const answer =
      name === "audit" ? "ok" : here.includes(name) ? (probes[name] ?? "NOT_THIS_PLATFORM") : "NOT_THIS_PLATFORM";
    const works = answer === "ok";
    const { blocks, gaps } = GUARD_FACTS[name];
    return {
      name,
      works,
      reason: works ? null : answer,
      blocks: works ? [...blocks] : [],
      gaps: [...gaps],
      fix: works ? null : FIXES[answer],
    };
  });
  const working = here.filter((name) => name === "audit" || probes[name] === "ok");
  const chosen: GuardName = working[0] ?? "audit";
  const { state } = ports.places();
  const locks = listLocks(ports.disk, ports.host, state).map(({ lock, state: owner }) => ({
    run_id: lock.run_id,
    path: lock.path,
    state: owner,
    halted: lock.halted === true,
  }));
  const dead = listUnfinished(ports, state)
    .filter(({ owner }) => owner === "dead")
    .map(({ run_id }) => run_id);
  return { guards, chosen, network_none: working.some((name) => GUARD_FACTS[name].network), locks, dead_runs: dead };
}
