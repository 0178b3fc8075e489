import { formatCanonical, hashCanonical } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { LOCAL_SURFACES } from "../../../core/operation.ts";
import { agentQueueOf, type QueuedRow } from "../../../rooms/jobs/index.ts";
import { isRunId, makeRunId, resolveRunName, streamOf } from "../../../rooms/workflow/index.ts";
import type { QueuedRun, QueuePorts } from "../../agent/queue/queue-ports.ts";
import { QUEUE_RECORDS } from "../../team/queue-records.ts";
import type { Composition } from "../compose.ts";
import type { AppStore } from "../store/store.ts";
import { askGit, hasCommit, requireCheckoutOf } from "./team-checkout.ts";
import { openMirror, pickRepository, requireQueue } from "./team-jobs.ts";
import { requestLanding, waitForLanding } from "./team-landing.ts";

const WORDS = { noun: "queued run", list: "verbatim agent queued" };
const MOST_LISTED = 1000;

/** The queue of a team, for whoever asks for runs; null where the store is a file. */
export function queuePorts(composition: Composition): QueuePorts | null {
  if (composition.databaseUrl() === undefined) return null;
  const { crypto, clock, random } = composition;
  const open = (effect: "read" | "append") => composition.store(effect);
  const toRun = async (store: AppStore, row: QueuedRow): Promise<QueuedRun> => {
    const { repositories, standing } = await store.read(async ({ team }) => {
      const dispatch = await team!.dispatch(row.run_id);
      return {
        repositories: await team!.repositories(),
        standing: dispatch === null ? null : await team!.standing(dispatch),
      };
    });
    const repository = repositories.find(({ id }) => id === row.repository_id)?.name ?? row.repository_id;
    const { result } = row;
    const open = standing?.at === "taken" ? "working" : standing?.at === "stalled" ? "stalled" : "queued";
    return {
      run_id: row.run_id,
      goal: row.goal,
      repository,
      base_commit: row.base_commit,
      needs: row.needs,
      asked_by: row.asked_by,
      asked_ms: row.asked_ms,
      state: result?.state ?? open,
      reason: result === null ? (standing?.code ?? null) : result.reason,
      worker: result?.worker ?? row.worker,
      starts: row.starts,
      tries: row.tries,
      ref: result?.ref ?? null,
      commit: result?.commit_id ?? null,
      files: result?.files ?? 0,
      added: result?.added ?? 0,
      deleted: result?.deleted ?? 0,
      duration_ms: result?.duration_ms ?? null,
    };
  };
  const rowOf = async (run: QueuedRun) => {
    const store = await open("read");
    const row = await store.read(({ team }) => team!.queued.run(run.run_id));
    if (row?.result === null || row === null) throw stillQueued(run);
    return { store, row, result: row.result };
  };
  return {
    async ask(request, goal, { repository, at, needs, tries }) {
      const store = await open("append");
      const { dispatch } = requireQueue(store);
      const found = pickRepository(await store.read(({ team }) => team!.repositories()), repository);
      // Whoever asks over HTTP has no checkout here: the server's is nobody's work.
      const isHere = LOCAL_SURFACES.includes(composition.surface);
      if (isHere) await requireCheckoutOf(composition, found);
      const named = at ?? (isHere ? await requireCleanHead(composition) : null);
      const mirror = await openMirror(composition, found);
      if (named !== null && !(await mirror.hasCommit(named))) {
        throw new VerbatimError("BASE_NOT_PUSHED", { details: { commit: named, remote: found.remote } });
      }
      const base = await mirror.readBase(named, found.default_branch);
      const queue = agentQueueOf(found.id, needs);
      await dispatch.prepare(queue);
      const run_id = makeRunId(clock.now(), random.bytes(3));
      const asked_by = composition.actor;
      const request_sha256 = hashCanonical(crypto, request);
      await store.transact(async ({ team, ledger }) => {
        const row = { run_id, request_sha256, goal, needs, tries, asked_by, repository_id: found.id };
        await team!.queued.addRun({ ...row, request: formatCanonical(request), base_commit: base.commit });
        const body = { run_id, request_sha256, goal, repository: found.id, base_commit: base.commit, needs, tries };
        await ledger.append(streamOf(run_id), "next", [QUEUE_RECORDS.make("AGENT_QUEUED", asked_by, body)]);
        const job = { job_id: run_id, queue, repository_id: found.id };
        await team!.send({ ...job, base_commit: base.commit, base_tree: base.tree });
      });
      return toRun(store, (await store.read(({ team }) => team!.queued.run(run_id)))!);
    },
    async list(limit) {
      const store = await open("read");
      const rows = await store.read(({ team }) => team!.queued.runs(limit));
      const runs: QueuedRun[] = [];
      for (const row of rows) runs.push(await toRun(store, row));
      return runs;
    },
    async find(name) {
      const store = await open("read");
      if (!isRunId(name)) return null;
      const ids = await store.read(({ team }) => team!.queued.findRuns(name));
      if (ids.length === 0) return null;
      const id = ids.includes(name) ? name : resolveRunName(await listNamed(store), name, WORDS);
      const row = await store.read(({ team }) => team!.queued.run(id));
      return row === null ? null : toRun(store, row);
    },
    async fetch(run) {
      const { result } = await rowOf(run);
      if (result.package === null) {
        const code = result.state === "lost" ? "AGENT_LOST" : "AGENT_NOT_STARTED";
        throw new VerbatimError(code, { message: result.reason ?? "", details: { run_id: run.run_id } });
      }
      return (await composition.content("read")).get(result.package);
    },
    async requireHere(run) {
      const store = await open("read");
      const all = await store.read(({ team }) => team!.repositories());
      await requireCheckoutOf(composition, pickRepository(all, run.repository));
      if (await hasCommit(composition, run.base_commit)) return;
      throw new VerbatimError("RUN_BASE_MISSING", { details: { commit: run.base_commit } });
    },
    async land(run, onto, stop) {
      const { store, row, result } = await rowOf(run);
      if (result.commit_id === null || result.ref === null) {
        throw new VerbatimError("NOTHING_TO_LAND", { message: `the run ended as ${result.state}: nothing can land` });
      }
      const branch = { ref: result.ref, source: result.commit_id, repository_id: row.repository_id };
      const asked = { kind: "run", subject: run.run_id, onto, ...branch } as const;
      return waitForLanding(composition, store, await requestLanding(composition, store, asked), stop);
    },
    async removeBranch(run) {
      const { store, row, result } = await rowOf(run);
      if (result.commit_id === null || result.ref === null) return;
      const branch = { ref: result.ref, source: result.commit_id, repository_id: row.repository_id };
      const asked = { kind: "remove", subject: run.run_id, onto: result.ref, ...branch } as const;
      await requestLanding(composition, store, asked);
    },
  };
}

