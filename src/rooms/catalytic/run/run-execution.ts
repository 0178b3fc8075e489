import { formatCanonical, sortedUnique } from "../../../core/canonical/index.ts";
import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { isVerbatimError, type VerbatimError } from "../../../core/errors/index.ts";
import { elapsedSince, formatTime } from "../../../core/time.ts";
import { isRefusalCode } from "../contracts/constants.ts";
import { hashEnv } from "../declare/declare.ts";
import { readRefusals } from "../guard/refusals.ts";
import { Watch, type WatchResult, writeIndex } from "../guard/watch.ts";
import { ConnectionLog, type ConnectionSummary } from "../network/connection-log.ts";
import { OutputLog } from "../outputs/run-output.ts";
import type { RunningCommand } from "../ports.ts";
import { Journal } from "../record/journal.ts";
import { RunRecord } from "../record/run-record.ts";
import { countInside, NO_CHANGES } from "../tree/inside-changes.ts";
import type { Layers } from "../tree/layers.ts";
import { findMemo, type MemoFound, rememberRun } from "../tree/memo-store.ts";
import { hashInputs, type InputHashes, snapshotDomains } from "../tree/snapshots.ts";
import { formatTrees, type Trees } from "../tree/tree.ts";
import { textsOfRun } from "../tree/tree-texts.ts";
import type { CommandResult, Violation } from "../verify/verdict.ts";
import { haltLocks, releaseLocks } from "./lock-files.ts";
import { journalOf, showPlace } from "./places.ts";
import type { RunResult } from "./run.ts";
import { beginRun } from "./run-begin.ts";
import { type CapsOutcome, RunCaps } from "./run-caps.ts";
import { type RunContext, toGuardRecord } from "./run-context.ts";
import { toLaunch } from "./run-launch.ts";
import { proveRun } from "./run-prove.ts";
import { restoreRun } from "./run-restore.ts";
import { isRecord, sealRun, toAnchors } from "./run-seal.ts";

const NOT_EXECUTED: CommandResult = {
  executed: false,
  exit_code: null,
  signal: null,
  timed_out: false,
  interrupted: false,
  orphans_killed: 0,
};

interface Executed {
  readonly command: CommandResult;
  readonly violations: readonly Violation[];
  /** The guard did not start. */
  readonly failure: VerbatimError | null;
}

/** One run from its declaration to its proof. Every step is announced in the journal before it is taken. */
export class RunExecution {
  readonly #context: RunContext;
  #layers!: Layers;
  #watch: Watch | undefined;
  #running: RunningCommand | null = null;
  /** Signals to the tool, in order; those that came before the command ran are told to it when it does. */
  readonly #signals: ("SIGINT" | "SIGTERM")[] = [];
  #launcher: string | null = null;
  #noise: readonly string[] = [];
  /** From the start of the command to its end, without everything around it. */
  commandMs = 0;
  /** Whether the journal says that this run exists. */
  begun = false;

