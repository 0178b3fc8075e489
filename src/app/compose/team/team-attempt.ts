import { rmSync } from "node:fs";
import { join } from "node:path";
import { openAgentTree } from "../../../adapters/git/job-tree.ts";
import type { Mirror } from "../../../adapters/git/mirror.ts";
import type { Interrupts } from "../../../rooms/catalytic/index.ts";
import type { AgentPorts } from "../../agent/ports.ts";
import { agentPorts } from "../agent.ts";
import { type Composition, composeAlone } from "../compose.ts";

interface PlaceOptions {
  readonly composition: Composition;
  readonly mirror: Mirror;
  /** Folder for the work trees of this incarnation, and the name of this one. */
  readonly folder: string;
  readonly name: string;
  readonly commit: string;
  readonly runId: string | null;
  /** Given when the work is to end. */
  readonly stop: AbortSignal;
}

/** What no command of a queued run gets, whatever its profile passes on. */
const OF_THE_WORKER = /^VERBATIM_(?!GIT_PATHS$)/;

/**
 * Lets `work` use the flow of agents in a checkout of its own, with state, runs and a store that are nobody else's. All of
 * it is deleted afterwards, however it ended.
 */
export async function withAgentPlace<T>(
  { composition, mirror, folder, name, commit, runId, stop }: PlaceOptions,
  work: (outside: AgentPorts, tree: string) => Promise<T>,
): Promise<T> {
  const place = join(folder, `${process.pid}-${name}`);
  // What an attempt of this name left behind, it left when it was killed.
  rmSync(place, { recursive: true, force: true });
  const tree = join(place, "tree");
  try {
    await openAgentTree(mirror, commit, tree);
    const { env, platform } = composition;
    const own = Object.fromEntries(Object.entries(env).filter(([one]) => !OF_THE_WORKER.test(one)));
    const there = composeAlone({
      surface: "library",
      start: tree,
      env: { ...own, XDG_STATE_HOME: join(place, "state") },
      platform,
    });
    try {
      const interrupts: Interrupts = {
        listen(onSignal) {
          const end = () => onSignal("SIGTERM");
          stop.addEventListener("abort", end, { once: true });
          if (stop.aborted) end();
          return () => stop.removeEventListener("abort", end);
        },
      };
      return await work({ ...agentPorts({ ...there, interrupts }), runId, notify: composition.notify }, tree);
    } finally {
      await there.close();
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
