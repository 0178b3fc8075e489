import { decodeUtf8, type JsonValue } from "../../../core/canonical/index.ts";
import { PROOF_FILE } from "../contracts/constants.ts";
import { rollBackOutput } from "../outputs/publish.ts";
import { diffAnchors, restoreAnchor } from "../outputs/staging.ts";
import type { CatalyticPorts } from "../ports.ts";
import { readRecord } from "../record/record-files.ts";
import { readWholeEntries } from "../record/run-ledger.ts";
import { RunRecord } from "../record/run-record.ts";
import { haltLocks, releaseLocks } from "../run/lock-files.ts";
import { type Places, placeOf, reserveOf } from "../run/places.ts";
import { findOriginal, holdAnchor, removeMade, swapBack } from "../tree/layers.ts";
import { verifyRun } from "../verify/verify.ts";
import { keepLeftView } from "./left-view.ts";
import { proveRecovered } from "./recover-proof.ts";
import { planRecovery, type RecoveryFacts, type RecoveryPlan } from "./recovery.ts";
import { isKept, listUnfinished, sweepOrphans, type Unfinished } from "./unfinished.ts";

/** What recovery did, or would do, about one run. */
export interface RecoveredRun {
  readonly run_id: string;
  readonly action: RecoveryPlan["action"];
  readonly code: string | null;
  readonly steps: readonly string[];
  readonly final_status: RecoveryPlan["final_status"];
  readonly condition: string | null;
}

/** Puts back every run whose owner is certainly dead; says what it did, a line each. */
export async function recoverDead(ports: CatalyticPorts, state: string): Promise<string[]> {
  await sweepOrphans(ports, state);
  const lines: string[] = [];
  for (const run of listUnfinished(ports, state)) {
    if (run.owner !== "dead" || isKept(run.journal)) continue;
    const done = await recoverRun(ports, run, false);
    // It waits for a person and is told with its locks; nothing was done.
    if (isHaltedStill(done)) continue;
    lines.push(
      `recovered run ${done.run_id}: ${done.final_status ?? done.action}${done.condition === null ? "" : `, ${done.condition}`}`,
    );
  }
  return lines;
}

/**
 * Recovers one run or all that did not end. A dry run only says what would be done.
 *
 * @example
 * const room = openCatalytic("path/to/repository");
 * const done = await recoverRuns(room.ports, ".verbatim/state", { run_id: null, dry_run: true, force: false });
 * await room.close();
 */
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

async function plan(ports: CatalyticPorts, run: Unfinished, force: boolean): Promise<RecoveryPlan> {
  return planFrom(await gatherFacts(ports, run, force));
}

interface Facts extends RecoveryFacts {
  /** How the domains differ from what they were, as the genuine proof of this run says; null without one. */
  readonly unrestored: string | null;
}

/** A run whose own proof says that its domains could not be put back has not ended: that is for a person to decide. */
function planFrom(facts: Facts): RecoveryPlan {
  const found = planRecovery(facts);
  if (found.action !== "finish" || facts.unrestored === null) return found;
  return { action: "halt", code: "RESTORE_FAILED", steps: [], final_status: "halted", condition: facts.unrestored };
}

function isHaltedStill({ action, code, steps }: Pick<RecoveryPlan, "action" | "code" | "steps">): boolean {
  return action === "halt" && code === "RESTORE_FAILED" && steps.length === 0;
}

async function gatherFacts(ports: CatalyticPorts, run: Unfinished, force: boolean): Promise<Facts> {
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
    staged,
    identical: true,
    ...(await judgeProof(ports, run)),
  };
}

async function judgeProof(
  ports: CatalyticPorts,
  { places, run_id }: Unfinished,
): Promise<Pick<Facts, "proof" | "unrestored">> {
  const { disk, crypto } = ports;
  if (disk.stat(`${places.record}/${PROOF_FILE}`) === null) return { proof: "absent", unrestored: null };
  const files = readRecord(disk, places.record);
  const options = { pins: [], policy_sha256: null, tree: "skip", strict_tree: false } as const;
  const { genuine, condition } = await verifyRun(crypto, { name: run_id, files }, options);
  if (!genuine) return { proof: "forged", unrestored: null };
  return { proof: "genuine", unrestored: condition?.startsWith("RESTORATION_FAILED") === true ? condition : null };
}

/** Takes the steps of the plan. Each can be taken again after a crash in the middle. */
async function recoverRun(ports: CatalyticPorts, run: Unfinished, force: boolean): Promise<RecoveredRun> {
  const { disk } = ports;
  const { places, begin, journal, run_id } = run;
  const facts = await gatherFacts(ports, run, force);
  const first = planFrom(facts);
  if (first.action === "skip" || first.action === "refuse") return { run_id, ...first };
  // On a full disk nothing can be written before something is deleted.
  disk.removeFile(reserveOf(places));
  for (const name of disk.list(places.record) ?? [])
    if (name.startsWith(".tmp-")) disk.removeFile(`${places.record}/${name}`);
  if (first.action === "finish" || isHaltedStill(first)) {
    await ports.records.appendRun(readEntries(ports, places, run_id));
    await clean(ports, places, run_id, first.action === "halt");
    return { run_id, ...first };
  }
  await ports.guards.endMarked({ run_id, work: places.work });
  if (first.action === "halt") return halt(ports, run, first);
  await keepLeftView(ports, run);
  await freeScratch(ports, run);
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

/** Deletes what the command wrote and nobody needs: upper layers, private folders, copies that were not swapped in. */
async function freeScratch({ disk }: CatalyticPorts, { places, begin }: Unfinished): Promise<void> {
  const keepsCopies = begin.method === "swap-back" && begin.domains.length + begin.anchors.length > 0;
  const scratch = keepsCopies ? /^(?:up|wk|tmp$)/ : /^(?:up|wk|cp|tmp$)/;
  for (const name of disk.list(places.work) ?? []) {
    if (scratch.test(name)) await disk.discard(`${places.work}/${name}`);
  }
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
    const was = disk.stat(copy);
    if (was === null) continue;
    await holdAnchor(disk, places, path, was.mode);
    const state = { path, before: copy, after: placeOf(places.root, path) };
    const skip = (one: string) =>
      [...begin.domains.map((domain) => domain.path), ...records].some(
        (own) => one === own || one.startsWith(`${own}/`),
      );
    // Whatever has another size is put back, unread.
    const { changes } = await diffAnchors(ports, [state], skip, 0);
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
    message: `${planned.code}: the original of a domain is neither in its place nor where it was set aside`,
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
