import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import type { LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { toStdin } from "../process/supervisor.ts";
import { ControlledLauncher, formatLimits, formatPairs, formatTerminal } from "./control.ts";
import { SUPERVISOR_SCRIPT } from "./scripts.ts";

/** Starts a command below a perl process that none of its descendants can leave; `more` says how it is confined. */
export async function launchSupervised(
  perl: string,
  request: LaunchRequest,
  more: readonly (readonly [string, string])[],
): Promise<RunningCommand> {
  const { run_id, work, cwd, env, command } = request;
  for (const name of ["t", "c"]) mkdirSync(`${work}/tmp/${name}`, { recursive: true, mode: 0o700 });
  const settings = formatPairs([
    ["arch", process.arch],
    ["cwd", cwd],
    ...formatTerminal(request),
    ...formatLimits(request),
    ...more,
    ...Object.entries(env).map(([name, value]) => ["env", `${name}=${value}`] as const),
    ...command.map((word) => ["arg", word] as const),
  ]);
  writeFileSync(`${work}/launch`, settings, { mode: 0o600 });
  const [program, ...words] = [...(request.limits?.starter ?? []), perl, "-e", SUPERVISOR_SCRIPT, `${work}/launch`];
  const child = spawn(program!, words, {
    stdio: [toStdin(request), "pipe", "pipe", "pipe"],
    cwd: "/",
    detached: true,
    env: { PATH: "/usr/bin:/bin", VERBATIM_RUN_ID: run_id, VERBATIM_RUN_WORK: work },
  });
  const launcher = new ControlledLauncher(child, request);
  const supervisor = await launcher.started();
  return {
    launcher: "perl",
    pid: child.pid!,
    ended: supervisor.ended,
    interrupt: (signal) => supervisor.interrupt(signal),
    ask: (signal) => supervisor.ask(signal),
    end: () => supervisor.end(),
    merged: (layer) => layer.path,
    release: () => launcher.release(),
  };
}