  constructor(parts: Omit<RunContext, "record" | "journal" | "logs" | "connections" | "caps">) {
    const { ports, places, declared, request } = parts;
    const limit = declared.settings.limits.log_bytes;
    this.#context = {
      ...parts,
      record: new RunRecord(ports, places, declared.jobspec.run_id),
      journal: new Journal(ports.disk, journalOf(places)),
      connections: declared.jobspec.network === "allow" ? new ConnectionLog() : null,
      caps: request.caps === undefined ? null : new RunCaps(request.caps),
      logs: {
        stdout: new OutputLog(ports.crypto, limit, ports.redact?.("stdout")),
        stderr: new OutputLog(ports.crypto, limit, ports.redact?.("stderr")),
      },
    };
  }

  /** A signal to the tool: forwarded to the command, or kept for the moment before it starts. */
  interrupt(signal: "SIGINT" | "SIGTERM"): void {
    this.#signals.push(signal);
    this.#running?.interrupt(signal);
  }

  summarizeNetwork(): ConnectionSummary | null {
    return this.#context.connections?.summarize(this.#context.ports.crypto) ?? null;
  }

  get caps(): CapsOutcome | null {
    return this.#context.caps?.outcome ?? null;
  }

  async run(begun: number): Promise<RunResult> {
    const { ports, places, declared, guard, record, logs } = this.#context;
    this.#layers = beginRun(this.#context, (isBegun) => {
      this.begun = isBegun;
    });
    const pre = await this.#snapshot();
    const memo = await findMemo(ports, places, declared, pre.trees, pre.inputs.roots, GUARD_FACTS[guard].class);
    if (declared.jobspec.memo) record.log(memo.hit === null ? "MEMO_MISS" : "MEMO_HIT", memo.note);
    const executed = memo.hit === null ? await this.#execute(pre.trees) : recall(memo);
    const { command } = executed;
    const outside = executed.violations;
    await this.#layers.holdAnchors();
    const sealed = await sealRun(this.#context, {
      layers: this.#layers,
      running: this.#running,
      memo,
      command,
      outside,
    });
    const inside = this.#running === null ? NO_CHANGES : await countInside(this.#context, this.#layers, pre.trees);
    const restored = await restoreRun(this.#context, {
      pre: pre.trees,
      layers: this.#layers,
      anchors: () => toAnchors(this.#context, this.#layers, this.#running),
      changes: sealed.staged.changes,
      running: this.#running,
      command,
      violations: sealed.violations,
    });
    this.#running = null;
    const proved = await proveRun(this.#context, {
      started: formatTime(begun),
      pre,
      restored,
      layers: this.#layers,
      command,
      failure: executed.failure,
      outputs: sealed.outputs,
      staged: sealed.staged,
      violations: sealed.violations,
      memo: memo.hit === null ? null : memo.toRecord(),
      guard: () => toGuardRecord(this.#context, { watch: this.#watch, noise: this.#noise, launcher: this.#launcher }),
      lookAtLast: () => this.#lookAtLast(sealed.violations),
    });
    await ports.records.appendRun(record.entries);
    const { verdict, ending, proof, violations } = proved;
    if (verdict.verified && memo.key !== null && memo.hit === null) {
      await rememberRun(ports, places, memo.key, proof, proved.outputs, command.exit_code ?? 0);
    }
    await this.#clean(ending.status === "halted");
    if (executed.failure !== null) throw executed.failure;
    return {
      run_id: declared.jobspec.run_id,
      run_dir: places.record_path ?? places.record,
      status: ending.status,
      accepted: verdict.verified,
      condition: verdict.condition,
      exit_code: command.exit_code,
      interrupted_by: command.interrupted ? (this.#signals[0] ?? null) : null,
      guard,
      outputs: verdict.verified ? declared.jobspec.outputs.durable_paths : [],
      quarantined: proved.quarantined,
      violations,
      proof_hash: proof.proof_hash,
      duration_ms: elapsedSince(ports.clock, begun),
      message: ending.message,
      next_step: ending.next_step,
      memo_hit: memo.hit !== null,
      noise: this.#noise,
      inside,
      compared: this.#watch?.entries ?? 0,
      refused: readRefusals(GUARD_FACTS[guard].class, logs.stderr.kept()),
    };
  }

  /** Phase 1: everything is read before anything may be written. */
  async #snapshot(): Promise<{ readonly trees: Trees; readonly inputs: InputHashes }> {
    const { ports, places, declared, guard, record, journal, view } = this.#context;
    const { jobspec, policy, settings } = declared;
    this.#watch = new Watch(ports, {
      places,
      policy,
      settings: settings.tripwire,
      jobspec,
      guard_class: GUARD_FACTS[guard].class,
      skip: view === null ? [...jobspec.catalytic_domains, ...this.#layers.anchors] : [],
    });
    view?.watchWith(this.#watch);
    try {
      if (view !== null) await this.#watch.begin(await view.look());
      const trees =
        view === null
          ? await snapshotDomains(ports, places, declared, guard, this.#layers, journal)
          : await view.snapshot();
      const inputs = await hashInputs(ports, places, declared);
      const hash = record.write("PRE_TREE.json", textsOfRun(trees)?.files?.trees ?? formatTrees(trees), "folder");
      journal.record("SNAPSHOT_DONE", view?.toJournal() ?? {});
      if (view === null) await this.#layers.prepare((path) => isRecord(this.#context, path));
      else await view.prepare();
      ports.disk.makeFolders(`${places.work}/tmp`);
      if (view === null) await this.#watch.begin();
      this.#logGuard();
      record.log("SNAPSHOT", { pre_tree_sha256: hash });
      record.setStatus({ status: "snapshotted" });
      return { trees, inputs };
    } catch (thrown) {
      if (!isVerbatimError(thrown) || !isRefusalCode(thrown.code)) throw thrown;
      await this.#refuse(thrown);
      throw thrown;
    }
  }

  /** Which guard, and how much its tripwire has looked at, which is known only after it did. */
  #logGuard(): void {
    const news = { watch: this.#watch, noise: [], launcher: null };
    this.#context.record.log("GUARD_SELECTED", toGuardRecord(this.#context, news));
  }

  /** Found before the command starts: the run ends without a proof, and nothing was run. */
  async #refuse(refusal: VerbatimError): Promise<void> {
    const { ports, record } = this.#context;
    const path = String(refusal.details?.["path"] ?? "");
    await this.#layers.restore();
    this.#logGuard();
    record.log("REFUSED", { code: refusal.code, path });
    const message = `${refusal.code}: ${refusal.message}`;
    record.setStatus({ status: "failed", phase: 1, message, next_step: refusal.fix });
    await ports.records.appendRun(record.entries);
    await this.#clean(false);
    this.begun = false;
  }

  /** Phase 2: the command, then an empty process tree, then a look at everything outside. */
  async #execute(pre: Trees): Promise<Executed> {
    const { ports, declared, record, journal, view } = this.#context;
    const { crypto, guards } = ports;
    journal.record("EXEC_STARTED");
    const commandHash = crypto.sha256(formatCanonical(declared.jobspec.command));
    record.log("EXEC_STARTED", { command_sha256: commandHash, env_sha256: hashEnv(crypto, declared.env) });
    const manifests = textsOfRun(pre)?.files?.manifests;
    let command = NOT_EXECUTED;
    let failure: VerbatimError | null = null;
    if (this.#signals.length > 0) command = { ...NOT_EXECUTED, interrupted: true };
    else {
      try {
        // Before the command may write there: what it wrote to the record must not be hidden by what the tool writes.
        record.setStatus({ status: "executing" });
        const launching = guards.launch(toLaunch(this.#context, this.#layers));
        launching.catch(() => undefined);
        // The guard needs a moment to start, in which this one has nothing to do.
        if (manifests !== undefined) record.foresee(manifests);
        this.#running = await launching;
        const started = ports.clock.now();
        for (const signal of this.#signals) this.#running.interrupt(signal);
        this.#launcher = view?.launcherOf(this.#running.launcher) ?? this.#running.launcher;
        command = { executed: true, ...(await this.#running.ended) };
        this.commandMs = elapsedSince(ports.clock, started);
      } catch (thrown) {
        if (!isVerbatimError(thrown) || thrown.code !== "GUARD_START_FAILED") throw thrown;
        failure = thrown;
      }
    }
    // The tool's own words come after the look at what the command wrote among them.
    const inRecord = await this.#inspect();
    journal.record("EXEC_ENDED");
    record.log("EXEC_ENDED", command);
    // A view is looked at once, at the very end; what is put back in place is also looked at before that.
    const outside = view === null ? this.#noteOutside(await this.#watch!.end()) : [];
    return { command, violations: [...outside, ...inRecord], failure };
  }

  /** The last look at the real tree, after everything the tool does there: what nobody has named yet. */
  async #lookAtLast(known: readonly Violation[]): Promise<readonly Violation[]> {
    const { declared, view } = this.#context;
    const made = this.#layers.everMade;
    const moved = [...declared.jobspec.catalytic_domains, ...this.#layers.anchors];
    const seen = view === null ? await this.#watch!.end({ made, moved }) : await view.lookOutside();
    const found = this.#noteOutside(seen);
    return found.filter(({ path }) => known.every((one) => one.path !== path));
  }

  #noteOutside({ violations, noise }: WatchResult): readonly Violation[] {
    this.#noise = sortedUnique([...this.#noise, ...noise]);
    return violations;
  }

  /** What the command did to the run's own record and journal; nothing of it is trusted. */
  async #inspect(): Promise<Violation[]> {
    const { places, record, journal } = this.#context;
    const shown = places.record_path ?? places.record;
    const touched = (await record.inspect()).map((name) => `${shown}/${name}`);
    if (await journal.mend()) touched.push(showPlace(places, journalOf(places)));
    return touched.map((path) => ({ code: "RUN_DIR_TOUCHED", path }));
  }

  /** Forgets the work directory and gives the locks back; a halted run keeps its locks for a person to decide. */
  async #clean(halted: boolean): Promise<void> {
    const { ports, request, declared, places, journal } = this.#context;
    const { run_id: runId } = declared.jobspec;
    writeIndex(ports.disk, places, declared.jobspec, true);
    if (request.keep_work !== true) await ports.disk.discard(places.work);
    else journal.record("CLEANED");
    if (halted) haltLocks(ports, places.state, runId);
    else releaseLocks(ports, places.state, runId);
  }
}

function recall(memo: MemoFound): Executed {
  return { command: { ...NOT_EXECUTED, exit_code: memo.hit!.exit_code }, violations: [], failure: null };
}
