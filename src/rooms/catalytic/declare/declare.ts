import {
  decodeUtf8,
  hashCanonical,
  type JsonValue,
  sortedByCodePoint,
  sortedUnique,
} from "../../../core/canonical/index.ts";
import type { Caps } from "../../../core/contracts/caps.ts";
import { GUARD_FACTS, GUARD_NAMES, type GuardName } from "../../../core/contracts/guards.ts";
import { type Code, VerbatimError } from "../../../core/errors/index.ts";
import { REJECTED_STREAM } from "../contracts/constants.ts";
import { CATALYTIC_RECORDS } from "../contracts/records.ts";
import type { CatalyticPorts, CommandInput, PathLook, Reach, TreeScan } from "../ports.ts";
import { anchorOf, placeOf } from "../run/places.ts";
import type { TreeWrite } from "../view/view-writes.ts";
import { type JobSpec, normalizeJobSpec, parseJobSpec } from "./jobspec.ts";
import { findLexicalCode } from "./path-rules.ts";
import { effectivePolicy, type PointedError, type Policy } from "./policy.ts";
import { checkPaths, findSharedAnchors, isForbidden } from "./preflight.ts";
import { explainFields, explainPaths } from "./preflight-advice.ts";
import type { Settings } from "./settings.ts";
import { checkSkill, refuseSkill } from "./skill.ts";

/** What a caller asks for. */
export interface RunRequest {
  /** Real path of the repository. */
  readonly root: string;
  /** `.verbatim/state` of the workspace that keeps record and locks. */
  readonly state: string;
  /** The folder run directories go to, as an absolute path (default: the configured runs root below the root). */
  readonly runs?: string;
  /** The user's state folder, where views keep their layers. */
  readonly user_state: string;
  /** The `catalytic` object of the configuration, as it was written. */
  readonly config: JsonValue;
  readonly jobspec: JsonValue;
  readonly sign?: string | null;
  readonly stdin?: "null" | "inherit";
  /** What the command reads on its standard input. */
  readonly input?: CommandInput;
  readonly keep_work?: boolean;
  readonly tripwire?: "fail" | "report";
  /** Variables the application adds for the command, such as VERBATIM_RUN. */
  readonly extra_env?: Readonly<Record<string, string>>;
  readonly view?: ViewRequest;
  /** What the command may reach where it has a network of its own. */
  readonly reach?: Reach;
  /** What the command may use at most. */
  readonly caps?: Caps;
}

/** What only views have. */
interface ViewRequest {
  /** Read and hash everything instead of trusting the stat of unchanged files. */
  readonly hash_all: boolean;
  /** Paths that are not part of the tree's state; null: what git says that the tree ignores. */
  readonly ignored: readonly string[] | null;
  /** Absolute paths outside the repository that stay writable. */
  readonly keep: readonly string[];
  /** Absolute paths that stay readable wherever they lie. */
  readonly visible?: readonly string[];
  /** Absolute folders and files the command must not read, where the guard can hide them, and what of them stays. */
  readonly hidden?: readonly string[];
  /** Absolute folders elsewhere that the command may write in a layer that is dropped. */
  readonly discard?: readonly string[];
  /** Files of the repository that the command finds empty. */
  readonly masked?: readonly string[];
  readonly shown?: readonly string[];
  /** What the command finds instead of what the real tree has, in this order. */
  readonly writes?: readonly TreeWrite[];
  /** A look at the tree that the caller took already. */
  readonly look?: TreeScan | null;
  /** Whether what the command changed is wanted; if not, it is dropped unread. */
  readonly collect?: boolean;
  /** Whether the caller has the lock of the whole tree. */
  readonly locked?: boolean;
}

/** A JobSpec that may run, with everything that was decided about it. */
export interface Declared {
  readonly policy: Policy;
  readonly settings: Settings;
  readonly jobspec: JobSpec;
  /** What the JobSpec gives the command; only its hash is ever written. */
  readonly env: Readonly<Record<string, string>>;
  readonly executable: string;
  /** Repository paths of the run directories that existed. */
  readonly runs: readonly string[];
}

