import { existsSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { relative, resolve, sep } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { createTwoFilesPatch } from "diff";
import { findBundle, openBundleFolder } from "../../adapters/disk/bundles/bundle-folder.ts";
import { createBundleFolder } from "../../adapters/disk/bundles/bundle-target.ts";
import { resolveInside } from "../../adapters/disk/guarded/inside-root.ts";
import { createPauses } from "../../adapters/process/pauses.ts";
import { isHash } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { type Effect, LOCAL_SURFACES } from "../../core/operation.ts";
import { parseRepoPath } from "../../core/paths/index.ts";
import { cutLines } from "../../core/text/index.ts";
import {
  type ContextPorts,
  type ContextReader,
  cutRef,
  parseTarget,
  requireSymbol,
  resolvePin,
} from "../../rooms/context/index.ts";
import {
  BUNDLE_OPERATIONS,
  type BundleMakerPorts,
  type BundlePorts,
  bundleBuild,
  type Corpus,
  type CorpusView,
  JOB_OPERATIONS,
  type JobPorts,
  type JobTeam,
  jobLand,
  type Pauses,
  queueOf,
} from "../../rooms/jobs/index.ts";
import type { Wiring } from "../operations.ts";
import type { Composition } from "./compose.ts";
import { contextPorts } from "./context.ts";
import { createExecutePort } from "./execute-port.ts";
import { createPatchPort } from "./patch-port.ts";
import type { AppStore } from "./store/store.ts";
import { requireCheckoutOf } from "./team/team-checkout.ts";
import { openMirror, pickRepository } from "./team/team-jobs.ts";
import { requestLanding, waitForLanding } from "./team/team-landing.ts";

/** Everything under `jobs.` */
export const JOBS_OPERATIONS = [...JOB_OPERATIONS, jobLand, ...BUNDLE_OPERATIONS, bundleBuild] as const;

export const wiring: Wiring<typeof JOBS_OPERATIONS> = {
  operations: JOBS_OPERATIONS,
  ports: async (composition, effect, name) =>
    name.startsWith("jobs.bundle-") ? bundlePorts(composition, effect, name) : jobPorts(composition, effect),
};

// Looking for similar names costs a walk over all symbols; a long list of unknown ones gets it for the first.
const MOST_SUGGESTIONS = 20;

// One per open workspace, so that workers of one process wake each other.
const kept = new WeakMap<Composition, Pauses>();

/** Ports of the operations on jobs. */
export async function jobPorts(composition: Composition, effect: Effect): Promise<JobPorts> {
  const { crypto, clock, ids, progress, actor, files, surface } = composition;
  const store = await composition.store(effect);
  const sources = await contextPorts(composition, effect);
  return {
    store: givingTurns(store),
    content: await composition.content(effect),
    crypto,
    clock,
    ids,
    progress,
    actor,
    files,
    local: LOCAL_SURFACES.includes(surface),
    host: `${hostname()}:${process.pid}`,
    notify: composition.notify,
    corpus: createCorpus(sources),
    pauses: effect === "mutate" ? keepPauses(composition) : createPauses(),
    listen: (onInterrupt) => composition.interrupts.listen(onInterrupt),
    patch: createPatchPort(composition, sources),
    execute: createExecutePort(composition),
    team: await createJobTeam(composition, store),
  };
}

/** Jobs of a team go to its workers; null where the store is a file. */
async function createJobTeam(composition: Composition, store: AppStore): Promise<JobTeam | null> {
  const { dispatch, workspaceId } = store;
  if (dispatch === null || workspaceId === null) return null;
  return {
    async place(hasEffects, { repository, at, needs }) {
      if (!hasEffects) {
        const queue = queueOf(workspaceId, null, needs);
        await dispatch.prepare(queue);
        return { queue, repository_id: null, base_commit: null, base_tree: null };
      }
      const found = pickRepository(await store.read(({ team }) => team!.repositories()), repository);
      if (LOCAL_SURFACES.includes(composition.surface)) await requireCheckoutOf(composition, found);
      const mirror = await openMirror(composition, found);
      const base = await mirror.readBase(at ?? null, found.default_branch);
      const queue = queueOf(workspaceId, found.id, needs);
      await dispatch.prepare(queue);
      return { queue, repository_id: found.id, base_commit: base.commit, base_tree: base.tree };
    },
    async land(jobId, onto, stop) {
      const { row, source } = await store.read(async ({ jobs, team }) => {
        const found = await team!.dispatch(jobId);
        const steps = await jobs.countSteps(jobId);
        const ended = new Set((await jobs.receipts(jobId)).map(({ receipt_hash }) => receipt_hash));
        const done = (await team!.intents(jobId)).filter(({ receipt_hash }) => ended.has(receipt_hash));
        const isGood = steps.PENDING + steps.LEASED + steps.FAILED === 0;
        return { row: found, source: isGood ? (done.at(-1)?.commit_id ?? null) : null };
      });
      if (row === null) throw new VerbatimError("JOB_UNKNOWN", { details: { job_id: jobId } });
      const { ref, repository_id } = row;
      if (source === null || ref === null || repository_id === null) throw new VerbatimError("NOTHING_TO_LAND");
      const asked = { kind: "job", subject: jobId, repository_id, ref, source, onto } as const;
      return waitForLanding(composition, store, await requestLanding(composition, store, asked), stop);
    },
  };
}

const LONGEST_TURN_MS = 20;

/**
 * SQLite answers at once, so a job of many short steps would keep signals, cancellations and progress waiting until its
 * end. Between two transactions everyone else gets a turn.
 */
function givingTurns(store: AppStore): JobPorts["store"] {
  let last = performance.now();
  return {
    read: (fn) => store.read(fn),
    async transact(fn) {
      if (performance.now() - last > LONGEST_TURN_MS) {
        await turn();
        last = performance.now();
      }
      return store.transact(fn);
    },
    close: () => store.close(),
  };
}

function keepPauses(composition: Composition): Pauses {
  const pauses = kept.get(composition) ?? createPauses();
  kept.set(composition, pauses);
  return pauses;
}

/** Index and symbols of the context room as planning sees them. */
function createCorpus(ports: ContextPorts): Corpus {
  return {
    look: (fn) => ports.store.read(async (tx) => fn(await openView(ports, tx.context))),
  };
}

async function openView(ports: ContextPorts, context: ContextReader): Promise<CorpusView> {
  const view = await ports.views.open(context);
  let unknown = 0;
  const resolve = async (ref: string) => {
    if (isHash(ref)) return { section: await view.resolve(context, { type: "SECTION", section_id: ref }, ref) };
    const row = await requireSymbol(context, ref);
    return { row, section: await resolvePin(context, view, parseTarget(row.symbol), row) };
  };
  return {
    async targetType(symbolId) {
      const row = await context.symbol(symbolId);
      if (row !== null) return row.symbol.target_type;
      if (unknown++ < MOST_SUGGESTIONS) return (await requireSymbol(context, symbolId)).symbol.target_type;
      throw new VerbatimError("SYMBOL_UNKNOWN", {
        message: `there is no symbol ${symbolId}`,
        details: { symbol_id: symbolId },
      });
    },
    async cut(ref, asked) {
      const { row, section } = await resolve(ref);
      const slice = asked ?? row?.symbol.default_slice_policy;
      if (slice === undefined) throw new VerbatimError("SLICE_REQUIRED", { where: ref });
      const { bytes, content_hash } = cutRef(ports, view, { ref, slice, section });
      return { slice, section_id: section.section_id, file_path: section.file_path, bytes, content_hash };
    },
    async open(symbolId) {
      const { section } = await resolve(symbolId);
      const { section_id, file_path, line_start, line_end } = section;
      return { section_id, file_path, read: () => cutLines(ports.contents.open(view, section), line_start, line_end) };
    },
  };
}

/** Ports of the operations on bundles. Only building one opens a store; all others work anywhere. */
async function bundlePorts(
  composition: Composition,
  effect: Effect,
  name: string,
): Promise<BundlePorts | BundleMakerPorts> {
  const { crypto, files, keys, start, clock } = composition;
  const base: BundlePorts = {
    crypto,
    files,
    openBundle(path) {
      const found = findBundle(placeOf(composition, path));
      if ("problem" in found) return found;
      return { files: openBundleFolder(found.folder), attestation: besideOf(composition, found.folder) };
    },
    loadKey: (key) => keys.load(key),
    diffLines: (file, a, b) => createTwoFilesPatch(file, file, a, b, "", ""),
  };
  if (name !== "jobs.bundle-build") return base;
  return {
    ...base,
    store: await composition.store(effect),
    content: await composition.content(effect),
    actor: composition.actor,
    createFolder: (path, fill) =>
      createBundleFolder(resolve(start, path), clock.now(), (folder, sink) => fill(sink, openBundleFolder(folder))),
    exists: (path) => existsSync(resolve(start, path)),
  };
}

/** A place the caller names: anywhere for someone at this machine, inside the workspace for everyone else. */
function placeOf({ surface, start, workspace }: Composition, path: string): string {
  if (LOCAL_SURFACES.includes(surface)) return resolve(start, path);
  return resolveInside(workspace.root, parseRepoPath(path));
}

/** The attestation next to a bundle, as the caller's files name it. */
function besideOf({ surface, workspace }: Composition, folder: string): string {
  const place = `${folder}.dsse.json`;
  return LOCAL_SURFACES.includes(surface) ? place : relative(realpathSync(workspace.root), place).replaceAll(sep, "/");
}
