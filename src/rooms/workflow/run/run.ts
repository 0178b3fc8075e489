import { isJsonObject, type JsonObject, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { formatTime } from "../../../core/time.ts";
import { readBehaviorIndex } from "../artifacts/behaviors.ts";
import type { ArtifactFinding } from "../artifacts/finding.ts";
import { GUARDRAILS_FILE, type Guardrails, validateGuardrails } from "../artifacts/guardrails.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { BUILT_IN_GATES, PLAN_FILE, type Plan, validatePlan } from "../artifacts/plan.ts";
import { findNextStep, type NextStep } from "../dispatch/next-step.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import type { BaseTree, RunFolder } from "../ports.ts";
import { type Limits, resolveLimits } from "./gate/limits.ts";
import { WORKFLOW_RUN } from "./record/run-schema.ts";
import { RUN_FILE, type RunState } from "./record/run-state.ts";

const OBJECTS = "objects";

/** A run as it is on disk. Reading changes nothing. */
export class Run {
  readonly ports: WorkflowPorts;
  readonly folder: RunFolder;
  #state: RunState;

  constructor(ports: WorkflowPorts, folder: RunFolder, state: RunState) {
    this.ports = ports;
    this.folder = folder;
    this.#state = state;
  }

  /** Reads RUN.json: RUN_CORRUPT when it is not what we wrote. */
  static load(ports: WorkflowPorts, folder: RunFolder): Run {
    return new Run(ports, folder, readRunState(folder));
  }

  get state(): RunState {
    return this.#state;
  }

  get id(): string {
    return this.folder.id;
  }

  read(path: string): Uint8Array | null {
    return this.folder.read(path);
  }

  /** Hash of a run file, or null. */
  hash(path: string): string | null {
    const bytes = this.read(path);
    return bytes === null ? null : this.ports.crypto.sha256(bytes);
  }

  /** Replaces fields of RUN.json durably. */
  save(changes: Partial<RunState>): void {
    this.#state = { ...this.#state, ...changes, updated_at: this.now() };
    this.folder.write(RUN_FILE, formatArtifact(this.#state));
  }

  now(): string {
    return formatTime(this.ports.clock.now());
  }

  /** Whether work of git on this run uses the untracked files as well. */
  get isDirect(): boolean {
    return this.#state.direct !== undefined;
  }

  get base(): BaseTree {
    const own = this.folder.list(OBJECTS).length > 0;
    return { tree: this.#state.base_tree, objects: own ? this.objects() : null };
  }

  /** The folder for objects the repository does not have. */
  objects(): string {
    return this.folder.makeFolder(OBJECTS);
  }

  /** Gates that can run: the product's own, the configured ones, and the commands of a direct run. */
  get knownGates(): string[] {
    const own = this.#state.direct?.verify == null ? [] : ["lite"];
    return [...new Set([...BUILT_IN_GATES, ...this.ports.config.verify.gates.keys(), ...own])];
  }

  /** Ids of the behaviour catalogue in the working tree; null without one. */
  behaviorIds(): string[] | null {
    const text = readRepoText(this.ports, this.ports.config.behaviors.index);
    const ids = text === null ? [] : readBehaviorIndex(text).map(({ id }) => id);
    // A plan cannot select from an index without entries: it is as if there were no catalogue yet.
    return ids.length === 0 ? null : [...new Set(ids)];
  }

  guardrails(): Guardrails | null {
    const bytes = this.read(GUARDRAILS_FILE);
    return bytes === null ? null : validateGuardrails(bytes).value;
  }

  /** The signed plan: PLAN_UNREADABLE without one. */
  plan(): Plan {
    const bytes = this.read(PLAN_FILE);
    const plan = bytes === null ? null : validatePlan(bytes, { kind: "signed", knownGates: this.knownGates }).value;
    if (plan === null) throw new VerbatimError("PLAN_UNREADABLE", { where: PLAN_FILE });
    return plan;
  }

  limits(plan: Plan | null): Limits {
    const { policy } = this.#state;
    return resolveLimits({ guardrails: this.guardrails(), plan_budgets: plan?.budgets ?? null, policy });
  }

  /** What comes next. The repository is asked only when the answer depends on it. */
  async next(): Promise<NextStep> {
    const step = this.#decide({ headMatches: true, clean: true });
    if (step.action !== "apply") return step;
    const { git } = this.ports;
    const { base_commit } = this.#state;
    const { commit } = await git.head();
    if (commit !== base_commit) {
      return { ...this.#decide({ headMatches: false, clean: false }), findings: [toMoved(base_commit, commit)] };
    }
    const paths = await git.differences(this.base, this.isDirect);
    if (paths.length === 0) return step;
    return { ...this.#decide({ headMatches: true, clean: false }), findings: paths.slice(0, 20).map(toDirty) };
  }

  #decide(repo: { readonly headMatches: boolean; readonly clean: boolean }): NextStep {
    return findNextStep({
      run: this.#state,
      read: (path) => this.read(path),
      sha256: (bytes) => this.ports.crypto.sha256(bytes),
      behaviorIds: this.behaviorIds(),
      knownGates: this.knownGates,
      requireAnalysis: this.ports.config.require_analysis,
      repo,
    });
  }
}

function toMoved(recorded: string, current: string | null): ArtifactFinding {
  const message = `the repository is at ${current ?? "no commit"}, but the run started at ${recorded}`;
  const fix = `Check out ${recorded}; the patch is kept in the run.`;
  return { code: "REPO_MOVED", file: "HEAD", line: null, message, fix };
}

function toDirty(file: string): ArtifactFinding {
  const fix = "Commit or stash it; the patch is kept in the run.";
  return { code: "REPO_DIRTY", file, line: null, message: "differs from the run's base", fix };
}

/** A text file of the working tree, or null; larger files than 16 MiB are not read. */
export function readRepoText(ports: WorkflowPorts, path: string): string | null {
  const found = ports.reader.look(path);
  if (found.state !== "found" || !found.regular || found.size > 16 * 1024 * 1024) return null;
  const read = found.read(null);
  return typeof read === "string" ? null : read.text;
}

function readRunState(folder: RunFolder): RunState {
  const bytes = folder.read(RUN_FILE);
  const where = `${folder.dir}/${RUN_FILE}`;
  if (bytes === null) throw new VerbatimError("RUN_CORRUPT", { message: "RUN.json is missing", where });
  try {
    const value = parseJson(bytes, { file: where });
    const problems = WORKFLOW_RUN.check(value);
    if (problems.length === 0 && isJsonObject(value)) return toPlain(value);
    const first = problems[0]!;
    throw new VerbatimError("RUN_CORRUPT", {
      message: `RUN.json ${first.pointer} ${first.message}`,
      where: `${where}#${first.pointer}`,
      details: { problems },
    });
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code === "RUN_CORRUPT") throw thrown;
    throw new VerbatimError("RUN_CORRUPT", {
      message: `RUN.json is not JSON: ${thrown.message}`,
      where: thrown.where ?? where,
      cause: thrown,
    });
  }
}

function toPlain(value: JsonObject): RunState {
  return JSON.parse(JSON.stringify(value)) as RunState;
}
