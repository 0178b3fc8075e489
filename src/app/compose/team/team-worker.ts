import { mkdirSync, statfsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Mirror } from "../../../adapters/git/mirror.ts";
import { createPauses } from "../../../adapters/process/pauses.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import {
  agentQueueOf,
  type Dispatch,
  type EffectsPort,
  landQueueOf,
  type OwnPorts,
  ownJob,
  queueOf,
  resendLost,
  type WorkItem,
} from "../../../rooms/jobs/index.ts";
import { chooseLevel, Log, type LogFacts } from "../../team/log.ts";
import { Counters, formatMetrics } from "../../team/metrics.ts";
import type { WorkerInput, WorkerReport } from "../../team/ports.ts";
import { readProgramVersion } from "../catalytic-ports.ts";
import { type Composition, composeAlone } from "../compose.ts";
import type { AppStore } from "../store/store.ts";
import { createEffects, sweepWork } from "./effects.ts";
import { readFigures } from "./team.ts";
import { type RunOptions, runQueued } from "./team-agent.ts";
import { openMirror, pickRepository, requireQueue, teamState } from "./team-jobs.ts";
import { landBranch } from "./team-land.ts";
import { Membership } from "./team-membership.ts";

const RECONCILE_MS = 60_000;
const FAILURES_IN_A_ROW = 3;
const PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;
const FULL_PAUSE_MS = 5_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;
const IDLE_MS = 1500;
/** Four connections whatever the slots: transactions are short, and so is what the queue is asked. */
const CONNECTIONS = { transactions: 2, payloads: 1, queue: 1 } as const;

/** Works on jobs of these repositories until it is told to stop; with `once`, until no job comes for a moment. */
export async function runWorker(composition: Composition, input: WorkerInput): Promise<WorkerReport> {
  const counters = new Counters();
  const worker = `worker/${hostname()}#${process.pid}`;
  const { clock, env, notify, teamWorkspace } = composition;
  const level = chooseLevel(input.log_level, env);
  const log = new Log(notify, { now: () => clock.now(), level, facts: { workspace: teamWorkspace(), worker } });
  const own = { ...composition, notify: (text: string) => log.say("info", text) };
  await using health = await startHealth(own, input.health, counters);
  if (health !== null) log.say("info", `health at ${health.url}`);
  return await runUntilTold(own, input, { counters, log, worker });
}

/** What a worker has from its start to its end. */
interface Own {
  readonly counters: Counters;
  readonly log: Log;
  readonly worker: string;
}

/** Says how the worker is, also while it waits for its database; null where nobody asked for that. */
async function startHealth({ serveHealth, store }: Composition, place: string | null, counters: Counters) {
  if (place === null) return null;
  if (serveHealth === null) throw new VerbatimError("USAGE", { message: "nothing here serves the health of a worker" });
  const figures = () =>
    store("read")
      .then(readFigures, () => null)
      .catch(() => null);
  return serveHealth(place, {
    isReady: async () => (await figures()) !== null,
    metrics: async (lag) => formatMetrics(await figures(), counters, lag),
  });
}

async function runUntilTold(composition: Composition, input: WorkerInput, own: Own): Promise<WorkerReport> {
  const { log, worker } = own;
  const pauses = createPauses();
  const stop = new AbortController();
  const unlisten = composition.interrupts.listen(() => stop.abort());
  try {
    composition.limitConnections(CONNECTIONS);
    const patient = { log, wait_ms: input.wait_ms, stop: stop.signal };
    const store = await keepTrying(patient, () => composition.store("mutate"));
    const place = store === null ? null : await keepTrying(patient, () => prepare(composition, store, input));
    if (store === null || place === null) return { worker, jobs: 0 };
    const membership = new Membership({
      store,
      pauses,
      stop,
      incarnation: place.incarnation,
      about: { name: worker, version: readProgramVersion(), slots: input.slots, labels: input.labels, ...place },
    });
    const served = place.repositories.join(", ") || "jobs that only read";
    log.say("info", `${worker} serves ${served} on ${input.slots} slots`);
    const jobs = await membership.hold(() =>
      work(composition, { ...place, ...own, store, input, pauses, stop, membership }),
    );
    if (membership.isRestored) throw new VerbatimError("STORE_RESTORED");
    return { worker, jobs };
  } finally {
    unlisten();
  }
}

/** What a worker waits for at its start: whoever runs until told to stop is not ended by what is away for a while. */
const AWAY: readonly string[] = ["STORE_UNAVAILABLE", "STORE_BUSY", "REMOTE_UNAVAILABLE", "DISK_FULL"];

interface Patience {
  readonly log: Log;
  readonly wait_ms: number;
  readonly stop: AbortSignal;
}

