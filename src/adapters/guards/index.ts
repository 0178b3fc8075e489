import type { Guards, LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { endMarked } from "../process/leftovers.ts";
import { launchInBubblewrap } from "./bubblewrap.ts";
import { launchUnderLandlock } from "./landlock.ts";
import { findNamespaceTools, launchInNamespaces } from "./namespace.ts";
import { launchPlain, launchUnderSeatbelt } from "./plain.ts";
import { type BindLauncher, probeGuards } from "./probe.ts";

/**
 * The guards of this machine. `state` is where what was found is remembered; null remembers nothing. ns-bind is made by
 * perl and util-linux, or by bubblewrap where those are missing or not allowed; `bind` insists on one of the two.
 */
export function createGuards(state: string | null, scratch: string, bind?: BindLauncher): Guards {
  let chosen = bind ?? (findNamespaceTools() === null ? "bubblewrap" : "perl");
  return {
    async probe(fresh) {
      const found = await probeGuards(state, scratch, fresh, launch, bind === undefined ? undefined : [bind]);
      chosen = found.bind;
      return found.guards;
    },
    launch: (request) => launch(request, chosen),
    endMarked: (run) => endMarked(run, [process.pid]),
  };
}

function launch(request: LaunchRequest, bind: BindLauncher): Promise<RunningCommand> {
  switch (request.guard) {
    case "ns-overlay":
      return launchInNamespaces(request);
    case "ns-bind":
      return bind === "perl" ? launchInNamespaces(request) : launchInBubblewrap(request);
    case "landlock":
      return launchUnderLandlock(request);
    case "seatbelt":
      return launchUnderSeatbelt(request);
    case "audit":
      return launchPlain(request);
  }
}
