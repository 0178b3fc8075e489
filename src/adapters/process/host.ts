import { readFileSync, readlinkSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { errnoCode } from "../../core/errors/system.ts";
import type { Host, Interrupts } from "../../rooms/catalytic/ports.ts";

/** This process and this machine, as locks and journals name them. */
export function readHost(): Host {
  return {
    host: hostname(),
    boot_id: readOr("/proc/sys/kernel/random/boot_id", "unknown"),
    pid_ns: linkOr("/proc/self/ns/pid", "none"),
    pid: process.pid,
    pid_start: startOf(process.pid) ?? "unknown",
    startOf,
    platform: process.platform,
    arch: process.arch,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    runtime: `node ${process.version}`,
    home: homedir() || null,
    pause: (ms) => wait(ms),
  };
}

/** Start time of a process in clock ticks since boot; where the system does not tell, whether it runs at all. */
function startOf(pid: number): string | null {
  if (process.platform !== "linux") return isRunning(pid) ? "unknown" : null;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch (thrown) {
    if (["ENOENT", "ESRCH"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoCode(thrown) === "EPERM";
  }
}

function readOr(place: string, fallback: string): string {
  try {
    return readFileSync(place, "utf8").trim();
  } catch (thrown) {
    if (["ENOENT", "EACCES"].includes(errnoCode(thrown) ?? "")) return fallback;
    throw thrown;
  }
}

function linkOr(place: string, fallback: string): string {
  try {
    return readlinkSync(place);
  } catch (thrown) {
    if (["ENOENT", "EACCES"].includes(errnoCode(thrown) ?? "")) return fallback;
    throw thrown;
  }
}

/** SIGINT and SIGTERM of this process. While someone listens they do not end it. */
export const processInterrupts: Interrupts = {
  listen(onSignal) {
    const ends = [
      ["SIGINT", "SIGINT"],
      ["SIGTERM", "SIGTERM"],
      // A terminal that was closed asks for an end as well.
      ["SIGHUP", "SIGTERM"],
    ] as const;
    const handlers = ends.map(([name, meant]) => [name, () => onSignal(meant)] as const);
    for (const [name, handler] of handlers) process.on(name, handler);
    return () => {
      for (const [name, handler] of handlers) process.off(name, handler);
    };
  },
};
