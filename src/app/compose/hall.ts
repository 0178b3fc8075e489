import { join } from "node:path";
import { isWide } from "../../adapters/disk/guarded/private-modes.ts";
import { createSourceTree } from "../../adapters/disk/source/source-tree.ts";
import { requireGit } from "../../adapters/git/git-process.ts";
import { listTrackedFiles } from "../../adapters/git/tracked-files.ts";
import { createGitWork } from "../../adapters/git/work-tree.ts";
import { createGuards } from "../../adapters/guards/index.ts";
import { createOutliner } from "../../adapters/outline/outliner.ts";
import { forgeEntry } from "../../adapters/sql/sqlite/forge.ts";
import { findDefaultSources } from "../../rooms/context/index.ts";
import { HALL_OPERATIONS } from "../hall/operations.ts";
import type { HallPorts } from "../hall/ports.ts";
import type { Output, Wiring } from "../operations.ts";
import { agentPorts } from "./agent.ts";
import { composeAlone } from "./compose.ts";
import { conformancePorts } from "./conformance.ts";
import { remember } from "./remembered.ts";
import { createStateFolder, findRunsRoot, isStoreAbsent, userFolders } from "./store/workspace.ts";

export const wiring: Wiring<typeof HALL_OPERATIONS> = {
  operations: HALL_OPERATIONS,
  async ports(composition): Promise<HallPorts> {
    const { config, crypto, surface, env, files, open, platform, progress, store, userState, workspace } = composition;
    return {
      config,
      crypto,
      env,
      files,
      open,
      platform,
      progress,
      store,
      surface,
      userState,
      workspace,
      areas: { ...conformancePorts, crypto },
      onDiagnosed: (found) => remember(composition, "diagnosed", found as Output<"hall.doctor">),
      createStateFolder: () => createStateFolder(workspace),
      userConfig: userFolders(env, platform).config,
      findRunsRoot: () => findRunsRoot({ env, platform }, config().workflow.runs_root),
      isStoreAbsent: () => isStoreAbsent(workspace),
      requireCommit: (root) => createGitWork(root).head(),
      async findDefaultSources() {
        const tracked = await listTrackedFiles(workspace.root);
        const tree = createSourceTree(workspace.root, join(workspace.state, "clock"), async () => tracked);
        const folders = new Set((tracked ?? []).flatMap((path) => path.match(/^[^/]+(?=\/)/) ?? []));
        return { ...(await findDefaultSources(tree)), folders };
      },
      missingGrammars: () => createOutliner().missing(),
      isWide,
      openGuards: (folder) => createGuards(null, folder),
      git: (root, args) => requireGit({ cwd: root, args }),
      openAlone(start, own) {
        const alone = composeAlone({ surface, start, env: own, platform });
        return { agent: agentPorts(alone), close: () => alone.close() };
      },
      forgeEntry,
    };
  },
};
