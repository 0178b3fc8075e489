import type { JsonObject } from "../../../core/canonical/index.ts";

/** Who holds a domain, an anchor or the whole tree, as a lock file says. */
export interface Lock {
  readonly run_id: string;
  readonly path: string;
  readonly host: string;
  readonly boot_id: string;
  readonly pid_ns: string;
  readonly pid: number;
  readonly pid_start: string;
  /** View runs share the tree; everyone else has it alone. */
  readonly shared?: boolean;
}

export type LockOwner = Omit<Lock, "path" | "run_id" | "shared">;

/** The owner that a lock file names; what is not there is empty, and then nobody can say whether it lives. */
export function readOwner(value: JsonObject): LockOwner {
  const text = (name: string) => (typeof value[name] === "string" ? value[name] : "");
  const pid = typeof value["pid"] === "number" ? value["pid"] : -1;
  return { host: text("host"), boot_id: text("boot_id"), pid_ns: text("pid_ns"), pid, pid_start: text("pid_start") };
}

/** This machine, as far as locks care. */
export interface HostNow {
  readonly host: string;
  readonly boot_id: string;
  readonly pid_ns: string;
  /** Start time of a running process, or null. */
  startOf(pid: number): string | null;
}

export type LockState = "held" | "stale" | "unknown";

/**
 * Whether the owner of a lock is certainly dead, certainly alive, or out of sight.
 *
 * @example
 * const here = { host: "quay", boot_id: "b1", pid_ns: "n1" };
 * lockState({ ...here, pid: 7, pid_start: "100" }, { ...here, startOf: () => null }); // => "stale"
 */
export function lockState(lock: LockOwner, now: HostNow): LockState {
  if (lock.host !== now.host) return "unknown";
  if (lock.boot_id !== now.boot_id) return "stale";
  if (lock.pid_ns !== now.pid_ns) return "unknown";
  return now.startOf(lock.pid) === lock.pid_start ? "held" : "stale";
}
