import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { errnoCode } from "../disk/errors.ts";

const MARKER = "VERBATIM_RUN_ID";

/**
 * Ends every process of the user whose environment carries the marker of a run, until none is left; says how many
 * there were. Processes hidden by the system, and those that wiped their environment, are not seen.
 */
export async function endMarked(runId: string, spare: readonly number[] = []): Promise<number> {
  const ended = new Set<number>();
  for (let round = 0; round < 200; round++) {
    const found = findMarked(runId).filter((pid) => !spare.includes(pid));
    if (found.length === 0) return ended.size;
    for (const pid of found) {
      ended.add(pid);
      kill(pid);
    }
    await wait(5);
  }
  return ended.size;
}

/** The processes whose environment carries the marker of a run. */
export function findMarked(runId: string): number[] {
  return process.platform === "linux" ? findInProc(runId) : findWithPs(runId);
}

function findInProc(runId: string): number[] {
  const marker = `${MARKER}=${runId}`;
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && readEnvironment(name).includes(marker))
    .filter((name) => !isZombie(name))
    .map(Number);
}

function readEnvironment(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch (thrown) {
    if (["ENOENT", "EACCES", "ESRCH", "EPERM"].includes(errnoCode(thrown) ?? "")) return [];
    throw thrown;
  }
}

function isZombie(pid: string): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).startsWith("Z");
  } catch (thrown) {
    if (["ENOENT", "ESRCH"].includes(errnoCode(thrown) ?? "")) return true;
    throw thrown;
  }
}

// `ps` of macOS shows the environment of the user's own processes after the command.
function findWithPs(runId: string): number[] {
  if (process.platform === "win32") return [];
  const text = execFileSync("ps", ["-Eww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return text
    .split("\n")
    .filter((line) => line.split(" ").includes(`${MARKER}=${runId}`))
    .map((line) => Number(line.trim().split(" ")[0]));
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if (!["ESRCH", "EPERM"].includes(errnoCode(thrown) ?? "")) throw thrown;
  }
}
