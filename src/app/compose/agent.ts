import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isPlainBelow, withGuardedFile } from "../../adapters/disk/guarded-file.ts";
import { formatChangePatch } from "../../adapters/git/change-patch.ts";
import { listFilteredPaths } from "../../adapters/git/filtered-paths.ts";
import { listIgnoredPaths } from "../../adapters/git/ignored-paths.ts";
import { readHost } from "../../adapters/process/host.ts";
import { AGENT_OPERATIONS } from "../agent/operations.ts";
import type { AgentPorts } from "../agent/ports.ts";
import type { Wiring } from "../operations.ts";
import { createCatalyticPorts, toCatalyticPlaces, toHiddenPlaces } from "./catalytic-ports.ts";
import type { Composition } from "./compose.ts";
import { createCommandFacts, createVerifyPorts } from "./verification.ts";
import { chooseVerificationPlace } from "./verification-places.ts";
import { workflowPorts } from "./workflow.ts";

export const wiring: Wiring<typeof AGENT_OPERATIONS> = {
  operations: AGENT_OPERATIONS,
  ports: async (composition) => agentPorts(composition),
};

/** What an agent run needs, over one workspace. */
export function agentPorts(composition: Composition): AgentPorts {
  const { clock, config, content, door, notify, serveMcp, start, store, terminal } = composition;
  return {
    clock,
    config,
    content,
    door,
    notify,
    serveMcp,
    start,
    store,
    terminal,
    workflow: (effect) => workflowPorts(composition, effect),
    catalytic: () => createCatalyticPorts(composition),
    places: () => toCatalyticPlaces(composition),
    hiddenPlaces: () => toHiddenPlaces(composition),
    host: readHost,
    changedPaths: {
      formatPatch: formatChangePatch,
      listFiltered: listFilteredPaths,
      listIgnored: listIgnoredPaths,
    },
    commandFacts: () => createCommandFacts(composition),
    verification: async (request) =>
      createVerifyPorts(composition, await chooseVerificationPlace(composition, request)),
    readLeft(folder, path, most) {
      if (!isPlainBelow(folder, path)) return { refused: "not_a_folder" };
      const place = join(folder, path);
      const found = withGuardedFile(place, ({ size, read }) => ({ size, bytes: read(0, most) }));
      if (found !== null) return found;
      return lstatSync(place, { throwIfNoEntry: false }) === undefined ? null : { refused: "not_a_file" };
    },
  };
}
