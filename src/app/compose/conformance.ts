import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../adapters/disk/runs/run-disk.ts";
import { createPathLook } from "../../adapters/disk/source/path-look.ts";
import { createRepoReader } from "../../adapters/disk/source/repo-reader.ts";
import { requireGit } from "../../adapters/git/git-process.ts";
import { createPatchChecker } from "../../adapters/git/patch-check.ts";
import { intlGraphemes } from "../../adapters/intl/graphemes.ts";
import { makeZones } from "../../adapters/intl/zones.ts";
import { runTool } from "../../adapters/process/tool.ts";
import type { AreaPorts } from "../conformance/ports.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "./catalytic-ports.ts";
import { composeAlone } from "./compose.ts";
import { contextPorts } from "./context.ts";
import { jobPorts } from "./jobs.ts";

/** What vectors are run on: the adapters of the product, and workspaces of their own. */
export const conformancePorts: AreaPorts = {
  crypto: nodeCrypto,
  disk: runDisk,
  zones: makeZones(),
  graphemes: intlGraphemes,
  lookAt: createPathLook,
  readerOf: createRepoReader,
  checkerOf: createPatchChecker,
  git: (root, args) => requireGit({ cwd: root, args }),
  tool: runTool,
  openWorkspace(root, env) {
    const composition = composeAlone({ surface: "library", start: root, env, platform: process.platform });
    return {
      context: () => contextPorts(composition, "mutate"),
      jobs: () => jobPorts(composition, "mutate"),
      catalytic: () => createCatalyticPorts(composition),
      places: () => toCatalyticPlaces(composition),
      close: () => composition.close(),
    };
  },
};
