import type { GuardName } from "../../core/contracts/guards.ts";
import type { Guards, LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import type { ResolveName } from "../network/judge.ts";
import { resolveName } from "../network/resolve.ts";
import { openWays } from "../network/ways.ts";
import { hideFromPerl } from "../process/last-words.ts";
import { endMarked } from "../process/leftovers.ts";
import { PseudoTerminal } from "../process/pseudo-terminal.ts";
import { launchCapped } from "./caps/launch-capped.ts";
import { landlockAbi } from "./landlock.ts";
import { type BindLauncher, findGroups, MECHANISMS } from "./mechanisms.ts";
import { findNamespaceTools } from "./namespace.ts";
import { probeGuards } from "./probe.ts";
import { findTool } from "./tools.ts";

/**
 * The guards of this machine. `state` is where what was found is remembered; null remembers nothing. ns-bind is made by
 * perl and util-linux, or by bubblewrap where those are missing or not allowed; `bind` insists on one of the two.
 */
export function createGuards(
  state: string | null,
  scratch: string,
  bind?: BindLauncher,
  resolve: ResolveName = resolveName,
): Guards {
  let chosen = bind ?? (findNamespaceTools() === null ? "bubblewrap" : "perl");
  return {
    async probe(fresh) {
      const found = await probeGuards(state, scratch, fresh, launch, bind === undefined ? undefined : [bind]);
      chosen = found.bind;
      return found.guards;
    },
    landlockAbi,
    launch: (request) => launchConnected(request, chosen, resolve),
    endMarked: (run) => endMarked(run, [process.pid]),
  };
}

/** Launches with the ways out that the command may have; they are closed, and everything is told, when it has ended. */
async function launchConnected(
  request: LaunchRequest,
  bind: BindLauncher,
  resolve: ResolveName,
): Promise<RunningCommand> {
  const ways = await openWays(request, resolve);
  const start = (wanted: LaunchRequest) =>
    launchCapped(wanted, (one) => launch(one, bind), findGroups(request.guard, bind));
  if (ways === null) return start(request);
  try {
    const env = { ...request.env, ...ways.env };
    const running = await start({ ...request, env, relay: ways.reach, onRelayLost: ways.lost });
    const close = () => ways.close();
    const closed = running.ended.then(close, close);
    return { ...running, ended: Promise.all([running.ended, closed]).then(([ending]) => ending) };
  } catch (thrown) {
    await ways.close();
    throw thrown;
  }
}

/** Launches with a terminal where one is asked for and the launcher can make it the command's own. */
async function launch(request: LaunchRequest, bind: BindLauncher): Promise<RunningCommand> {
  const { terminal, onOutput } = request;
  const mechanism = MECHANISMS[request.guard];
  const perl = terminal === undefined || !givesTerminal(request.guard, bind) ? null : findTool("perl");
  if (terminal === undefined || perl === null) return mechanism.launch(request, bind);
  const made = new PseudoTerminal(perl, terminal);
  try {
    const tty = { path: made.path, errors: terminal.errors };
    const [command, env] = [made.wrap(request.command), hideFromPerl(request.env)];
    const running = await mechanism.launch({ ...request, command, env, stdin: "null", tty }, bind);
    made.connect(onOutput);
    const close = () => made.close();
    return { ...running, ended: Promise.all([running.ended, running.ended.then(close, close)]).then(([end]) => end) };
  } catch (thrown) {
    await made.close();
    throw thrown;
  }
}

/** The numbers of the kernel's calls are those of Linux; bubblewrap hides the terminals of the machine. */
function givesTerminal(guard: GuardName, bind: BindLauncher): boolean {
  return process.platform === "linux" && !(guard === "ns-bind" && bind === "bubblewrap");
}
