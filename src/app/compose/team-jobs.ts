import { mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { Mirror } from "../../adapters/git/mirror.ts";
import { createPauses } from "../../adapters/process/pauses.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import {
  type Dispatch,
  type EffectsPort,
  type OwnPorts,
  ownJob,
  queueOf,
  type RepositoryRow,
  resendLost,
  type WorkItem,
} from "../../rooms/jobs/index.ts";
import type { WorkerInput, WorkerReport } from "../team/ports.ts";
import { type Composition, composeAlone } from "./compose.ts";
import { createEffects, sweepWork } from "./effects.ts";
import type { AppStore } from "./store.ts";

const RECONCILE_MS = 60_000;
const FAILURES_IN_A_ROW = 3;
const PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;

/** The store of a team with its queue; a store in a file has neither. */
export function requireQueue(store: AppStore): { readonly dispatch: Dispatch; readonly workspaceId: string } {
  const { dispatch, workspaceId } = store;
  if (dispatch !== null && workspaceId !== null) return { dispatch, workspaceId };
  throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
}

/** The repository of this name, or the only one. REPOSITORY_UNKNOWN. */
export function pickRepository(all: readonly RepositoryRow[], name: string | undefined): RepositoryRow {
  const found = name === undefined && all.length === 1 ? all[0] : all.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new VerbatimError("REPOSITORY_UNKNOWN", {
    details: { repository: name ?? null, repositories: all.map((one) => one.name) },
  });
}

/** The mirror of a repository on this machine, up to date, and proved to be that repository. REPOSITORY_MISMATCH. */
export async function openMirror(composition: Composition, repository: RepositoryRow): Promise<Mirror> {
  const mirror = await openUnproved(composition, repository.id, repository.remote);
  await mirror.requireRoots(repository.roots);
  return mirror;
}

/** The same before anybody knows which roots it has. */
export async function openUnproved(composition: Composition, id: string, remote: string): Promise<Mirror> {
  const folder = join(teamState(composition), `${id}.git`);
  mkdirSync(teamState(composition), { recursive: true, mode: 0o700 });
  // A path is a remote only where whoever runs this process says so.
  const allowPath = composition.env["VERBATIM_GIT_PATHS"] === "1";
  const mirror = await Mirror.open(folder, remote, { allowPath });
  await mirror.fetch();
  return mirror;
}

function teamState({ env, userState }: Composition): string {
  const named = env["VERBATIM_STATE"];
  return join(named === undefined || named === "" ? userState : named, "team");
}

/** Works on jobs of these repositories until it is told to stop; with `once`, until no job comes for a moment. */
export async function runWorker(composition: Composition, input: WorkerInput): Promise<WorkerReport> {
  const store = await composition.store("mutate");
  const { dispatch, workspaceId } = requireQueue(store);
  const all = await store.read(({ team }) => team!.repositories());
  const incarnation = await store.read(({ team }) => team!.incarnation());
  const effects = new Map<string, EffectsPort>();
  const folder = join(teamState(composition), "work", incarnation.slice(0, 8));
  sweepWork(folder);
  const names = input.repositories.length > 0 ? input.repositories : all.map(({ name }) => name);
  const queues = [`read/${workspaceId}`];
  for (const name of names) {
    const repository = pickRepository(all, name);
    const mirror = await openMirror(composition, repository);
    effects.set(repository.id, createEffects({ mirror, folder, compose: (start) => composeFile(composition, start) }));
    queues.push(...input.labels.map((label) => queueOf(workspaceId, repository.id, label)));
  }
  const worker = `worker/${hostname()}#${process.pid}`;
  composition.notify(`${worker} serves ${names.join(", ") || "jobs that only read"} on ${input.slots} slots`);
  const stop = new AbortController();
  const unlisten = composition.interrupts.listen(() => stop.abort());
  const pauses = createPauses();
  const endReconcile = pauses.every(RECONCILE_MS, () => {
    // What is wrong with the store now, the loop below meets as well; the next look is in a minute.
    void resendLost(store).catch((thrown: unknown) => composition.notify(`reconcile: ${String(thrown)}`));
  });
  try {
    await resendLost(store);
    const base = { store, composition, content: await composition.content("mutate"), effects, pauses };
    const idle = input.once ? IDLE_MS : null;
    const slot = (n: number) => runSlot({ ...base, dispatch, queues, name: `${worker}.${n}`, stop, idle, input });
    const done = await Promise.all(Array.from({ length: input.slots }, (_, n) => slot(n + 1)));
    return { worker, jobs: done.reduce((sum, n) => sum + n, 0) };
  } finally {
    endReconcile();
    unlisten();
  }
}

const IDLE_MS = 1500;

interface Slot {
  readonly store: AppStore;
  readonly composition: Composition;
  readonly content: OwnPorts["content"];
  readonly effects: ReadonlyMap<string, EffectsPort>;
  readonly pauses: OwnPorts["pauses"];
  readonly dispatch: Dispatch;
  readonly queues: readonly string[];
  readonly name: string;
  readonly stop: AbortController;
  readonly idle: number | null;
  readonly input: WorkerInput;
}

async function runSlot(slot: Slot): Promise<number> {
  const { dispatch, queues, stop, pauses, composition, input } = slot;
  let jobs = 0;
  let broken = 0;
  while (!stop.signal.aborted) {
    const signal = slot.idle === null ? stop.signal : AbortSignal.any([stop.signal, AbortSignal.timeout(slot.idle)]);
    const item = await dispatch.next(queues, signal).catch(async (thrown: unknown) => {
      // The database is away; whoever runs until told to stop goes on when it is back.
      if (slot.idle !== null) throw thrown;
      composition.notify(String(thrown));
      await pauses.pause(1000, stop.signal);
      return "again" as const;
    });
    if (item === "again") continue;
    if (item === null) break;
    const end = await own(slot, item);
    if (end === "DONE") jobs++;
    broken = end === "BROKEN" ? broken + 1 : 0;
    if (broken < FAILURES_IN_A_ROW) continue;
    const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (broken - FAILURES_IN_A_ROW));
    composition.notify(`${input.once ? "stopped" : "paused"}: ${broken} failures in a row that are not of the jobs`);
    if (slot.idle !== null) break;
    await pauses.pause(pause, stop.signal);
  }
  return jobs;
}

async function own(slot: Slot, item: WorkItem) {
  const { store, composition, content, effects, pauses, name, stop, input } = slot;
  try {
    const row = await store.read(({ team }) => team!.dispatch(item.job_id));
    const port = effects.get(row?.repository_id ?? "");
    const ports: OwnPorts = {
      store,
      content,
      pauses,
      patch: null,
      execute: null,
      effects: port === undefined ? null : { port, crypto: composition.crypto },
      notify: composition.notify,
    };
    return await ownJob(ports, item, { name, stop: stop.signal, graceMs: input.grace_ms });
  } catch (thrown) {
    // The attempt is not renewed any more, so another one follows; this process only says why it gave up.
    composition.notify(`${item.job_id}: ${String(thrown)}`);
    return "BROKEN" as const;
  }
}

/** A workspace around a work tree of an attempt: its store is a file in it, and it knows of no database. */
function composeFile({ env, platform }: Composition, start: string): Composition {
  const { VERBATIM_DATABASE_URL: _, VERBATIM_WORKSPACE: __, ...own } = env;
  return composeAlone({ surface: "library", start, env: own, platform });
}
