import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { errnoCode } from "../../../core/errors/system.ts";
import { listMountsBelow } from "./mounts.ts";

const TRY = readFileSync(new URL("./scripts/try-stat.pl", import.meta.url), "utf8");
const PERL = "/usr/bin/perl";
/** O_TMPFILE with O_DIRECTORY, mmap, read and write, by the processor. */
const NUMBERS: Readonly<Record<string, readonly number[]>> = {
  x64: [0o20200000, 9, 0, 1],
  arm64: [0o20040000, 222, 63, 64],
};

/** What trying gave, by device. */
const known = new Map<bigint, boolean>();

/**
 * Whether the stat of every file below a root shows each change of its content. On tmpfs, for one, a write through a
 * mapping leaves all times alone. It is shown by trying, for each file system; where that cannot be shown, it is not so.
 */
export function isStatTrusted(root: string): boolean {
  return [root, ...listMountsBelow(root)].every(isFolderTrusted);
}

function isFolderTrusted(folder: string): boolean {
  const device = deviceOf(folder);
  if (device === null) return false;
  const answer = known.get(device) ?? tryFolder(folder);
  known.set(device, answer);
  return answer;
}

function tryFolder(folder: string): boolean {
  const numbers = process.platform === "linux" ? NUMBERS[process.arch] : undefined;
  if (numbers === undefined) return false;
  const args = ["-e", TRY, folder, ...numbers.map(String)];
  return spawnSync(PERL, args, { stdio: "ignore", env: {}, timeout: 10_000 }).status === 0;
}

function deviceOf(folder: string): bigint | null {
  try {
    return statSync(folder, { bigint: true }).dev;
  } catch (thrown) {
    if (["ENOENT", "EACCES", "ENOTDIR"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}
