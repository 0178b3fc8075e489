import { spawn } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { constants } from "node:os";
import type { LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { endMarked } from "../process/leftovers.ts";
import { BECOME_ON_TERMINAL } from "../process/pseudo-terminal.ts";
import { pipeOutput, Supervisor } from "../process/supervisor.ts";
import { startFailed } from "./control.ts";
import { findTool } from "./tools.ts";

/** Starts a command in a session of its own, without any confinement: the audit guard. */
export function launchPlain(request: LaunchRequest): Promise<RunningCommand> {
  const { tty, command } = request;
  const perl = tty === undefined ? null : findTool("perl");
  if (tty === undefined || perl === null) return launchSession(request, command, "spawn");
  const become = [perl, "-e", BECOME_ON_TERMINAL, tty.path, tty.errors ? "1" : "", ...command];
  return launchSession(request, become, "spawn");
}

/**
 * Starts a command under the sandbox of macOS: writing is allowed below the named real paths only. Written by the
 * documentation of the system; it could not be tried on a machine of that kind.
 */
export function launchUnderSeatbelt(request: LaunchRequest): Promise<RunningCommand> {
  const places = [...request.writable, `${request.work}/tmp`, "/dev"].map((place) => realpathSync(place));
  const allowed = places.map((place) => `(subpath ${JSON.stringify(place)})`).join(" ");
  const network = request.network === "none" ? "(deny network*)" : "";
  const profile = `(version 1)(allow default)(deny file-write*)(allow file-write* ${allowed})${network}`;
  return launchSession(request, ["/usr/bin/sandbox-exec", "-p", profile, ...request.command], "sandbox-exec");
}

async function launchSession(
  request: LaunchRequest,
  argv: readonly string[],
  launcher: string,
): Promise<RunningCommand> {
  for (const name of ["t", "c"]) mkdirSync(`${request.work}/tmp/${name}`, { recursive: true, mode: 0o700 });
  const [file, ...args] = argv as [string, ...string[]];
  const child = spawn(file, args, {
    cwd: request.cwd,
    env: request.env,
    detached: true,
    stdio: [request.stdin === "inherit" ? "inherit" : "ignore", "pipe", "pipe"],
  });
  const drained = pipeOutput(child, request.onOutput);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (thrown) => reject(startFailed(thrown.message)));
  });
  const group = -child.pid!;
  const leash = { signal: (name: NodeJS.Signals) => signal(group, name), kill: () => signal(group, "SIGKILL") };
  const supervisor = new Supervisor(leash, request.timeout_ms);
  child.once("exit", (code, name) => {
    const number = name === null ? 0 : constants.signals[name];
    const finish = async () => {
      // The run ends when the command ends, not when somebody closes a pipe it left behind.
      const left = await endMarked(request, [process.pid]);
      await drained;
      supervisor.finish({ code, signal: number, orphans_killed: left });
    };
    finish().catch((thrown: unknown) => supervisor.fail(thrown));
  });
  return {
    launcher,
    ended: supervisor.ended,
    interrupt: (name) => supervisor.interrupt(name),
    merged: (layer) => layer.path,
    release: () => Promise.resolve(),
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}
