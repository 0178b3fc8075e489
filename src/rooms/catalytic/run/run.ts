import { GUARD_NAMES, type GuardName } from "../../../core/contracts/guards.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { type Declared, declareGuard, declareRun, type RunRequest } from "../declare/declare.ts";
import { chooseGuard, describeGuard, GUARD_FIXES, guardOrder } from "../guard/guard-choice.ts";
import type { Refusals } from "../guard/refusals.ts";
import type { ConnectionSummary } from "../network/connection-log.ts";
import type { CatalyticPorts } from "../ports.ts";
import { Journal } from "../record/journal.ts";
import type { RunStatus } from "../record/run-record.ts";
import { recoverDead, recoverOwn } from "../recover/recover.ts";
import type { InsideChanges } from "../tree/inside-changes.ts";
import type { Condition, Violation } from "../verify/verdict.ts";
import { ViewRun } from "../view/view-run.ts";
import { acquireLocks, releaseLocks } from "./lock-files.ts";
import { claimedPaths, journalOf, type Places, placeOf, worksOf } from "./places.ts";
import type { CapsOutcome } from "./run-caps.ts";
import { RunExecution } from "./run-execution.ts";

/** What a run gives back to whoever asked for it. */
export interface RunResult {
  readonly run_id: string;
  readonly run_dir: string;
  readonly status: RunStatus;
  readonly accepted: boolean;
  readonly condition: Condition;
  readonly exit_code: number | null;
  /** The signal that interrupted the tool, or null. */
  readonly interrupted_by: "SIGINT" | "SIGTERM" | null;
  readonly guard: GuardName;
  readonly outputs: readonly string[];
  readonly quarantined: readonly string[];
  readonly violations: readonly Violation[];
  readonly proof_hash: string | null;
  readonly duration_ms: number;
  readonly message: string;
  readonly next_step: string;
  readonly memo_hit: boolean;
  readonly noise: readonly string[];
  /** What the command did in its domains before they were put back. */
  readonly inside: InsideChanges;
  /** Paths outside whose stat was compared before and after. */
  readonly compared: number;
  /** What the command said about writes that the guard refused. */
  readonly refused: Refusals;
}

/**
 * Runs a command in its catalytic domains: declare, snapshot, execute, commit, restore, prove (CMP-01). A request that
 * may not run throws and leaves nothing but a ledger entry; everything else ends in a run directory with a verdict.
 *
 * @example
 * declare const request: Parameters<typeof runCatalytic>[1];
 * const room = openCatalytic("path/to/repository");
 * const run = await runCatalytic(room.ports, request);
 * await room.close();
 */
export async function runCatalytic(ports: CatalyticPorts, request: RunRequest): Promise<RunResult> {
  const { run } = await startCatalytic(ports, request);
  return run;
}

/** As `runCatalytic`, with what a view changed. */
export async function startCatalytic(
  ports: CatalyticPorts,
  request: RunRequest,
): Promise<{
  readonly run: RunResult;
  readonly view: ViewRun | null;
  readonly command_ms: number;
  /** What the command did with the network, where it was left single hosts. */
  readonly connections: ConnectionSummary | null;
  readonly caps: CapsOutcome | null;
}> {
  const begun = ports.clock.now();
  const declared = await declareRun(ports, request);
  for (const line of await recoverDead(ports, request.state)) ports.notify(line);
  const guard = await avoidForeignOwners(ports, declared, request.root, await selectGuard(ports, declared));
  await declareGuard(ports, request, declared, guard);
  const { network } = declared.jobspec;
  if (ports.announceGuard === undefined) ports.notify(describeGuard(guard, network));
  else ports.announceGuard(guard, network);
  const { jobspec } = declared;
  const places = toPlaces(declared, request);
  const paths = jobspec.view ? ["."] : claimedPaths(jobspec);
  const lock = { run_id: jobspec.run_id, root: request.root, paths, shared: jobspec.view };
  if (request.view?.locked !== true) await acquireLocks(ports, request.state, lock);
  ports.disk.makeFolders(worksOf(request.state));
  const view = jobspec.view ? new ViewRun(ports, request, declared, places, guard) : null;
  const execution = new RunExecution({ ports, request, declared, places, guard, view });
  const stop = ports.interrupts.listen((signal) => execution.interrupt(signal));
  try {
    const run = await execution.run(begun);
    const { commandMs: command_ms, caps } = execution;
    return { run, view, command_ms, connections: execution.summarizeNetwork(), caps };
  } catch (thrown) {
    if (execution.begun) await putBack(ports, places, jobspec.run_id);
    else releaseLocks(ports, request.state, jobspec.run_id);
    throw thrown;
  } finally {
    view?.close();
    stop();
  }
}

