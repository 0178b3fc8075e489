import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { writeDurably } from "../../adapters/disk/durable/durable-write.ts";
import { isPlainBelow, withGuardedFile } from "../../adapters/disk/guarded/guarded-file.ts";
import { formatChangePatch } from "../../adapters/git/change-patch.ts";
import { listFilteredPaths } from "../../adapters/git/filtered-paths.ts";
import { listIgnoredPaths } from "../../adapters/git/ignored-paths.ts";
import { findCommonDir, listWorkTrees } from "../../adapters/git/top-level.ts";
import { COMMIT_HOOKS_SCRIPT } from "../../adapters/process/commit-hooks-script.ts";
import { readHost } from "../../adapters/process/host.ts";
import { type JsonValue, parseJson, sortedByCodePoint } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import type { Effect } from "../../core/operation.ts";
import type { ContentStore } from "../../core/ports.ts";
import { AGENT_OPERATIONS } from "../agent/operations/operations.ts";
import type { AgentPorts, Sibling } from "../agent/ports.ts";
import type { Wiring } from "../operations.ts";
import { controlPorts } from "./agent-control.ts";
import { createCatalyticPorts, toCatalyticPlaces, toHiddenPlaces } from "./catalytic-ports.ts";
import { type Composition, composeAlone } from "./compose.ts";
import { findMasks } from "./masks.ts";
import { isStoreAbsent, toWorkspace } from "./store/workspace.ts";
import { queuePorts } from "./team/team-queue.ts";
import { userPorts } from "./user-ports.ts";
import { createCommandFacts, createVerifyPorts } from "./verification/verification.ts";
import { chooseVerificationPlace, freezeTree } from "./verification/verification-places.ts";
import { workflowPorts } from "./workflow.ts";

export const wiring: Wiring<typeof AGENT_OPERATIONS> = {
  operations: AGENT_OPERATIONS,
  ports: async (composition) => agentPorts(composition),
};

/** What an agent run needs, over one workspace. Runs belong to a checkout, and so does their record. */
export function agentPorts(whole: Composition): AgentPorts {
  const composition = whole.ownFile();
  const {
    background,
    clock,
    config,
    configNow,
    content,
    hold,
    surface,
    interrupts,
    keys,
    notify,
    platform,
    progress,
    serveMcp,
    start,
    starting,
    store,
    terminal,
  } = composition;
  return {
    queue: queuePorts(whole),
    runId: null,
    background,
    control: controlPorts(composition),
    race: null,
    writeRace(runDir, raceId, bytes) {
      const folder = join(dirname(runDir), "races");
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeDurably(join(folder, `${raceId}.json`), bytes, 0o600);
    },
    readRaces,
    clock,
    config,
    configNow,
    content,
    hold,
    surface,
    interrupts,
    keys,
    notify,
    platform,
    progress,
    serveMcp,
    start,
    starting,
    store,
    terminal,
    user: userPorts(composition),
    workflow: (effect) => workflowPorts(composition, effect),
    catalytic: () => createCatalyticPorts(composition),
    places: () => toCatalyticPlaces(composition),
    hiddenPlaces: () => toHiddenPlaces(composition),
    masks: (request, look) => findMasks(composition, request, toCatalyticPlaces(composition).root, look),
    host: readHost,
    siblings: () => listSiblings(composition),
    borrow: (root, work) => borrow(composition, root, work),
    here: null,
    freeze: (base, isHidden) => freezeTree(composition, toCatalyticPlaces(composition).root, base, { isHidden }),
    changedPaths: {
      formatPatch: formatChangePatch,
      listFiltered: listFilteredPaths,
      listIgnored: listIgnoredPaths,
    },
    commandFacts: () => createCommandFacts(composition),
    verification: async (request) =>
      createVerifyPorts(composition, await chooseVerificationPlace(composition, request)),
    hookCommand: (asked) => [
      process.execPath,
      "--input-type=commonjs",
      "-e",
      COMMIT_HOOKS_SCRIPT,
      "--",
      JSON.stringify(asked),
    ],
    readLeft(folder, path, most) {
      if (!isPlainBelow(folder, path)) return { refused: "not_a_folder" };
      const place = join(folder, path);
      const found = withGuardedFile(place, ({ size, read }) => ({ size, bytes: read(0, most) }));
      if (found !== null) return found;
      return lstatSync(place, { throwIfNoEntry: false }) === undefined ? null : { refused: "not_a_file" };
    },
    readPart: (folder, path, from, most) =>
      isPlainBelow(folder, path)
        ? withGuardedFile(join(folder, path), ({ size, read }) => ({ size, bytes: read(from, most) }))
        : null,
  };
}

/** Read as one reads what lies there; nothing follows a link, and nothing large is read. */
function readRaces(runsFolder: string): JsonValue[] {
  const folder = join(runsFolder, "races");
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return sortedByCodePoint(names).flatMap((name) => {
    const bytes = withGuardedFile(join(folder, name), ({ size, read }) => (size > MOST_RACE ? null : read(0, size)));
    const value = bytes === null ? null : tryJson(bytes);
    return value === null ? [] : [value];
  });
}

function tryJson(bytes: Uint8Array): JsonValue | null {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

const MOST_RACE = 1024 * 1024;

/** Runs of one work tree over the files of another: both have one repository behind them, and each its own state. */
async function borrow<T>(
  composition: Composition,
  root: string,
  work: (outside: AgentPorts) => Promise<T>,
): Promise<T> {
  const { surface, env, platform } = composition;
  const there = composeAlone({ surface, start: root, env, platform });
  try {
    const content = async (effect: Effect) =>
      joinContents(await composition.content(effect), await there.content(effect));
    const joined: Composition = { ...composition, content, ownFile: () => joined };
    const mixed = agentPorts(joined);
    const here = (await workflowPorts(composition, "mutate")).identity.settle();
    return await work({
      ...mixed,
      here,
      store: there.store,
      async workflow(effect) {
        const { store, runs, identity } = await workflowPorts(there, effect);
        return { ...(await mixed.workflow(effect)), store, runs, identity };
      },
    });
  } finally {
    await there.close();
  }
}

/** What is in either is found; what is new goes into the first. */
function joinContents(own: ContentStore, other: ContentStore): ContentStore {
  return {
    ...own,
    put: (bytes) => own.put(bytes),
    putStream: (parts) => own.putStream(parts),
    list: () => own.list(),
    remove: (hash, before) => own.remove(hash, before),
    get: async (hash) => ((await own.has(hash)) ? own.get(hash) : other.get(hash)),
    has: async (hash) => (await own.has(hash)) || (await other.has(hash)),
  };
}

/** The workspace at the same place of every other work tree; one that was never used is left alone. */
function listSiblings({ workspace, env, open }: Composition): Sibling[] {
  const { root, workTree } = workspace;
  const common = workTree === null ? null : findCommonDir(workTree);
  if (workTree === null || common === null) return [];
  const below = relative(workTree, root);
  const roots = listWorkTrees(common).map((top) => join(top, below));
  const others = roots.filter((place) => place !== root && !isStoreAbsent(toWorkspace(place, true, null)));
  return others.map((place) => ({
    root: place,
    async call(operation, input) {
      await using app = open(place, env);
      return await app.callUnknown(operation, input);
    },
  }));
}
