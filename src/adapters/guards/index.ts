import type { Guards, LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { endMarked } from "../process/leftovers.ts";
import { launchUnderLandlock } from "./landlock.ts";
import { launchInNamespaces } from "./namespace.ts";
import { launchPlain, launchUnderSeatbelt } from "./plain.ts";
import { probeGuards } from "./probe.ts";

/** The guards of this machine. `state` is where what was found is remembered; null remembers nothing. */
export function createGuards(state: string | null, scratch: string): Guards {
  return {
    probe: (fresh) => probeGuards(state, scratch, fresh, launch),
    launch,
    endMarked: (run) => endMarked(run, [process.pid]),
  };
}

function launch(request: LaunchRequest): Promise<RunningCommand> {
  switch (request.guard) {
    case "ns-overlay":
    case "ns-bind":
      return launchInNamespaces(request);
    case "landlock":
      return launchUnderLandlock(request);
    case "seatbelt":
      return launchUnderSeatbelt(request);
    case "audit":
      return launchPlain(request);
  }
}
