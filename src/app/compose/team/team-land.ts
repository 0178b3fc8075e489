import { buildCommit, buildMerge } from "../../../adapters/git/effect-commit.ts";
import { readJobChanges } from "../../../adapters/git/job-tree.ts";
import type { Mirror } from "../../../adapters/git/mirror.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { formatTime } from "../../../core/time.ts";
import type { LandRow, WorkItem } from "../../../rooms/jobs/index.ts";
import { LAND_ALL } from "../../agent/landing/landable.ts";
import { applyAgentRun } from "../../agent/runs/runs.ts";
import { unpackRun } from "../../agent/storage/run-package.ts";
import { QUEUE_RECORDS } from "../../team/queue-records.ts";
import { AUDIT_STREAM } from "../../team/records.ts";
import type { RunOptions } from "./team-agent.ts";
import { withAgentPlace } from "./team-attempt.ts";
import { type Hold, holdItem, type ItemEnd } from "./team-item.ts";

const MOST_TRIES = 5;
/** Verdicts about the change; anything else is tried again. */
const VERDICT_EXITS: ReadonlySet<number> = new Set([1, 2]);

/**
 * Merges a branch of ours into one of the remote, once: the commit is recorded before it is pushed, and whoever comes next
 * finds it in the history of that branch. Where the branch moved on meanwhile, the merge is made again.
 */
export async function landBranch(options: RunOptions, item: WorkItem): Promise<ItemEnd> {
  const { store } = options;
  return holdItem(options, item, async (hold) => {
    const row = await store.read(({ team }) => team!.queued.landing(item.job_id));
    if (row === null || row.result !== null) return hold.end(async () => undefined);
    const mirror = options.mirror(row.repository_id);
    if (mirror === undefined) throw new VerbatimError("REPOSITORY_UNKNOWN", { details: { id: row.repository_id } });
    try {
      if (row.kind === "remove") return await remove(options, hold, mirror, row);
      return await end(options, hold, row, await move(options, hold, mirror, row));
    } catch (thrown) {
      if (!isVerbatimError(thrown) || !VERDICT_EXITS.has(thrown.exit)) throw thrown;
      return await refuse(options, hold, row, thrown);
    }
  });
}

/** Moves the branch; gives the commit by which the change is part of it. */
async function move(options: RunOptions, hold: Hold, mirror: Mirror, row: LandRow): Promise<string> {
  const ref = `refs/heads/${row.onto}`;
  const intents = [...row.intents];
  let says = "";
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    await mirror.fetch();
    const tip = await mirror.readRef(ref);
    if (tip === null) throw new VerbatimError("BRANCH_UNKNOWN", { details: { branch: row.onto } });
    for (const commit of [...intents, row.source]) {
      // What was recorded and never pushed may not be in this clone.
      if ((await mirror.hasCommit(commit)) && (await mirror.isAncestor(commit, tip))) return commit;
    }
    const commit = await merge(options, mirror, row, tip);
    await hold.write(async ({ team, ledger }) => {
      if (intents.includes(commit)) return;
      await team!.queued.addLandIntent(row.land_id, commit);
      const body = { land_id: row.land_id, commit, from: tip };
      await ledger.append(AUDIT_STREAM, "next", [QUEUE_RECORDS.make("LAND_INTENT", options.worker, body)]);
    });
    intents.push(commit);
    const pushed = await mirror.push(ref, tip, commit);
    if (pushed.moved) return commit;
    says = pushed.says;
  }
  throw new VerbatimError("REMOTE_UNAVAILABLE", { message: `the remote did not take ${ref}: ${says}` });
}

