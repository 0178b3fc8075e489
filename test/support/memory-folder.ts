import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const NAME = /^verbatim-test-(\d+)$/;
/** A whole run needs a small part of this at once. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Where things lie that outlive a run. */
export function diskFolder(): string {
  return process.env["VERBATIM_DISK_FOLDER"] ?? tmpdir();
}

/**
 * Gives the temporary files of this run a folder in memory where the machine has room for it: nothing in them is to
 * survive the machine, and a fifth of a run was waiting for the disk and the kernel's work for it. What must be on a disk
 * like a user's, such as the repositories of agents, lies in the checkout. Answers with what takes the folder away.
 */
export function useMemory(): () => void {
  const free = readFree();
  if (free < ENOUGH_BYTES) return () => undefined;
  removeLeftovers();
  const folder = join(MEMORY, `verbatim-test-${process.pid}`);
  mkdirSync(folder);
  // As every temporary folder: some processes of the tests belong to other users.
  chmodSync(folder, 0o1777);
  process.env["VERBATIM_DISK_FOLDER"] = tmpdir();
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function readFree(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw thrown;
  }
}

/** A run that was killed cannot take its folder away, and memory is dear. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const place = join(MEMORY, name);
    const facts = lstatSync(place, { throwIfNoEntry: false });
    if (facts?.isDirectory() === true && facts.uid === process.getuid?.()) {
      rmSync(place, { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