function listNamed(store: AppStore) {
  return store.read(async ({ team }) => {
    const rows = await team!.queued.runs(MOST_LISTED);
    return rows.map(({ run_id, goal, asked_ms }) => ({ run_id, goal, created_at: new Date(asked_ms).toISOString() }));
  });
}

function stillQueued({ run_id, state }: QueuedRun): VerbatimError {
  return new VerbatimError("RUN_QUEUED", {
    message: `the run is ${state} with the workers`,
    fix: { cli: `Wait for it: verbatim agent wait ${run_id}`, others: "Wait for it to end." },
    details: { run_id, state },
  });
}

/** HEAD, where nothing tracked differs from it: a worker sees what was pushed and nothing else. TREE_DIRTY. */
async function requireCleanHead(composition: Composition): Promise<string> {
  const { root } = composition.workspace;
  const { code, stdout } = await askGit(composition, ["rev-parse", "--verify", "-q", "HEAD^{commit}"]);
  if (code !== 0) throw new VerbatimError("REPO_NOT_GIT", { where: root });
  const changed = await askGit(composition, ["diff-index", "--quiet", "HEAD", "--"]);
  if (changed.code !== 0) throw new VerbatimError("TREE_DIRTY", { where: root });
  return stdout.toString("utf8").trim();
}
