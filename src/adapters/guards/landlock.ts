import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import type { LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { ControlledLauncher, formatPairs, formatTerminal, startFailed } from "./control.ts";
import { LANDLOCK_SCRIPT } from "./landlock-script.ts";
import { findTool } from "./tools.ts";

/** The version of landlock the kernel has: 0 when it is off, null when perl is missing or the system is another. */
export function landlockAbi(): number | null {
  const perl = process.platform === "linux" ? findTool("perl") : null;
  if (perl === null) return null;
  const text = execFileSync(perl, ["-e", LANDLOCK_SCRIPT, "abi"], { encoding: "utf8" });
  return Math.max(0, Number(text.trim()));
}

/** Starts a command that may write only below the named places. */
export async function launchUnderLandlock(request: LaunchRequest): Promise<RunningCommand> {
  const perl = findTool("perl");
  if (perl === null) throw startFailed("perl is missing");
  for (const name of ["t", "c"]) mkdirSync(`${request.work}/tmp/${name}`, { recursive: true, mode: 0o700 });
  writeFileSync(`${request.work}/launch`, formatSettings(request), { mode: 0o600 });
  const child = spawn(perl, ["-e", LANDLOCK_SCRIPT, `${request.work}/launch`], {
    stdio: [request.stdin === "inherit" ? "inherit" : "ignore", "pipe", "pipe", "pipe"],
    cwd: "/",
    detached: true,
    env: { PATH: "/usr/bin:/bin", VERBATIM_RUN_ID: request.run_id, VERBATIM_RUN_WORK: request.work },
  });
  const launcher = new ControlledLauncher(child, request);
  const supervisor = await launcher.started();
  return {
    launcher: "perl",
    ended: supervisor.ended,
    interrupt: (signal) => supervisor.interrupt(signal),
    merged: (layer) => layer.path,
    release: () => launcher.release(),
  };
}

function formatSettings(request: LaunchRequest): string {
  const { work, cwd, writable, env, command } = request;
  return formatPairs([
    ["arch", process.arch],
    ["cwd", cwd],
    ["probe", work],
    ...formatTerminal(request),
    ...[...writable, `${work}/tmp`].map((place) => ["rw", place] as const),
    ...["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts"].map((place) => ["file", place] as const),
    ...Object.entries(env).map(([name, value]) => ["env", `${name}=${value}`] as const),
    ...command.map((word) => ["arg", word] as const),
  ]);
}