/** Tries again what cannot be done because something is away, for a while; null when the worker was told to stop meanwhile. */
async function keepTrying<T>({ log, wait_ms, stop }: Patience, fn: () => Promise<T>): Promise<T | null> {
  const pauses = createPauses();
  const end = performance.now() + wait_ms;
  for (let pause = FIRST_WAIT_MS; !stop.aborted; pause = Math.min(2 * pause, LONGEST_WAIT_MS)) {
    try {
      return await fn();
    } catch (thrown) {
      const isAway = isVerbatimError(thrown) && AWAY.includes(thrown.code);
      if (!isAway || performance.now() + pause > end) throw thrown;
      log.say("warn", `${thrown.code}: ${thrown.message}; trying again`, { code: thrown.code });
      await pauses.pause(pause, stop);
    }
  }
  return null;
}

/** What a worker has to have before it may take any job: a clone of each repository that is proved to be one. */
async function prepare(composition: Composition, store: AppStore, input: WorkerInput) {
  const { repositories: asked, labels, kinds } = input;
  const { workspaceId } = requireQueue(store);
  const all = await store.read(({ team }) => team!.repositories());
  const incarnation = await store.read(({ team }) => team!.incarnation());
  const folder = join(teamState(composition), "work", incarnation.slice(0, 8));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  sweepWork(folder);
  const effects = new Map<string, EffectsPort>();
  const mirrors = new Map<string, Mirror>();
  const queues = kinds.includes("read") ? [queueOf(workspaceId, null, "")] : [];
  const repositories = asked.length > 0 ? [...asked] : all.map(({ name }) => name);
  for (const name of repositories) {
    const repository = pickRepository(all, name);
    const mirror = await openMirror(composition, repository);
    effects.set(repository.id, createEffects({ mirror, folder, compose: (start) => composeFile(composition, start) }));
    mirrors.set(repository.id, mirror);
    if (kinds.includes("effect")) queues.push(...labels.map((label) => queueOf(workspaceId, repository.id, label)));
    if (kinds.includes("agent")) queues.push(...labels.map((label) => agentQueueOf(repository.id, label)));
    if (kinds.includes("land")) queues.push(landQueueOf(repository.id));
  }
  for (const queue of queues) await requireQueue(store).dispatch.prepare(queue);
  await resendLost(store);
  return { incarnation, folder, effects, mirrors, queues, repositories };
}

interface Work extends Awaited<ReturnType<typeof prepare>>, Own {
  readonly store: AppStore;
  readonly input: WorkerInput;
  readonly pauses: OwnPorts["pauses"];
  readonly stop: AbortController;
  readonly membership: Membership;
}

async function work(composition: Composition, asked: Work): Promise<number> {
  const { store, pauses, input, worker, log } = asked;
  const endReconcile = pauses.every(RECONCILE_MS, () => {
    // What is wrong with the store now, the loop below meets as well; the next look is in a minute.
    void resendLost(store).catch((thrown: unknown) => log.say("warn", `reconcile: ${String(thrown)}`));
  });
  try {
    const { dispatch } = requireQueue(store);
    const base = { ...asked, composition, dispatch, content: await composition.content("mutate") };
    const idle = input.once ? IDLE_MS : null;
    const slot = (n: number) => new Slot({ ...base, idle, name: `${worker}.${n}` }).run();
    const done = await Promise.all(Array.from({ length: input.slots }, (_, n) => slot(n + 1)));
    return done.reduce((sum, n) => sum + n, 0);
  } finally {
    endReconcile();
  }
}

interface SlotOptions extends Work {
  readonly composition: Composition;
  readonly dispatch: Dispatch;
  readonly content: OwnPorts["content"];
  readonly name: string;
  /** How long to look for a job before that is an answer; null: until told to stop. */
  readonly idle: number | null;
}

/** How the time with a job ended, in the words of the log. */
const END_WORDS = {
  DONE: "done",
  LOST: "lost to another attempt",
  RELEASED: "released",
  BROKEN: "not possible here",
} as const;

function toFacts({ queue, job_id, attempt }: WorkItem): LogFacts {
  const subject = queue.startsWith("agent/") ? { run: job_id } : { job: job_id };
  return { ...subject, attempt: attempt + 1 };
}

/** One job after the other. */
class Slot {
  readonly #own: SlotOptions;
  #broken = 0;
  #jobs = 0;

  constructor(options: SlotOptions) {
    this.#own = options;
  }