/** The policy and the settings of a configuration; the first problem is thrown with all of them in details. */
export function readPolicy(config: JsonValue): { readonly policy: Policy; readonly settings: Settings } {
  const { policy, settings, errors } = effectivePolicy(config);
  const first = errors[0];
  if (policy !== null && first === undefined) return { policy, settings };
  const code = first?.code.startsWith("CONFIG_") === true ? (first.code as Code) : "CONFIG_INVALID";
  throw new VerbatimError(code, {
    message: `verbatim.config.json: ${errors.map((one) => `${one.pointer}: ${one.code}`).join("; ")}`,
    where: `verbatim.config.json ${first?.pointer ?? ""}`,
    details: { errors },
  });
}

/** Judges a request before anything is made (CMP-01, Phase 0 and enforcement layer 1). */
export async function declareRun(ports: CatalyticPorts, request: RunRequest): Promise<Declared> {
  const { policy, settings } = readPolicy(request.config);
  const reading = parseJobSpec(request.jobspec, settings);
  if (reading.jobspec === null) {
    throw new VerbatimError("JOBSPEC_INVALID", {
      message: `the JobSpec has ${reading.errors.length} problem${reading.errors.length === 1 ? "" : "s"}: ${show(reading.errors)}`,
      where: reading.errors[0]?.pointer ?? "",
      fix: "Correct the fields listed above; nothing was run.",
      details: { errors: reading.errors, problems: explainFields(reading.errors) },
    });
  }
  const given = reading.jobspec;
  if (given.network === "allow" && request.reach === undefined) {
    throw new VerbatimError("JOBSPEC_INVALID", {
      message: "network allow is for agent runs, which name the hosts; a JobSpec can say none or inherit",
      where: "/network",
      details: { errors: [{ code: "JOBSPEC_INVALID", pointer: "/network" }] },
    });
  }
  judgeClaim(ports, request.root, given, settings);
  const env = effectiveEnv(given, ports.env);
  // Problems point at the list of inputs as it was written.
  const { inputs } = request.jobspec as { readonly inputs?: readonly string[] };
  const written = { ...given, inputs: inputs ?? [] };
  const look = ports.disk.look(request.root);
  const errors: PointedError[] = [...checkPaths(policy, written, look).errors];
  errors.push(...checkAnchors(given, policy, errors));
  const named = GUARD_NAMES.find((name) => name === given.guard);
  if (named !== undefined && errors.length === 0) errors.push(...findShared(written, policy, named));
  const cwd = placeOf(request.root, given.cwd);
  const executable = ports.disk.findExecutable(given.command[0]!, cwd, env["PATH"] ?? "/usr/bin:/bin");
  if (executable === null) errors.push({ code: "COMMAND_NOT_FOUND", pointer: "/command/0" });
  if (errors.length > 0) await reject(ports, written, policy, errors, look);
  const tripwire = { ...settings.tripwire, ...(request.tripwire === undefined ? {} : { on_hit: request.tripwire }) };
  return {
    policy,
    settings: { ...settings, tripwire },
    jobspec: normalizeJobSpec(given),
    env,
    executable: executable!,
    runs: look.runNames(policy.runs_root).map((name) => `${policy.runs_root}/${name}`),
  };
}

/** A JobSpec that speaks for a skill: what it says and what SKILL.md says must fit each other and the domains. */
function judgeClaim(ports: CatalyticPorts, root: string, jobspec: JobSpec, { writer_skills }: Settings): void {
  // The command of a skill without a run of its own has the whole tree as its view, and was judged before.
  if (jobspec.skill === null || jobspec.view) return;
  const { path, declaration } = jobspec.skill;
  const bytes =
    path === undefined || findLexicalCode(path) !== null ? null : ports.disk.read(placeOf(root, `${path}/SKILL.md`));
  const { errors } = checkSkill({
    skill_md: bytes === null ? null : (decodeUtf8(bytes) ?? ""),
    jobspec_declaration: declaration,
    has_domains: jobspec.catalytic_domains.length > 0,
    has_outputs: jobspec.outputs.durable_paths.length > 0,
    writer_skills,
  });
  if (errors.length > 0) throw refuseSkill(path ?? null, errors);
}

