import { decodeUtf8, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { diffTrees } from "./diff.ts";
import type { BeginRecord } from "./journal.ts";
import { readJournal } from "./journal.ts";
import { findOriginal, removeMade, swapBack } from "./layers.ts";
import { type LockState, lockState } from "./lock.ts";
import { haltLocks, listLocks, releaseLocks } from "./locks.ts";
import { journalOf, type Places, placeOf, worksOf } from "./places.ts";
import type { CatalyticPorts } from "./ports.ts";
import { rollBackOutput } from "./publish.ts";
import { readArtifact, readRecord } from "./record-files.ts";
import { proveRecovered } from "./recover-proof.ts";
import { type JournalRecord, planRecovery, type RecoveryFacts, type RecoveryPlan } from "./recovery.ts";
import { readWholeEntries } from "./run-ledger.ts";
import { RunRecord } from "./run-record.ts";
import { repairDomains } from "./snapshots.ts";
import { diffAnchors, restoreAnchor } from "./staging.ts";
import { readTrees, type Tree } from "./tree.ts";
import { verifyRun } from "./verify.ts";
import { PROOF_FILE } from "./words.ts";

/** What recovery did, or would do, about one run. */
export interface RecoveredRun {
  readonly run_id: string;
  readonly action: RecoveryPlan["action"];
  readonly code: string | null;
  readonly steps: readonly string[];
  readonly final_status: RecoveryPlan["final_status"];
  readonly condition: string | null;
}

/** A run whose work directory is still there. */
interface Unfinished {
  readonly run_id: string;
  readonly places: Places;
  readonly begin: BeginRecord;
  readonly journal: readonly (JournalRecord & JsonObject)[];
  readonly owner: "alive" | "dead" | "unknown";
}

const OWNERS: Readonly<Record<LockState, Unfinished["owner"]>> = { held: "alive", stale: "dead", unknown: "unknown" };

/** Puts back every run whose owner is certainly dead; says what it did, a line each. */
export async function recoverDead(ports: CatalyticPorts, state: string): Promise<string[]> {
  await sweepOrphans(ports, state);
  const lines: string[] = [];
  for (const run of listUnfinished(ports, state)) {
    if (run.owner !== "dead" || isKept(run.journal)) continue;
    const done = await recoverRun(ports, run, false);
    lines.push(
      `recovered run ${done.run_id}: ${done.final_status ?? done.action}${done.condition === null ? "" : `, ${done.condition}`}`,
    );
  }
  return lines;
}

/** Recovers one run or all that did not end. A dry run only says what would be done. */
export async function recoverRuns(
  ports: CatalyticPorts,
  state: string,
  options: { readonly run_id: string | null; readonly dry_run: boolean; readonly force: boolean },
): Promise<RecoveredRun[]> {
  if (!options.dry_run) await sweepOrphans(ports, state);
  const runs = listUnfinished(ports, state).filter((run) => options.run_id === null || run.run_id === options.run_id);
  const done: RecoveredRun[] = [];
  for (const run of runs) {
    if (isKept(run.journal)) continue;
    done.push(
      options.dry_run
        ? { run_id: run.run_id, ...(await plan(ports, run, options.force)) }
        : await recoverRun(ports, run, options.force),
    );
  }
  return done;
}

/** Puts a run back that failed inside the tool itself, whose owner is this very process. */
export async function recoverOwn(ports: CatalyticPorts, places: Places, runId: string): Promise<void> {
  const run = listUnfinished(ports, places.state, places).find((one) => one.run_id === runId);
  if (run !== undefined) await recoverRun(ports, { ...run, owner: "dead" }, true);
}

/**
 * Forgets runs that died before their journal began: they had changed nothing, so there is nothing to put back. Locks
 * come before the work directory, so a work directory without a living lock belongs to nobody.
 */
async function sweepOrphans(ports: CatalyticPorts, state: string): Promise<void> {
  const { disk, host } = ports;
  const begun = new Set(listUnfinished(ports, state).map(({ run_id }) => run_id));
  const locks = listLocks(disk, host, state);
  const owned = new Set(
    locks.filter((seen) => seen.state !== "stale" || seen.lock.halted === true).map(({ lock }) => lock.run_id),
  );
  for (const { lock } of locks) {
    if (owned.has(lock.run_id) || begun.has(lock.run_id)) continue;
    await disk.discard(`${ports.user_work}/${lock.run_id}`);
    releaseLocks(ports, state, lock.run_id);
  }
  for (const name of disk.list(worksOf(state)) ?? []) {
    if (!name.startsWith("_") && !begun.has(name) && !owned.has(name)) await disk.discard(`${worksOf(state)}/${name}`);
  }
}

/** A finished run whose work directory somebody asked to keep. */
function isKept(journal: readonly JournalRecord[]): boolean {
  return journal.some(({ op }) => op === "CLEANED");
}

/** Every run that has a journal, by id. */
export function listUnfinished(ports: CatalyticPorts, state: string, known?: Places): Unfinished[] {
  const { disk, host } = ports;
  const works = new Set(
    (disk.list(worksOf(state)) ?? [])
      .filter((name) => !name.startsWith("_"))
      .map((name) => `${worksOf(state)}/${name}`),
  );
  for (const { lock } of listLocks(disk, host, state)) works.add(`${ports.user_work}/${lock.run_id}`);
  if (known !== undefined) works.add(known.work);
  return [...works].flatMap((work) => {
    const journal = readJournal(disk, journalOf({ work }));
    const begin = journal[0] as unknown as BeginRecord | undefined;
    if (begin?.op !== "BEGIN") return [];
    const record_path = begin.record.startsWith(`${begin.root}/`) ? begin.record.slice(begin.root.length + 1) : null;
    const places = { root: begin.root, record: begin.record, record_path, work, state };
    return [
      {
        run_id: begin.run_id,
        places,
        begin,
        journal,
        owner: journal.some(({ op }) => op === "LEFT") ? "dead" : OWNERS[lockState(begin, host)],
      },
    ];
  });
}

async function plan(ports: CatalyticPorts, run: Unfinished, force: boolean): Promise<RecoveryPlan> {
  return planRecovery(await gatherFacts(ports, run, force, true));
}

async function gatherFacts(
  ports: CatalyticPorts,
  run: Unfinished,
  force: boolean,
  identical: boolean,
): Promise<RecoveryFacts> {
  const { disk } = ports;
  const { places, begin, journal, owner } = run;
  const domains = begin.domains.map((domain) => ({
    path: domain.path,
    original: findOriginal(disk, places.root, domain),
  }));
  const staged =
    (disk.list(`${places.work}/stage`) ?? []).length > 0 || journal.some(({ op }) => op === "PUBLISH_ITEM");
  return {
    owner,
    force,
    method: begin.method,
    journal,
    domains,
    proof: await judgeProof(ports, run),
    staged,
    identical,
  };
}

async function judgeProof(ports: CatalyticPorts, { places, run_id }: Unfinished): Promise<RecoveryFacts["proof"]> {
  const { disk, crypto } = ports;
  if (disk.stat(`${places.record}/${PROOF_FILE}`) === null) return "absent";
  const files = readRecord(disk, places.record);
  const options = { pins: [], policy_sha256: null, tree: "skip", strict_tree: false } as const;
  const { genuine } = await verifyRun(crypto, { name: run_id, files }, options);
  return genuine ? "genuine" : "forged";
}

/** Takes the steps of the plan. Each can be taken again after a crash in the middle. */
async function recoverRun(ports: CatalyticPorts, run: Unfinished, force: boolean): Promise<RecoveredRun> {
  const { disk } = ports;
  const { places, begin, journal, run_id } = run;
  const facts = await gatherFacts(ports, run, force, true);
  const first = planRecovery(facts);
  if (first.action === "skip" || first.action === "refuse") return { run_id, ...first };
  for (const name of disk.list(places.record) ?? [])
    if (name.startsWith(".tmp-")) disk.removeFile(`${places.record}/${name}`);
  if (first.action === "finish") {
    await ports.records.appendRun(readEntries(ports, places, run_id));
    await clean(ports, places, run_id, false);
    return { run_id, ...first };
  }
  await ports.guards.endMarked({ run_id, work: places.work });
  if (first.action === "halt") return halt(ports, run, first);
  for (const record of journal)
    if (record.op === "CHMOD") disk.setMode(String(record["path"]), Number.parseInt(String(record["mode"]), 8));
  for (const domain of begin.domains) await swapBack(disk, places, domain);
  await putAnchorsBack(ports, run);
  for (const item of journal.filter(({ op }) => op === "PUBLISH_ITEM").toReversed())
    await rollBackOutput(disk, places, item);
  for (const made of journal.filter(({ op }) => op === "MKDIR").toReversed()) {
    removeMade(disk, places.root, String(made.path), text(made["dev"]), text(made["ino"]));
  }
  const proved = await proveRecovered(ports, places, run_id, begin, journal);
  const final = planRecovery({ ...facts, identical: proved.identical });
  await clean(ports, places, run_id, final.action === "halt");
  return { run_id, ...final, condition: proved.condition };
}

/** The entries of the run's own ledger, as far as they are whole. */
function readEntries({ disk, crypto }: CatalyticPorts, places: Places, runId: string) {
  const bytes = disk.read(`${places.record}/LEDGER.jsonl`);
  return readWholeEntries(crypto, runId, bytes === null ? "" : (decodeUtf8(bytes) ?? ""));
}

const text = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null);