  async run(): Promise<number> {
    const { stop, idle, membership } = this.#own;
    const ending = AbortSignal.any([stop.signal, membership.draining]);
    let away = FIRST_WAIT_MS;
    while (!ending.aborted) {
      if (!(await this.#hasRoom(ending))) break;
      const item = await this.#next(ending).catch(async (thrown: unknown) => {
        // The database is away; whoever runs until told to stop goes on when it is back.
        if (idle !== null) throw thrown;
        const code = isVerbatimError(thrown) ? thrown.code : "INTERNAL";
        this.#own.log.say("warn", `${String(thrown)}; trying again`, { code });
        await this.#own.pauses.pause(away, ending);
        away = Math.min(2 * away, LONGEST_WAIT_MS);
        return "again" as const;
      });
      if (item === "again") continue;
      away = FIRST_WAIT_MS;
      if (item === null) break;
      if (!(await this.#take(item, ending))) break;
    }
    return this.#jobs;
  }

  /** The next job; null when there is none for as long as is looked, or when the worker is to end. */
  async #next(ending: AbortSignal): Promise<WorkItem | null> {
    const { dispatch, queues, idle } = this.#own;
    if (idle === null) return dispatch.next(queues, ending);
    // Not AbortSignal.timeout: joined with another, nothing holds it, and one that was collected is never given.
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), idle);
    try {
      return await dispatch.next(queues, AbortSignal.any([ending, over.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for space where there is too little; false when that ends the worker. */
  async #hasRoom(ending: AbortSignal): Promise<boolean> {
    const { membership, input, folder, log, pauses, idle } = this.#own;
    while (!ending.aborted) {
      const { bavail, bsize } = statfsSync(folder);
      const free = bavail * bsize;
      if (free >= input.min_free) {
        membership.resume("DISK_FULL");
        return true;
      }
      const text = `DISK_FULL: ${free} bytes free, ${input.min_free} needed`;
      if (membership.pause("DISK_FULL")) log.say("warn", `paused: ${text}`, { code: "DISK_FULL" });
      if (idle !== null) return false;
      await pauses.pause(FULL_PAUSE_MS, ending);
    }
    return false;
  }

  /** Works on one job; false when the worker is to end. */
  async #take(item: WorkItem, ending: AbortSignal): Promise<boolean> {
    const { membership, log, pauses, idle, counters } = this.#own;
    const begun = performance.now();
    const facts = toFacts(item);
    log.say("debug", "job taken", facts);
    const end = await membership.busy(() => this.#work(item));
    const ms = Math.round(performance.now() - begun);
    log.say(end === "BROKEN" ? "warn" : "info", `job ${END_WORDS[end]}`, { ...facts, ms });
    const kind = item.queue.split("/", 1)[0]!;
    counters.add("verbatim_worker_items_total", { kind, end });
    counters.add("verbatim_worker_seconds_total", { kind }, (performance.now() - begun) / 1000);
    if (end === "DONE") this.#jobs++;
    this.#broken = end === "BROKEN" ? this.#broken + 1 : 0;
    if (this.#broken < FAILURES_IN_A_ROW) return true;
    const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (this.#broken - FAILURES_IN_A_ROW));
    const word = idle === null ? "paused" : "stopped";
    log.say("error", `${word}: ${this.#broken} failures in a row that are not of the jobs`);
    if (idle !== null) return false;
    membership.pause("BROKEN");
    await pauses.pause(pause, ending);
    membership.resume("BROKEN");
    return true;
  }

  async #work(item: WorkItem) {
    const { store, composition, content, effects, pauses, name, stop, input, log } = this.#own;
    const facts = toFacts(item);
    try {
      if (item.queue.startsWith("agent/")) return await runQueued(this.#toRunOptions(item), item);
      if (item.queue.startsWith("land/")) return await landBranch(this.#toRunOptions(item), item);
      const row = await store.read(({ team }) => team!.dispatch(item.job_id));
      const port = effects.get(row?.repository_id ?? "");
      const ports: OwnPorts = {
        store,
        content,
        pauses,
        patch: null,
        execute: null,
        effects: port === undefined ? null : { port, crypto: composition.crypto },
        onTrouble: (code, text) => log.say("warn", `${code}: ${text}`, { ...facts, code }),
        onStep: (step, status) =>
          log.say("info", status === "COMMITTED" ? "step done" : "step failed", { ...facts, step }),
      };
      return await ownJob(ports, item, { name, stop: stop.signal, graceMs: input.grace_ms });
    } catch (thrown) {
      // The attempt is not renewed any more, so another one follows; this process only says why it gave up.
      log.say("warn", String(thrown), { ...facts, code: isVerbatimError(thrown) ? thrown.code : "INTERNAL" });
      return "BROKEN" as const;
    }
  }

  #toRunOptions(item: WorkItem): RunOptions {
    const { log } = this.#own;
    const composition = {
      ...this.#own.composition,
      notify: (text: string) => log.say("info", text, toFacts(item)),
    };
    const { store, content, pauses, mirrors, folder, incarnation, name, stop, input } = this.#own;
    const { agent_env: env, agent_hosts: hosts } = input;
    const of = { composition, store, content, pauses, folder, incarnation, worker: name, stop: stop.signal };
    return { ...of, mirror: (id) => mirrors.get(id), env, hosts };
  }
}

/** A workspace around a work tree of an attempt: its store is a file in it, and it knows of no database. */
function composeFile({ env, platform }: Composition, start: string): Composition {
  const { VERBATIM_DATABASE_URL: _, VERBATIM_WORKSPACE: __, ...own } = env;
  return composeAlone({ surface: "library", start, env: own, platform });
}
