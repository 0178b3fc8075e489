import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { errnoCode } from "../../core/errors/system.ts";
import type { RunMark } from "../../rooms/catalytic/ports.ts";

/** Two variables, because a run id is unique in its workspace only. */
const MARKERS = (run: RunMark): string[] => [`VERBATIM_RUN_ID=${run.run_id}`, `VERBATIM_RUN_WORK=${run.work}`];

/**
 * Ends every process of the user whose environment carries the marker of a run, until none is left; says how many
 * there were. Processes hidden by the system, and those that wiped their environment, are not seen.
 */
export async function endMarked(run: RunMark, spare: readonly number[] = []): Promise<number> {
  const ended = new Set<number>();
  let wasQuiet = false;
  for (let round = 0; round < 200; round++) {
    const found = findMarked(run).filter((pid) => !spare.includes(pid));
    // A process that is just being replaced by another program shows no environment: one look may miss it, not two.
    if (found.length === 0 && wasQuiet) return ended.size;
    wasQuiet = found.length === 0;
    for (const pid of found) {
      ended.add(pid);
      kill(pid);
    }
    await wait(5);
  }
  return ended.size;
}

/** The processes whose environment carries the marker of a run. */
export function findMarked(run: RunMark): number[] {
  return process.platform === "linux" ? findInProc(run) : findWithPs(run);
}

function findInProc(run: RunMark): number[] {
  const markers = MARKERS(run);
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && isMarked(readEnvironment(name), markers))
    .filter((name) => !isZombie(name))
    .map(Number);
}

function isMarked(words: readonly string[], markers: readonly string[]): boolean {
  return markers.every((marker) => words.includes(marker));
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
function findWithPs(run: RunMark): number[] {
  if (process.platform === "win32") return [];
  const text = execFileSync("ps", ["-Eww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return text
    .split("\n")
    .filter((line) => isMarked(line.split(" "), MARKERS(run)))
    .map((line) => Number(line.trim().split(" ")[0]));
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if (!["ESRCH", "EPERM"].includes(errnoCode(thrown) ?? "")) throw thrown;
  }
}
