import { readdirSync, readFileSync } from "node:fs";
import { errnoCode } from "../../core/errors/system.ts";

/** The processes whose parent is the given one, as /proc shows them. */
export function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT" || errnoCode(thrown) === "ESRCH") return null;
    throw thrown;
  }
}

/**
 * Ends a process and everything below it, as /proc shows it. The top is stopped first and ended last, so that what loses
 * its parent meanwhile stays below it; what is made meanwhile is found by looking again.
 */
export function endTree(top: number): void {
  sendSignal([top], "SIGSTOP");
  const ended = new Set<number>();
  for (;;) {
    const found = listBelow(top).filter((pid) => !ended.has(pid));
    if (found.length === 0) break;
    for (const pid of found) ended.add(pid);
    sendSignal(found, "SIGKILL");
  }
  sendSignal([top], "SIGKILL");
}

function listBelow(top: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const found = new Set([top]);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) if (parent !== null && found.has(parent)) found.add(pid);
  }
  found.delete(top);
  return [...found];
}

/** Sends a signal to processes, or groups by a negative number; one that is gone, or someone else's, is no error. */
export function sendSignal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (thrown) {
      if (!["ESRCH", "EPERM"].includes(errnoCode(thrown) ?? "")) throw thrown;
    }
  }
}
