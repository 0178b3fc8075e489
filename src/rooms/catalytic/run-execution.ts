import { formatCanonical, sortedByCodePoint, sortedUnique } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { formatTime } from "../../core/time.ts";
import { closeRun } from "./closing.ts";
import { commandEnv, type Declared, hashEnv, type RunRequest } from "./declare.ts";
import { diffTrees, type Mismatch } from "./diff.ts";
import { DETECTS, GUARD_FACTS } from "./guard-choice.ts";
import { Journal, readJournal } from "./journal.ts";
import { asideOf, isLookedAfter, Layers } from "./layers.ts";
import { haltLocks, ownerOf, releaseLocks } from "./locks.ts";
import { findMemo, type MemoFound, rememberRun } from "./memo-store.ts";
import { type OutputItem, type SealedOutputs, sealOutputs } from "./outputs.ts";
import { isInside } from "./path-rules.ts";
import { anchorOf, anchorsOf, journalOf, type Places, placeOf } from "./places.ts";
import type { CatalyticPorts, Layer, RunningCommand } from "./ports.ts";
import type { GuardRecord, MemoRecord, Proof } from "./proof.ts";
import { publishOutputs, quarantine, rollBackOutput } from "./publish.ts";
import type { RunResult } from "./run.ts";
import { explainEnding } from "./run-message.ts";
import { OutputLog } from "./run-output.ts";
import { RunRecord } from "./run-record.ts";
import { hashInputs, type InputHashes, repairDomains, snapshotDomains } from "./snapshots.ts";
import { type AnchorDiff, type AnchorState, restoreAnchor, type StagedOutputs, stageOutputs } from "./staging.ts";
import { formatTrees, type Trees } from "./tree.ts";
import { type CommandResult, decideVerdict, type Verdict, type Violation } from "./verdict.ts";
import type { ViewRun } from "./view-run.ts";
import { Watch, writeIndex } from "./watch.ts";
import { type GuardName, isRefusalCode } from "./words.ts";

const NOT_EXECUTED: CommandResult = {
  executed: false,
  exit_code: null,
  signal: null,
  timed_out: false,
  interrupted: false,
  orphans_killed: 0,
};

const NO_STAGE: StagedOutputs & { readonly changes: AnchorDiff } = {
  entries: new Map(),
  not_utf8: new Set(),
  changes: new Map(),
};

/** One run from its declaration to its proof. Every step is announced in the journal before it is taken. */
export class RunExecution {
  readonly #ports: CatalyticPorts;
  readonly #request: RunRequest;
  readonly #declared: Declared;
  readonly #places: Places;
  readonly #guard: GuardName;
  readonly #record: RunRecord;
  readonly #journal: Journal;
  readonly #view: ViewRun | null;
  readonly #logs: { readonly stdout: OutputLog; readonly stderr: OutputLog };
  #layers!: Layers;
  #watch!: Watch;
  #running: RunningCommand | null = null;
  /** Signals to the tool, in order; those that came before the command ran are told to it when it does. */
  readonly #signals: ("SIGINT" | "SIGTERM")[] = [];
  #launcher: string | null = null;
  #noise: readonly string[] = [];
  #started = "";
  /** Whether the journal says that this run exists. */
  begun = false;

  constructor(
    ports: CatalyticPorts,
    request: RunRequest,
    declared: Declared,
    places: Places,
    guard: GuardName,
    view: ViewRun | null,
  ) {
    this.#ports = ports;
    this.#request = request;
    this.#declared = declared;
    this.#places = places;
    this.#guard = guard;
    this.#view = view;
    this.#record = new RunRecord(ports, places, declared.jobspec.run_id);
    this.#journal = new Journal(ports.disk, journalOf(places));
    const limit = declared.settings.limits.log_bytes;
    this.#logs = { stdout: new OutputLog(ports.crypto, limit), stderr: new OutputLog(ports.crypto, limit) };
  }

  /** A signal to the tool: forwarded to the command, or kept for the moment before it starts. */
  interrupt(signal: "SIGINT" | "SIGTERM"): void {
    this.#signals.push(signal);
    this.#running?.interrupt(signal);
  }