/** Anchors of swap-back guards were written in place: what the command left there goes to the stage, the copy returns. */
async function putAnchorsBack(ports: CatalyticPorts, { places, begin, journal }: Unfinished): Promise<void> {
  if (begin.method !== "swap-back" || !journal.some(({ op }) => op === "EXEC_STARTED")) return;
  if (journal.some(({ op }) => op === "RESTORED")) return;
  const { disk } = ports;
  const records = [places.record_path ?? "\0"];
  for (const { path, copy } of begin.anchors) {
    if (disk.stat(copy) === null || disk.stat(placeOf(places.root, path)) === null) continue;
    const state = { path, before: copy, after: placeOf(places.root, path) };
    const skip = (one: string) =>
      [...begin.domains.map((domain) => domain.path), ...records].some(
        (own) => one === own || one.startsWith(`${own}/`),
      );
    const { changes } = await diffAnchors(ports, [state], skip);
    await restoreAnchor(disk, state, changes);
  }
}

async function halt(
  ports: CatalyticPorts,
  { places, run_id }: Unfinished,
  planned: RecoveryPlan,
): Promise<RecoveredRun> {
  const record = new RunRecord(ports, places, run_id);
  record.setStatus({
    status: "halted",
    condition: "RESTORATION_FAILED_DOMAIN_UNREACHABLE",
    message: `${planned.code}: the original of a domain is neither in its place nor aside`,
    next_step: `verbatim catalytic recover ${run_id} --retry | --accept-current --by NAME --reason TEXT`,
  });
  haltLocks(ports, places.state, run_id);
  return { run_id, ...planned };
}