/** After a failure inside the tool: the run is put back at once, or left for `recover` when even that fails. */
async function putBack(ports: CatalyticPorts, places: Places, runId: string): Promise<void> {
  try {
    await recoverOwn(ports, places, runId);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    ports.notify(
      `run ${runId} could not be put back: ${why}. When that is fixed, run: verbatim catalytic recover ${runId}`,
    );
    try {
      new Journal(ports.disk, journalOf(places)).record("LEFT");
    } catch (second) {
      // The journal says what was begun; that nobody works on it any more shows when this process is gone.
      if (!isVerbatimError(second) || second.code !== "DISK_FULL") throw second;
    }
  }
}

function toPlaces({ policy, jobspec }: Declared, request: RunRequest): Places {
  const { root, state } = request;
  const inside = request.runs === undefined;
  return {
    root,
    state,
    record: `${request.runs ?? placeOf(root, policy.runs_root)}/${jobspec.run_id}`,
    record_path: inside ? `${policy.runs_root}/${jobspec.run_id}` : null,
    // The upper side of an overlay must not be inside its own lower side.
    work: jobspec.view ? `${request.user_state}/work/${jobspec.run_id}` : `${worksOf(state)}/${jobspec.run_id}`,
  };
}

async function listDomain(
  { disk }: CatalyticPorts,
  { settings }: Declared,
  place: string,
): Promise<ReadonlyMap<string, string> | null> {
  try {
    return (await disk.scan(place, { from: [""], skip: () => false, max_entries: settings.limits.max_entries })).packed;
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "TRIPWIRE_TOO_LARGE") return null;
    throw thrown;
  }
}

/**
 * An overlay without root cannot copy up what belongs to someone else. A choice that was left to the tool moves on to
 * the next guard and says so; a guard that was named refuses later, in the snapshot.
 */
async function avoidForeignOwners(
  ports: CatalyticPorts,
  declared: Declared,
  root: string,
  guard: GuardName,
): Promise<GuardName> {
  const { guard: requested, catalytic_domains: domains, view } = declared.jobspec;
  const isFree = requested === "auto" || requested === "require";
  if (guard !== "ns-overlay" || ports.host.uid === 0 || !isFree || view) return guard;
  for (const domain of domains) {
    const packed = await listDomain(ports, declared, placeOf(root, domain));
    // More than may be read: the snapshot refuses it as a domain that is too large.
    if (packed === null) return guard;
    for (const [path, text] of packed) {
      const { uid, gid } = ports.disk.unpack(text);
      if (uid === ports.host.uid && gid === ports.host.gid) continue;
      ports.notify(`FOREIGN_OWNER: ${domain}/${path} belongs to another user, so ns-overlay cannot be used`);
      return selectGuard(ports, declared, ["ns-overlay"]);
    }
  }
  return guard;
}

/** The guard of a run out of what actually works here, or throws GUARD_UNAVAILABLE or NETWORK_NOT_ENFORCEABLE. */
export async function selectGuard(
  ports: Pick<CatalyticPorts, "guards" | "host">,
  { jobspec }: Pick<Declared, "jobspec">,
  except: readonly GuardName[] = [],
): Promise<GuardName> {
  const probes = { ...(await ports.guards.probe(false)) };
  for (const name of except) delete probes[name];
  const choice = chooseGuard(ports.host.platform, jobspec.guard, probes, jobspec.network);
  if (choice.guard !== null) return choice.guard;
  throw refuseGuard(ports.host.platform, jobspec, probes, choice.error);
}

/** Which guard, why it does not work, how to enable it, and which one would run. */
function refuseGuard(
  platform: string,
  { guard: requested, network }: Declared["jobspec"],
  probes: Awaited<ReturnType<CatalyticPorts["guards"]["probe"]>>,
  code: "GUARD_UNAVAILABLE" | "NETWORK_NOT_ENFORCEABLE",
): VerbatimError {
  const order = guardOrder(platform);
  const named = GUARD_NAMES.find((name) => name === requested);
  const asked = named === undefined ? order.filter((name) => name !== "audit") : [named];
  const answers = asked.map(
    (name) => [name, order.includes(name) ? (probes[name] ?? "ok") : "NOT_THIS_PLATFORM"] as const,
  );
  const shown = answers.map(([name, answer]) =>
    answer === "ok" ? `${name} cannot ${network === "allow" ? "limit" : "cut off"} the network` : `${name}: ${answer}`,
  );
  const fixes = new Set(answers.flatMap(([, answer]) => (answer === "ok" ? [] : [GUARD_FIXES[answer]])));
  const other = chooseGuard(platform, "auto", probes, network).guard;
  if (other !== null) fixes.add(`--guard ${other} would run.`);
  const found = `${requested}, network ${network}: ${shown.join(", ") || "there is no guard on this platform"}`;
  return new VerbatimError(code, {
    message: { cli: `--guard ${found}`, others: `guard ${found}` },
    where: requested,
    fix: [...fixes, "See verbatim catalytic doctor."].join(" "),
    details: { requested, network, probes },
  });
}
