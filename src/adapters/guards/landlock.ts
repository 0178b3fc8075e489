import { execFileSync } from "node:child_process";
import type { LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { startFailed } from "./control.ts";
import { SUPERVISOR_SCRIPT } from "./scripts.ts";
import { launchSupervised } from "./supervised.ts";
import { findTool } from "./tools.ts";

/** Devices a command may write. Of the terminals it has only its own. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/** The version of landlock the kernel has: 0 when it is off, null when perl is missing or the system is another. */
export function landlockAbi(): number | null {
  const perl = process.platform === "linux" ? findTool("perl") : null;
  if (perl === null) return null;
  const text = execFileSync(perl, ["-e", SUPERVISOR_SCRIPT, "abi"], { encoding: "utf8" });
  return Math.max(0, Number(text.trim()));
}

/** Starts a command that may write only below the named places. */
export async function launchUnderLandlock(request: LaunchRequest): Promise<RunningCommand> {
  const perl = findTool("perl");
  if (perl === null) throw startFailed("perl is missing");
  const { work, writable, tty } = request;
  return launchSupervised(perl, request, [
    ["landlock", "1"],
    ["probe", work],
    ...[...writable, `${work}/tmp`].map((place) => ["rw", place] as const),
    ...[...DEVICES, ...(tty === undefined ? [] : [tty.path])].map((place) => ["file", place] as const),
  ]);
}
