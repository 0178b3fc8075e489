import { spawn } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { constants } from "node:os";
import type { LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { sendSignal } from "../process/children.ts";
import { endMarked } from "../process/leftovers.ts";
import { feedInput, type Leash, pipeOutput, Supervisor, toStdin } from "../process/supervisor.ts";
import { startFailed } from "./control.ts";
import { launchSupervised } from "./supervised.ts";
import { findTool } from "./tools.ts";

/**
 * Starts a command without any confinement: the audit guard. Where perl can watch over it nothing it starts gets away;
 * elsewhere it has a session of its own, and what wipes its environment and leaves the group is not found again.
 */
export function launchPlain(request: LaunchRequest): Promise<RunningCommand> {
  const perl = process.platform === "linux" ? findTool("perl") : null;
  return perl === null ? launchSession(request, request.command, "spawn") : launchSupervised(perl, request, []);
}

/**
 * Starts a command under the sandbox of macOS: writing is allowed below the named real paths only. Written by the
 * documentation of the system; it could not be tried on a machine of that kind.
 */
export function launchUnderSeatbelt(request: LaunchRequest): Promise<RunningCommand> {
  const places = [...request.writable, `${request.work}/tmp`, "/dev"].map((place) => realpathSync(place));
  const allowed = places.map((place) => `(subpath ${JSON.stringify(place)})`).join(" ");
  const network = request.network !== "inherit" ? "(deny network*)" : "";
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
    stdio: [toStdin(request), "pipe", "pipe"],
  });
  const drained = pipeOutput(child, request.onOutput);
  feedInput(child, request);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (thrown) => reject(startFailed(thrown.message)));
  });
  const group = -child.pid!;
  const leash: Leash = {
    signal: (name) => sendSignal([group], name),
    kill: () => sendSignal([group], "SIGKILL"),
  };
  const supervisor = new Supervisor(leash, request.timeout_ms);
  child.once("exit", (code, name) => {
    const number = name === null ? 0 : constants.signals[name];
    const finish = async () => {
      // The run ends when the command ends, not when someone closes a pipe it left behind.
      const left = await endMarked(request, [process.pid]);
      await drained;
      supervisor.finish({ code, signal: number, orphans_killed: left });
    };
    finish().catch((thrown: unknown) => supervisor.fail(thrown));
  });
  return {
    launcher,
    pid: child.pid!,
    ended: supervisor.ended,
    interrupt: (name) => supervisor.interrupt(name),
    ask: (name) => supervisor.ask(name),
    end: () => supervisor.end(),
    merged: (layer) => layer.path,
    release: () => Promise.resolve(),
  };
}
