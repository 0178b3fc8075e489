import { basename, resolve } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { zipper } from "../../adapters/disk/bundles/zip.ts";
import { resolveInside } from "../../adapters/disk/guarded/inside-root.ts";
import { createLandingFiles } from "../../adapters/disk/runs/landing-files.ts";
import { createRunFolders } from "../../adapters/disk/runs/run-folders.ts";
import { createRepoFiles } from "../../adapters/disk/source/repo-files.ts";
import { createRepoReader } from "../../adapters/disk/source/repo-reader.ts";
import { createCommits } from "../../adapters/git/commits.ts";
import { createHistory } from "../../adapters/git/history.ts";
import { mergeText } from "../../adapters/git/merge-text.ts";
import { createPatchChecker } from "../../adapters/git/patch-check.ts";
import { createTreeFiles } from "../../adapters/git/tree-files.ts";
import { createGitWork } from "../../adapters/git/work-tree.ts";
import { chatModels } from "../../adapters/models/chat.ts";
import { agentRunner } from "../../adapters/process/agent-runner.ts";
import { readHost } from "../../adapters/process/host.ts";
import { type Effect, LOCAL_SURFACES } from "../../core/operation.ts";
import { parseRepoPath } from "../../core/paths/index.ts";
import { type RunStore, toRepoSlug, WORKFLOW_OPERATIONS, type WorkflowPorts } from "../../rooms/workflow/index.ts";
import { isProcessGone } from "../agent/work/agent-process.ts";
import type { Wiring } from "../operations.ts";
import type { Composition } from "./compose.ts";
import { assertOutputDeliverable } from "./compose.ts";
import { createRepoIdentity } from "./store/repo-identity.ts";
import { findRunsRoot } from "./store/workspace.ts";
import { lockTree } from "./tree-lock.ts";
import { createIsolations } from "./verification/gate-isolation.ts";

export const wiring: Wiring<typeof WORKFLOW_OPERATIONS> = {
  operations: WORKFLOW_OPERATIONS,
  ports: (composition, effect) => workflowPorts(composition.ownFile(), effect),
};

/** A store that is opened by its first use: most verbs that only look never need one. */
function openLater(open: () => Promise<RunStore>): RunStore {
  return {
    read: async (fn) => await (await open()).read(fn),
    transact: async (fn) => await (await open()).transact(fn),
    close: async () => undefined,
  };
}

/** Everything the workflow room needs, over one workspace. */
export async function workflowPorts(composition: Composition, effect: Effect): Promise<WorkflowPorts> {
  const { root } = composition.workspace;
  const { workflow, agent } = composition.config();
  const name = basename(root);
  const slug = toRepoSlug(name, (text) => composition.crypto.sha256(text));
  const identity = createRepoIdentity(composition.workspace, composition.random, (folder) =>
    composition.notify(`created ${folder}`),
  );
  const runs = createRunFolders({
    runsRoot: findRunsRoot(composition, workflow.runs_root),
    slug,
    repoRoot: root,
    identity,
  });
  const { crypto, clock, random, progress, interrupts, files, env, actor } = composition;
  return {
    config: workflow,
    pause: () => turn(),
    agentPolicy: agent.patch,
    repoRoot: root,
    repoName: name,
    identity,
    platform: composition.platform === "win32" ? "windows" : "posix",
    git: createGitWork(root, composition.config().catalytic.runs_root),
    checkerOf: (folder) => createPatchChecker(placeOf(composition, folder)),
    reader: createRepoReader(root),
    repoFiles: createRepoFiles(root),
    runs: LOCAL_SURFACES.includes(composition.surface) ? runs : { ...runs, openPath: () => null },
    zipper,
    isolations: createIsolations(composition),
    landing: { files: createLandingFiles(root), trees: createTreeFiles(root), merge: mergeText },
    commits: createCommits(root, env),
    history: createHistory(root, env),
    lockTree: (runId) => lockTree(composition, runId, ["."]),
    agents: agentRunner,
    isAgentGone: (run) => isProcessGone(run, { host: readHost }),
    models: chatModels,
    interrupts,
    store: openLater(() => composition.store(effect)),
    crypto,
    clock,
    random,
    progress,
    assertDeliverable: assertOutputDeliverable,
    files,
    env,
    actor,
  };
}

/** A folder the caller names: anywhere for someone at this machine, inside the workspace for everyone else. */
function placeOf({ surface, workspace }: Composition, folder: string): string {
  if (LOCAL_SURFACES.includes(surface)) return resolve(folder);
  return resolveInside(workspace.root, parseRepoPath(folder));
}
