import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { errnoCode } from "../../core/errors/system.ts";
import { listMountsBelow } from "./mounts.ts";

/**
 * Writes one byte through a mapping of a file without a name, which was read before and so needs no fault to be written,
 * and looks whether its time moved. The file leaves no trace, in the folder neither. Arguments: the folder, O_TMPFILE, the
 * numbers of mmap, read and write.
 */
const TRY = String.raw`my ($dir, $flags, $mmap, $read, $write) = @ARGV;
sysopen(my $f, $dir, $flags | 2, 0600) or exit 1; syswrite($f, "a" x 4096) == 4096 or exit 1;
my $at = syscall($mmap + 0, 0, 4096, 3, 1, fileno($f), 0); exit 1 if $at == -1;
pipe(my $r, my $w) or exit 1; exit 1 if syscall($write + 0, fileno($w), $at, 1) != 1; sysread($r, my $was, 1);
utime(1, 1, $f) or exit 1; syswrite($w, "b"); exit 1 if syscall($read + 0, fileno($r), $at, 1) != 1;
seek($f, 0, 0); sysread($f, my $now, 1); exit($now eq "b" && (stat($f))[9] != 1 ? 0 : 1);`;

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