  async run(begun: number): Promise<RunResult> {
    this.#started = formatTime(begun);
    this.#declare();
    const facts = GUARD_FACTS[this.#guard];
    const pre = await this.#snapshot();
    const memo = await findMemo(this.#ports, this.#places, this.#declared, pre.trees, pre.inputs.roots, facts.class);
    if (this.#declared.jobspec.memo) this.#record.log(memo.hit === null ? "MEMO_MISS" : "MEMO_HIT", memo.note);
    const executed = memo.hit === null ? await this.#execute() : this.#recall(memo);
    const sealed = await this.#seal(executed.command, memo, executed.violations);
    const restored = await this.#restore(pre.trees, executed.command, sealed);
    return this.#prove(begun, pre, restored, executed, sealed, memo);
  }

  /** Phase 0: work directory, journal, run directory, the declaration. */
  #declare(): void {
    const { disk, host } = this.#ports;
    const { jobspec, policy } = this.#declared;
    const { work, record, root } = this.#places;
    disk.makeFolders(parent(work));
    if (!disk.createFolder(work, 0o700)) throw runIdExists(jobspec.run_id);
    const anchors = anchorsOf(jobspec.outputs.durable_paths);
    const paths = this.#view === null ? jobspec.catalytic_domains : [];
    const domains = paths.map((path, i) => {
      const facts = disk.stat(placeOf(root, path));
      const aside = asideOf(disk, this.#places, jobspec.run_id, path, i);
      return { path, dev: facts?.dev ?? null, ino: facts?.ino ?? null, aside, copy: `${work}/cp${i}` };
    });
    const method = GUARD_FACTS[this.#guard].restore_method;
    this.#layers = new Layers(disk, this.#journal, this.#places, {
      method,
      domains,
      anchors,
      folders: sortedUnique(jobspec.outputs.durable_paths.map(anchorOf)),
    });
    this.#journal.record("BEGIN", {
      run_id: jobspec.run_id,
      root,
      record,
      guard: this.#guard,
      method,
      domains,
      anchors: anchors.map((path, i) => ({ path, copy: `${work}/cp${domains.length + i}` })),
      ...ownerOf(host),
    });
    disk.syncFolder(work);
    this.begun = true;
    disk.makeFolders(parent(record));
    if (!disk.createFolder(record, 0o755)) {
      this.begun = false;
      disk.removeFile(journalOf(this.#places));
      disk.removeEmptyFolder(work);
      throw runIdExists(jobspec.run_id);
    }
    writeIndex(disk, this.#places, jobspec, false);
    const jobspecHash = this.#record.write("JOBSPEC.json", formatCanonical(jobspec));
    const policyHash = this.#record.write("POLICY.json", formatCanonical(policy));
    this.#record.setStatus({ status: "declared" });
    this.#record.log("DECLARED", { jobspec_sha256: jobspecHash, policy_sha256: policyHash });
    this.#record.log("GUARD_SELECTED", this.#toGuardRecord());
  }

  /** Phase 1: everything is read before anything may be written. */
  async #snapshot(): Promise<{ readonly trees: Trees; readonly inputs: InputHashes }> {
    const { disk } = this.#ports;
    const { jobspec, policy, settings } = this.#declared;
    const skip = this.#view === null ? [...jobspec.catalytic_domains, ...this.#layers.anchors] : [];
    this.#watch = new Watch(this.#ports, {
      places: this.#places,
      policy,
      settings: settings.tripwire,
      jobspec,
      guard_class: GUARD_FACTS[this.#guard].class,
      skip,
    });
    try {
      if (this.#view !== null) await this.#watch.begin(await this.#view.look());
      const trees =
        this.#view === null
          ? await snapshotDomains(this.#ports, this.#places, this.#declared, this.#guard, this.#layers, this.#journal)
          : await this.#view.snapshot();
      const inputs = await hashInputs(this.#ports, this.#places, this.#declared);
      const hash = this.#record.write("PRE_TREE.json", formatTrees(trees), "folder");
      this.#record.log("SNAPSHOT", { pre_tree_sha256: hash });
      this.#journal.record("SNAPSHOT_DONE");
      if (this.#view === null) await this.#layers.prepare((path) => this.#isForeignRecord(path));
      else await this.#view.prepare();
      disk.makeFolders(`${this.#places.work}/tmp`);
      if (this.#view === null) await this.#watch.begin();
      this.#record.setStatus({ status: "snapshotted" });
      return { trees, inputs };
    } catch (thrown) {
      if (!isVerbatimError(thrown) || !isRefusalCode(thrown.code)) throw thrown;
      await this.#refuse(thrown);
      throw thrown;
    }
  }

  /** Found before the command starts: the run ends without a proof, and nothing was run. */
  async #refuse(refusal: VerbatimError): Promise<void> {
    const path = String(refusal.details?.["path"] ?? "");
    await this.#layers.restore();
    this.#record.log("REFUSED", { code: refusal.code, path });
    const message = `${refusal.code}: ${refusal.message}`;
    this.#record.setStatus({ status: "failed", phase: 1, message, next_step: refusal.fix });
    await this.#appendToProduct();
    await this.#clean(false);
    this.begun = false;
  }

  /** Phase 2: the command, then an empty process tree, then a look at everything outside. */
  async #execute(): Promise<{
    readonly command: CommandResult;
    readonly violations: readonly Violation[];
    readonly failure: VerbatimError | null;
  }> {
    const { crypto, guards } = this.#ports;
    const { jobspec, env } = this.#declared;
    this.#journal.record("EXEC_STARTED");
    const commandHash = crypto.sha256(formatCanonical(jobspec.command));
    this.#record.log("EXEC_STARTED", { command_sha256: commandHash, env_sha256: hashEnv(crypto, env) });
    let command = NOT_EXECUTED;
    let failure: VerbatimError | null = null;
    if (this.#signals.length > 0) command = { ...NOT_EXECUTED, interrupted: true };
    else {
      try {
        this.#running = await guards.launch(this.#toLaunch());
        for (const signal of this.#signals) this.#running.interrupt(signal);
        this.#launcher = this.#view?.launcherOf(this.#running.launcher) ?? this.#running.launcher;
        this.#record.setStatus({ status: "executing" });
        command = { executed: true, ...(await this.#running.ended) };
      } catch (thrown) {
        if (!isVerbatimError(thrown) || thrown.code !== "GUARD_START_FAILED") throw thrown;
        failure = thrown;
      }
    }
    this.#journal.record("EXEC_ENDED");
    this.#record.log("EXEC_ENDED", command);
    const { violations, noise, after } = await this.#watch.end();
    const touched = await this.#record.inspect();
    const shown = this.#places.record_path ?? this.#places.record;
    const inRecord = touched.map((name) => ({ code: "RUN_DIR_TOUCHED", path: `${shown}/${name}` }));
    const outside = this.#view === null ? violations : this.#view.judge(violations, after);
    this.#noise = noise;
    return { command, violations: [...outside, ...inRecord], failure };
  }

  #recall(memo: MemoFound): {
    readonly command: CommandResult;
    readonly violations: readonly Violation[];
    readonly failure: null;
  } {
    return { command: { ...NOT_EXECUTED, exit_code: memo.hit!.exit_code }, violations: [], failure: null };
  }

  #toLaunch() {
    const { jobspec, env } = this.#declared;
    const { root, work } = this.#places;
    const isNamespace = GUARD_FACTS[this.#guard].class === "namespace";
    const own = {
      layers: isNamespace ? this.#layers.toLayers() : [],
      writable: isNamespace ? [] : this.#layers.toWritable(),
      holes: [],
      keeps: [],
      cwd: placeOf(root, jobspec.cwd),
    };
    return {
      guard: this.#guard,
      run_id: jobspec.run_id,
      root,
      work,
      command: jobspec.command,
      env: commandEnv(env, work, jobspec.run_id, this.#request.extra_env ?? {}),
      network: jobspec.network,
      timeout_ms: jobspec.timeout_ms,
      stdin: this.#request.stdin ?? "null",
      onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => {
        this.#logs[stream].add(bytes);
        this.#ports.onOutput(stream, bytes);
      },
      ...(this.#view?.launch() ?? own),
    };
  }

  /** Phase 3a: outputs leave the reach of the command, are listed and judged. */
  async #seal(
    command: CommandResult,
    memo: MemoFound,
    outside: readonly Violation[],
  ): Promise<{
    readonly sealed: SealedOutputs;
    readonly staged: StagedOutputs;
    readonly changes: AnchorDiff;
    readonly violations: readonly Violation[];
  }> {
    const { crypto } = this.#ports;
    const { jobspec, policy, settings } = this.#declared;
    const outputs = jobspec.outputs.durable_paths;
    const found =
      memo.hit !== null
        ? { ...NO_STAGE, entries: await memo.stage(`${this.#places.work}/stage`) }
        : this.#running === null || outputs.length === 0
          ? NO_STAGE
          : await stageOutputs(this.#ports, {
              outputs,
              anchors: this.#toAnchors(),
              stage: `${this.#places.work}/stage`,
              made: this.#layers.made,
              max_bytes: settings.limits.quarantine_bytes,
              skip: (path) => this.#isOthers(path),
            });
    if (this.#view !== null && this.#running !== null) await this.#view.collect(this.#running, this.#record);
    const expected = command.exit_code !== null && jobspec.expected_exit_codes.includes(command.exit_code);
    const ended = expected && !command.timed_out && !command.interrupted;
    const sealed = sealOutputs(crypto, outputs, found, policy.runs_root, ended);
    const violations = [...outside, ...sealed.violations];
    for (const violation of violations) this.#record.log("VIOLATION", violation);
    this.#record.log("OUTPUTS_SEALED", { outputs_root: sealed.outputs_root, count: sealed.outputs.length });
    this.#journal.record("SEALED");
    this.#record.setStatus({ status: "sealed", exit_code: command.exit_code, violations });
    return { sealed, staged: found, changes: found.changes, violations };
  }

  /** Phase 4: the originals are where they were; every byte is hashed again. */
  async #restore(
    pre: Trees,
    command: CommandResult,
    sealed: { readonly changes: AnchorDiff; readonly violations: readonly Violation[] },
  ): Promise<{
    readonly post: Trees;
    readonly unreachable: ReadonlyMap<string, string>;
    readonly mismatches: readonly Mismatch[];
  }> {
    const method = GUARD_FACTS[this.#guard].restore_method;
    if (method === "swap-back")
      for (const anchor of this.#toAnchors()) await restoreAnchor(this.#ports.disk, anchor, sealed.changes);
    await this.#running?.release();
    this.#running = null;
    await this.#layers.restore();
    this.#journal.record("RESTORED", { attempt: 1 });
    this.#record.log("RESTORED", { attempt: 1, method });
    let seen = await this.#look(pre);
    if (seen.mismatches.length > 0 || seen.unreachable.size > 0) {
      await this.#layers.restore();
      repairDomains(this.#ports.disk, this.#places.root, pre, seen.post);
      this.#journal.record("RESTORED", { attempt: 2 });
      this.#record.log("RESTORED", { attempt: 2, method });
      seen = await this.#look(pre);
    }
    this.#record.setStatus({ status: "restored", exit_code: command.exit_code, violations: sealed.violations });
    return seen;
  }

  async #look(pre: Trees) {
    const { crypto } = this.#ports;
    const taken =
      this.#view === null
        ? await snapshotDomains(this.#ports, this.#places, this.#declared, this.#guard, null, this.#journal).then(
            (post) => ({ post, unreachable: new Map<string, string>() }),
            (thrown: unknown) => this.#unreachable(pre, thrown),
          )
        : await this.#view.lookAgain(pre);
    const diff = diffTrees(crypto, pre, taken.post);
    // The same trees are kept once, so that everything that follows from them is computed once.
    return { ...taken, post: diff.mismatches.length === 0 ? pre : taken.post, mismatches: diff.mismatches };
  }

  #unreachable(pre: Trees, thrown: unknown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const folder = String(thrown.details?.["domain"] ?? [...pre.keys()][0] ?? "");
    const post = new Map([...pre].map(([domain, tree]) => [domain, domain === folder ? new Map() : tree]));
    return { post, unreachable: new Map([[folder, `${thrown.code} ${String(thrown.details?.["path"] ?? "")}`]]) };
  }

  /** Phase 5: the verdict; outputs are published or kept in quarantine; the proof is written last. */
  async #prove(
    begun: number,
    pre: { readonly trees: Trees; readonly inputs: InputHashes },
    restored: {
      readonly post: Trees;
      readonly unreachable: ReadonlyMap<string, string>;
      readonly mismatches: readonly Mismatch[];
    },
    executed: { readonly command: CommandResult; readonly failure: VerbatimError | null },
    sealed: {
      readonly sealed: SealedOutputs;
      readonly staged: StagedOutputs;
      readonly violations: readonly Violation[];
    },
    memo: MemoFound,
  ): Promise<RunResult> {
    const { crypto, clock } = this.#ports;
    const { jobspec } = this.#declared;
    const { violations } = sealed;
    const verdict = decideVerdict({
      mismatches: restored.mismatches,
      unreachable: restored.unreachable.size > 0,
      violations,
      command_result: executed.command,
      expected_exit_codes: jobspec.expected_exit_codes,
      recovered: false,
    });
    const postHash =
      restored.post === pre.trees
        ? this.#record.hashOf("PRE_TREE.json")
        : crypto.sha256(`${formatTrees(restored.post)}\n`);
    const { domains_identical, condition } = verdict;
    this.#journal.record("COMPARED");
    this.#record.log("COMPARED", { domains_identical, condition, post_tree_sha256: postHash });
    const outputs = verdict.verified ? sealed.sealed.outputs : [];
    const quarantined = await this.#commit(verdict, sealed);
    const ending = explainEnding({
      run_id: jobspec.run_id,
      verdict,
      command: executed.command,
      violations,
      mismatches: restored.mismatches,
      domains: jobspec.catalytic_domains.length,
      quarantined,
      record: this.#places.record_path ?? this.#places.record,
      failure: executed.failure,
    });
    const memoRecord: MemoRecord | null = memo.hit === null ? null : memo.toRecord();
    const proof = await this.#close({
      pre: pre.trees,
      post: restored.post,
      unreachable: restored.unreachable,
      inputs: pre.inputs.hashes,
      command: executed.command,
      violations,
      outputs,
      memo: memoRecord,
      verdict,
      mismatches: restored.mismatches,
      ending,
    });
    this.#journal.record("PROOF_WRITTEN");
    await this.#appendToProduct();
    if (verdict.verified && memo.key !== null && memo.hit === null) {
      await rememberRun(this.#ports, this.#places, memo.key, proof, outputs, executed.command.exit_code ?? 0);
    }
    await this.#clean(ending.status === "halted");
    if (executed.failure !== null) throw executed.failure;
    const result: RunResult = {
      run_id: jobspec.run_id,
      run_dir: this.#places.record_path ?? this.#places.record,
      status: ending.status,
      accepted: verdict.verified,
      condition,
      exit_code: executed.command.exit_code,
      interrupted_by: executed.command.interrupted ? (this.#signals[0] ?? null) : null,
      guard: this.#guard,
      outputs: verdict.verified ? jobspec.outputs.durable_paths : [],
      quarantined,
      violations,
      proof_hash: proof.proof_hash,
      duration_ms: clock.now() - begun,
      message: ending.message,
      next_step: ending.next_step,
      memo_hit: memo.hit !== null,
      noise: this.#noise,
    };
    return result;
  }

  /** Phase 3b, or quarantine. */
  async #commit(verdict: Verdict, sealed: { readonly staged: StagedOutputs }): Promise<readonly string[]> {
    const { disk } = this.#ports;
    const { outputs } = this.#declared.jobspec;
    if (verdict.verified) {
      const made = (path: string) => this.#layers.makeFolders(path);
      const published = await publishOutputs(disk, this.#journal, this.#places, outputs.durable_paths, made);
      const removed = published.flatMap((one) => one.removed);
      const paths = sortedByCodePoint(sealed.staged.entries.keys());
      this.#record.log("PUBLISHED", removed.length > 0 ? { paths, removed } : { paths });
      return [];
    }
    const kept = await quarantine(disk, this.#places, sealed.staged.entries);
    if (kept !== null) this.#record.write("QUARANTINE.json", kept.text);
    this.#record.log("QUARANTINED", { paths: kept?.paths ?? [] });
    return (kept?.paths ?? []).filter((path) => sealed.staged.entries.get(path)?.type !== "dir");
  }

  async #close(facts: {
    readonly pre: Trees;
    readonly post: Trees;
    readonly unreachable: ReadonlyMap<string, string>;
    readonly inputs: ReadonlyMap<string, string>;
    readonly command: CommandResult;
    readonly violations: readonly Violation[];
    readonly outputs: readonly OutputItem[];
    readonly memo: MemoRecord | null;
    readonly verdict: Verdict;
    readonly mismatches: readonly Mismatch[];
    readonly ending: {
      readonly status: "succeeded" | "failed" | "halted";
      readonly message: string;
      readonly next_step: string;
    };
  }): Promise<Proof> {
    const { command, ending, verdict, ...rest } = facts;
    const status = {
      ...ending,
      restoration_verified: verdict.verified,
      exit_code: command.exit_code,
      condition: verdict.condition,
      violations: facts.violations,
    };
    try {
      return await closeRun(this.#ports, this.#record, {
        ...rest,
        jobspec: this.#declared.jobspec,
        started: this.#started,
        guard: this.#toGuardRecord(),
        command_result: command,
        recovered: false,
        verdict,
        logs: { stdout: this.#logs.stdout.finish(), stderr: this.#logs.stderr.finish() },
        status,
        sign: this.#request.sign ?? null,
      });
    } catch (thrown) {
      // CMP-01, Failure Handling: a run whose record cannot be written has no outputs.
      await this.#takeBack();
      if (isVerbatimError(thrown)) throw thrown;
      throw new VerbatimError("ARTIFACT_WRITE_FAILED", { where: this.#places.record, cause: thrown });
    }
  }

  async #takeBack(): Promise<void> {
    const items = readJournal(this.#ports.disk, journalOf(this.#places)).filter(({ op }) => op === "PUBLISH_ITEM");
    for (const item of items.toReversed()) await rollBackOutput(this.#ports.disk, this.#places, item);
  }

  async #appendToProduct(): Promise<void> {
    await this.#ports.records.appendRun(this.#record.entries);
  }

  /** Forgets the work directory and gives the locks back; a halted run keeps its locks for a person to decide. */
  async #clean(halted: boolean): Promise<void> {
    const { disk } = this.#ports;
    writeIndex(disk, this.#places, this.#declared.jobspec, true);
    if (this.#request.keep_work !== true) await disk.discard(this.#places.work);
    else this.#journal.record("CLEANED");
    if (halted) haltLocks(this.#ports, this.#places.state, this.#declared.jobspec.run_id);
    else releaseLocks(this.#ports, this.#places.state, this.#declared.jobspec.run_id);
  }

  #toAnchors(): AnchorState[] {
    const { root } = this.#places;
    const offset = this.#layers.domains.length;
    return this.#layers.anchors.map((path, i) => {
      const index = offset + i;
      const place = placeOf(root, path);
      const method = GUARD_FACTS[this.#guard].restore_method;
      if (method === "swap-back") return { path, before: this.#layers.copyOf(index), after: place };
      const layer: Layer = { index, kind: method === "discard-upper" ? "overlay" : "copy", path: place };
      return { path, before: place, after: this.#running?.merged(layer) ?? place };
    });
  }

  /** Other runs' records and this one's, and the domains: somebody else looks after them. */
  #isOthers(path: string): boolean {
    const { record_path } = this.#places;
    const records = record_path === null ? [] : [record_path];
    return isLookedAfter(path, this.#declared.jobspec.catalytic_domains, records) || this.#isForeignRecord(path);
  }

  #isForeignRecord(path: string): boolean {
    const record = this.#places.record_path;
    return this.#declared.runs.some((run) => isInside(path, run)) || (record !== null && isInside(path, record));
  }

  #toGuardRecord(): GuardRecord {
    const { class: kind, restore_method, blocks } = GUARD_FACTS[this.#guard];
    const { jobspec } = this.#declared;
    const statOnly = this.#view?.statOnlyRoots() ?? [];
    return {
      name: this.#guard,
      class: kind,
      requested: jobspec.guard,
      network: jobspec.network,
      restore_method,
      blocks,
      detects: DETECTS,
      tripwire: {
        scope: this.#watch?.scope ?? "full",
        entries: this.#watch?.entries ?? 0,
        ...(this.#noise.length > 0 ? { noise: this.#noise } : {}),
        ...(statOnly.length > 0 ? { stat_only_roots: statOnly } : {}),
      },
      ...(this.#launcher === null ? {} : { launcher: this.#launcher }),
    };
  }
}

function parent(place: string): string {
  return place.slice(0, place.lastIndexOf("/"));
}

function runIdExists(runId: string): VerbatimError {
  const errors = [{ code: "RUN_ID_EXISTS", pointer: "/run_id" }];
  return new VerbatimError("PREFLIGHT_REJECTED", {
    message: `a run ${runId} exists already`,
    where: "/run_id",
    fix: "Choose another run id.",
    details: { errors },
  });
}