async function merge(options: RunOptions, mirror: Mirror, row: LandRow, tip: string): Promise<string> {
  const name = row.ref.replace(/^refs\/verbatim\//, "");
  const words = {
    time: formatTime(options.composition.clock.now()),
    subject: `Merge ${name}`,
    trailers: [`Verbatim-Landing: ${row.land_id}`, `Verbatim-Subject: ${row.subject}`],
  };
  if (row.kind === "run" && !(await isBase(options, row, tip))) {
    return mergeRun(options, mirror, row, tip, words);
  }
  const made = await buildMerge(mirror, [tip, row.source], words);
  if ("commit" in made) return made.commit;
  throw new VerbatimError("LAND_BRANCH_CONFLICT", { details: { branch: row.onto, paths: [...made.conflicts] } });
}

async function isBase({ store }: RunOptions, { subject }: LandRow, tip: string): Promise<boolean> {
  return (await store.read(({ team }) => team!.queued.run(subject)))?.base_commit === tip;
}

/** A change of an agent on a branch that moved on: merged file by file, judged and verified again as it would be there. */
async function mergeRun(
  options: RunOptions,
  mirror: Mirror,
  row: LandRow,
  tip: string,
  words: Parameters<typeof buildCommit>[3],
): Promise<string> {
  const { store, content, composition, folder, stop } = options;
  const run = await store.read(({ team }) => team!.queued.run(row.subject));
  const bytes = await content.get(run!.result!.package!);
  const place = { composition, mirror, folder, name: row.land_id, commit: tip, runId: null, stop };
  return withAgentPlace(place, async (outside, tree) => {
    const ports = await outside.workflow("mutate");
    await unpackRun(ports, await outside.content("append"), row.subject, bytes);
    await applyAgentRun(outside, row.subject, LAND_ALL);
    const changes = await readJobChanges(mirror, tip, tree);
    return (await buildCommit(mirror, [tip, row.source], changes, words)).commit;
  });
}

async function end({ worker }: RunOptions, hold: Hold, row: LandRow, commit: string): Promise<"DONE"> {
  return hold.end(async ({ team, ledger }) => {
    await team!.queued.addLandResult(row.land_id, { commit_id: commit, code: null, message: null, worker });
    const entry = QUEUE_RECORDS.make("LANDED", worker, { ...describe(row), commit });
    await ledger.append(AUDIT_STREAM, "next", [entry]);
  });
}

async function refuse({ worker }: RunOptions, hold: Hold, row: LandRow, { code, message }: VerbatimError) {
  return hold.end(async ({ team, ledger }) => {
    await team!.queued.addLandResult(row.land_id, { commit_id: null, code, message, worker });
    const entry = QUEUE_RECORDS.make("LAND_REFUSED", worker, { ...describe(row), code, message });
    await ledger.append(AUDIT_STREAM, "next", [entry]);
  });
}

/** Removes a branch of ours where it still is what it was; one that is gone or was moved by somebody is left alone. */
async function remove(options: RunOptions, hold: Hold, mirror: Mirror, row: LandRow): Promise<"DONE"> {
  const { worker } = options;
  const at = await mirror.readRef(row.ref);
  if (at === row.source) {
    const pushed = await mirror.push(row.ref, row.source, null);
    if (!pushed.moved && (await mirror.readRef(row.ref)) !== null) {
      throw new VerbatimError("REMOTE_UNAVAILABLE", { message: `${row.ref} could not be removed: ${pushed.says}` });
    }
  }
  if (at !== null && at !== row.source) {
    const moved = new VerbatimError("EFFECT_REF_MOVED", { details: { ref: row.ref, commit: at } });
    return refuse(options, hold, row, moved);
  }
  return hold.end(async ({ team, ledger }) => {
    await team!.queued.addLandResult(row.land_id, { commit_id: row.source, code: null, message: null, worker });
    const entry = QUEUE_RECORDS.make("BRANCH_REMOVED", worker, { ...describe(row), commit: row.source });
    await ledger.append(AUDIT_STREAM, "next", [entry]);
  });
}

function describe({ land_id, kind, subject, ref, onto }: LandRow) {
  return { land_id, kind, subject, ref, onto };
}