async function clean(ports: CatalyticPorts, places: Places, runId: string, halted: boolean): Promise<void> {
  if (halted) haltLocks(ports, places.state, runId);
  else {
    await ports.disk.discard(places.work);
    releaseLocks(ports, places.state, runId);
  }
}

/** A person's decision about a halted run: accept the domain as it is now. Recorded in the product ledger only. */
export async function acceptCurrent(
  ports: CatalyticPorts,
  state: string,
  decision: { readonly run_id: string; readonly by: string; readonly reason: string },
): Promise<void> {
  const halted = listLocks(ports.disk, ports.host, state).some(
    ({ lock }) => lock.run_id === decision.run_id && lock.halted === true,
  );
  if (!halted) {
    throw new VerbatimError("RUN_NOT_FOUND", { message: `no halted run ${decision.run_id}`, where: decision.run_id });
  }
  await ports.records.append(`catalytic/${decision.run_id}`, "HALT_ACCEPTED", {
    by: decision.by,
    reason: decision.reason,
  });
  await ports.disk.discard(`${worksOf(state)}/${decision.run_id}`);
  releaseLocks(ports, state, decision.run_id);
}

/**
 * Looks again at the domains of a halted run: modes, links and empty folders are put back once more, and when everything
 * equals PRE_TREE the domains are free again. Content is never overwritten.
 */
export async function retryHalted(
  ports: CatalyticPorts,
  state: string,
  record: string,
  runId: string,
): Promise<RecoveredRun> {
  const { disk, host, crypto } = ports;
  const lock = listLocks(disk, host, state).find(
    (seen) => seen.lock.run_id === runId && seen.lock.halted === true,
  )?.lock;
  const pre = readTrees(readArtifact(disk, record, "PRE_TREE.json") ?? undefined);
  if (lock === undefined || pre === null) {
    throw new VerbatimError("RUN_NOT_FOUND", { message: `no halted run ${runId}`, where: runId });
  }
  const strict = readArtifact(disk, record, "JOBSPEC.json")?.["strict_mtime"] === true;
  const read = async () => {
    const post = new Map<string, Tree>();
    for (const domain of pre.keys()) {
      const options = { strict_mtime: strict, max_entries: Number.MAX_SAFE_INTEGER };
      post.set(domain, (await disk.snapshot(placeOf(lock.root, domain), options)).entries as Tree);
    }
    return post;
  };
  repairDomains(disk, lock.root, pre, await read());
  const { condition } = diffTrees(crypto, pre, await read());
  if (condition !== null) {
    return {
      run_id: runId,
      action: "halt",
      code: "RESTORE_FAILED",
      steps: ["COMPARE"],
      final_status: "halted",
      condition,
    };
  }
  await ports.records.append(`catalytic/${runId}`, "HALT_RESOLVED", { domains: [...pre.keys()] });
  releaseLocks(ports, state, runId);
  const steps = ["COMPARE", "RELEASE_LOCKS"];
  return { run_id: runId, action: "recover", code: null, steps, final_status: "unchanged", condition: null };
}
