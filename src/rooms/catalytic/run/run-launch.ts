import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { formatTime } from "../../../core/time.ts";
import { commandEnv } from "../declare/declare.ts";
import type { ConnectionLog } from "../network/connection-log.ts";
import type { CatalyticPorts, LaunchRequest, Reach, WatchedReach } from "../ports.ts";
import type { Layers } from "../tree/layers.ts";
import { placeOf } from "./places.ts";
import type { RunContext } from "./run-context.ts";

/** How the command of a run is started. */
export function toLaunch(
  { ports, request, declared, places, guard, view, logs, connections, caps }: RunContext,
  layers: Layers,
) {
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
    ...(request.reach === undefined ? {} : { reach: watchReach(request.reach, ports, connections) }),
    ...(caps === null ? {} : { caps: caps.watch(ports.announceCaps) }),
    ...(request.input === undefined ? {} : { input: request.input }),
    onOutput: (stream, bytes) => {
      logs[stream].add(bytes);
      ports.onOutput(stream, bytes);
    },
    ...(view?.launch() ?? own),
  };
  return launch;
}

/** What a command may reach, with everything it does there written down. */
function watchReach(reach: Reach, { clock }: Pick<CatalyticPorts, "clock">, log: ConnectionLog | null): WatchedReach {
  return {
    ...reach,
    onConnection: (connection) => log?.add(connection),
    onLost: () => log?.lose(formatTime(clock.now())),
  };
}
