import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { commandEnv } from "../declare/declare.ts";
import type { LaunchRequest } from "../ports.ts";
import type { Layers } from "../tree/layers.ts";
import { placeOf } from "./places.ts";
import type { RunContext } from "./run-context.ts";

/** How the command of a run is started. */
export function toLaunch({ ports, request, declared, places, guard, view, logs }: RunContext, layers: Layers) {
  const { jobspec, env } = declared;
  const { root, work } = places;
  const isNamespace = GUARD_FACTS[guard].class === "namespace";
  const own = {
    layers: isNamespace ? layers.toLayers() : [],
    writable: isNamespace ? [] : layers.toWritable(),
    holes: [],
    keeps: [],
    cwd: placeOf(root, jobspec.cwd),
  };
  const launch: LaunchRequest = {
    guard,
    run_id: jobspec.run_id,
    root,
    work,
    command: jobspec.command,
    env: commandEnv(env, work, jobspec.run_id, request.extra_env ?? {}),
    network: jobspec.network,
    timeout_ms: jobspec.timeout_ms,
    stdin: request.stdin ?? "null",
    ...(request.input === undefined ? {} : { input: request.input }),
    onOutput: (stream, bytes) => {
      logs[stream].add(bytes);
      ports.onOutput(stream, bytes);
    },
    ...(view?.launch() ?? own),
  };
  return launch;
}
