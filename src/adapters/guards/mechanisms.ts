import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { GuardName } from "../../core/contracts/guards.ts";
import type { LaunchRequest, ProbeReason, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { launchInBubblewrap } from "./bubblewrap.ts";
import { openAnyGroup, openControlGroup } from "./caps/control-group.ts";
import { landlockAbi, launchUnderLandlock } from "./landlock.ts";
import { findNamespaceTools, launchInNamespaces } from "./namespace.ts";
import { launchPlain, launchUnderSeatbelt } from "./plain.ts";
import { findTool } from "./tools.ts";

/** What makes the namespaces of ns-bind. */
export type BindLauncher = "perl" | "bubblewrap";

/** How a guard is run on this machine, and what can be said when it is not. */
interface Mechanism {
  launch(request: LaunchRequest, bind: BindLauncher): Promise<RunningCommand>;
  /** What keeps it from working that is known without running it. */
  findObstacle(bind: BindLauncher): Promise<ProbeReason | null> | ProbeReason | null;
  /** Which reason the last words of its launcher stand for. */
  explain(words: string): ProbeReason;
}

export const MECHANISMS: Readonly<Record<GuardName, Mechanism>> = {
  "ns-overlay": {
    launch: launchInNamespaces,
    findObstacle: findNamespaceObstacle,
    explain(words) {
      const isMount = /mount .*\/in: (No such device|Operation not permitted|Invalid argument)/.test(words);
      if (!isMount) return explainStart(words);
      return /Invalid argument/.test(words) ? "OVERLAY_UPPER_UNSUPPORTED" : "OVERLAY_UNSUPPORTED";
    },
  },
  "ns-bind": {
    launch: (request, bind) => (bind === "perl" ? launchInNamespaces(request) : launchInBubblewrap(request)),
    findObstacle(bind) {
      if (bind === "bubblewrap") return findTool("bwrap") === null ? "TOOL_MISSING" : null;
      return findNamespaceObstacle();
    },
    explain: explainStart,
  },
  landlock: {
    launch: launchUnderLandlock,
    findObstacle() {
      const abi = landlockAbi();
      if (abi === null) return "TOOL_MISSING";
      // Before version 2 nothing may be renamed between folders, which ordinary programs do.
      return abi === 0 ? "LANDLOCK_DISABLED" : abi < 2 ? "LANDLOCK_ABI_TOO_OLD" : null;
    },
    explain: () => "LANDLOCK_DISABLED",
  },
  seatbelt: {
    launch: launchUnderSeatbelt,
    findObstacle: () => (existsSync("/usr/bin/sandbox-exec") ? null : "TOOL_MISSING"),
    explain: explainStart,
  },
  audit: { launch: launchPlain, findObstacle: () => null, explain: explainStart },
};

/** Where a launcher finds control groups for its command: one that joins none is given none. */
export function findGroups(guard: GuardName, bind: BindLauncher): typeof openAnyGroup {
  // Its first process is the command's: what another program starts around it would end before it was read.
  if (guard === "ns-bind" && bind === "bubblewrap") return openControlGroup;
  const isSession = guard === "seatbelt" || (guard === "audit" && findTool("perl") === null);
  return isSession ? () => null : openAnyGroup;
}

async function findNamespaceObstacle(): Promise<ProbeReason | null> {
  if (findNamespaceTools() === null) return "TOOL_MISSING";
  return process.getuid?.() === 0 ? null : findUserNamespaceObstacle();
}

async function findUserNamespaceObstacle(): Promise<ProbeReason | null> {
  const unshare = findTool("unshare");
  if (unshare === null) return "TOOL_MISSING";
  const run = promisify(execFile);
  try {
    await run(unshare, ["--user", "--map-root-user", "true"]);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    if (readFlag("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1") return "USERNS_APPARMOR";
    if (readFlag("/proc/sys/user/max_user_namespaces") === "0") return "USERNS_DISABLED";
    return readFlag("/proc/sys/kernel/unprivileged_userns_clone") === "0" ? "USERNS_DISABLED" : "SECCOMP_BLOCKED";
  }
}

function readFlag(place: string): string | null {
  return existsSync(place) ? readFileSync(place, "utf8").trim() : null;
}

function explainStart(words: string): ProbeReason {
  return /unshare|Operation not permitted/.test(words) ? "SECCOMP_BLOCKED" : "PROBE_LEAKED";
}