/** An output directly in a forbidden folder would make that folder writable. */
function checkAnchors(jobspec: JobSpec, policy: Policy, found: readonly PointedError[]): PointedError[] {
  return jobspec.outputs.durable_paths.flatMap((path, i) => {
    const pointer = `/outputs/durable_paths/${i}`;
    if (found.some((one) => one.pointer === pointer)) return [];
    const normal = normalizeJobSpec({ ...jobspec, outputs: { durable_paths: [path] } }).outputs.durable_paths[0]!;
    return isForbidden(anchorOf(normal), policy) ? [{ code: "FORBIDDEN_PATH_OVERLAP", pointer }] : [];
  });
}

/** What only the chosen guard decides: whether the outputs of a run can be written without the records of others. */
export async function declareGuard(
  ports: CatalyticPorts,
  request: RunRequest,
  { jobspec, policy }: Declared,
  guard: GuardName,
): Promise<void> {
  const given = { ...jobspec, outputs: parseJobSpec(request.jobspec).jobspec?.outputs ?? jobspec.outputs };
  const errors = findShared(given, policy, guard);
  if (errors.length > 0) await reject(ports, given, policy, errors, ports.disk.look(request.root));
}

function findShared({ outputs }: JobSpec, policy: Policy, guard: GuardName): PointedError[] {
  return findSharedAnchors(policy, outputs.durable_paths, GUARD_FACTS[guard].restore_method);
}

async function reject(
  ports: CatalyticPorts,
  jobspec: JobSpec,
  policy: Policy,
  errors: readonly PointedError[],
  look: PathLook,
): Promise<never> {
  const body = { run_id: jobspec.run_id, job_id: jobspec.job_id, errors };
  await ports.records.append(REJECTED_STREAM, CATALYTIC_RECORDS.draft("REJECTED", body));
  throw new VerbatimError("PREFLIGHT_REJECTED", {
    message: `nothing was run: ${show(errors)}`,
    where: errors[0]!.pointer,
    fix: "Correct what is listed above; nothing was changed.",
    details: { errors, problems: explainPaths(errors, jobspec, policy, look) },
  });
}

function show(errors: readonly PointedError[]): string {
  return errors.map((one) => `${one.pointer === "" ? "the JobSpec" : one.pointer}: ${one.code}`).join("; ");
}

/** The allowed variables of the caller and those the JobSpec sets. */
export function effectiveEnv(
  jobspec: JobSpec,
  caller: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  // A variable may be called `__proto__`.
  const env = Object.create(null) as Record<string, string>;
  for (const name of sortedUnique([...jobspec.env.allow, ...Object.keys(jobspec.env.set)])) {
    const value = Object.hasOwn(jobspec.env.set, name) ? jobspec.env.set[name] : caller[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** The only trace of the environment that is written anywhere. */
export function hashEnv(crypto: CatalyticPorts["crypto"], env: Readonly<Record<string, string>>): string {
  return hashCanonical(
    crypto,
    Object.fromEntries(sortedByCodePoint(Object.keys(env)).map((name) => [name, env[name]])),
  );
}

/** Everything the command is given: what the JobSpec says, the private temp, the marker, what the application adds. */
export function commandEnv(
  env: Readonly<Record<string, string>>,
  work: string,
  runId: string,
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  const temp = `${work}/tmp/t`;
  const own = {
    TMPDIR: temp,
    TMP: temp,
    TEMP: temp,
    XDG_CACHE_HOME: `${work}/tmp/c`,
    VERBATIM_RUN_ID: runId,
    VERBATIM_RUN_WORK: work,
  };
  return { ...env, ...own, ...extra };
}
