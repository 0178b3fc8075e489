import { decodeUtf8, type JsonObject } from "../../../core/canonical/index.ts";
import { GUARD_FACTS, type GuardName } from "../../../core/contracts/guards.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { elapsedSince } from "../../../core/time.ts";
import { SKILLS_STREAM } from "../contracts/constants.ts";
import { CATALYTIC_RECORDS } from "../contracts/records.ts";
import { commandEnv, declareRun, effectiveEnv, readPolicy } from "../declare/declare.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import { type RunInput, toJobSpec } from "../declare/run-input.ts";
import { checkSkill, refuseSkill, type SkillVerdict } from "../declare/skill.ts";
import { describeGuard } from "../guard/guard-choice.ts";
import type { Ending } from "../guard/guard-ports.ts";
import { Watch } from "../guard/watch.ts";
import { type Places, placeOf, worksOf } from "../run/places.ts";
import { selectGuard } from "../run/run.ts";
import { NO_CHANGES } from "../tree/inside-changes.ts";
import type { Condition, Violation } from "../verify/verdict.ts";
import type { RoomPorts } from "./ports.ts";

const MAX_MANIFEST = 1024 * 1024;

/** Reads SKILL.md of a folder and judges what it declares. */
export async function judgeSkill(
  ports: RoomPorts,
  folder: string,
  facts: { readonly has_domains: boolean; readonly has_outputs: boolean },
): Promise<{
  ok: boolean;
  mode: SkillVerdict["mode"];
  errors: string[];
  warnings: string[];
  manifest_sha256: string | null;
}> {
  const bytes = await readManifest(ports, folder);
  const text = bytes === null ? null : (decodeUtf8(bytes) ?? "");
  const { writer_skills } = readPolicy(ports.places().config).settings;
  const verdict = checkSkill({ skill_md: text, jobspec_declaration: null, ...facts, writer_skills });
  const { ok, mode, errors, warnings } = verdict;
  return {
    ok,
    mode,
    errors: [...errors],
    warnings: [...warnings],
    manifest_sha256: bytes === null ? null : ports.crypto.sha256(bytes),
  };
}

async function readManifest({ files }: RoomPorts, folder: string): Promise<Uint8Array | null> {
  try {
    return await files.read(`${folder.replace(/\/+$/, "")}/SKILL.md`, MAX_MANIFEST);
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "FILE_NOT_FOUND") return null;
    throw thrown;
  }
}

/** A skill that is not a catalytic run, and what it may run. */
interface DeclaredSkill {
  readonly skill: string;
  readonly mode: "read_only" | "writer";
  readonly manifest_sha256: string | null;
  readonly jobspec: JobSpec;
}

/**
 * Judges a skill that declares itself read-only or a writer, and its command as every run's. A catalytic skill is an
 * ordinary run: null. An undeclared skill is SKILL_REFUSED.
 */
export async function declareSkill(ports: RoomPorts, input: RunInput): Promise<DeclaredSkill | null> {
  const skill = input.skill!;
  const facts = { has_domains: input.domain.length > 0, has_outputs: input.out.length > 0 };
  const judged = await judgeSkill(ports, skill, facts);
  if (!judged.ok || judged.mode === null) throw refuseSkill(skill, judged.errors);
  if (judged.mode === "catalytic") return null;
  const given = await toJobSpec(ports, { ...input, domain: ["."], out: [], out_root: [] });
  const request = { ...ports.places(), jobspec: { ...(given as JsonObject), view: true } };
  const { jobspec } = await declareRun(ports, request);
  return { skill, mode: judged.mode, manifest_sha256: judged.manifest_sha256, jobspec };
}

/** Runs the command of a skill. There is no proof, so it is never accepted: it may only end as it should. */
export async function runSkill(ports: RoomPorts, { skill, mode, manifest_sha256, jobspec }: DeclaredSkill) {
  const isReadOnly = mode === "read_only";
  // A writer has no guard, and what only a guard can keep is refused.
  const guard = await selectGuard(ports, { jobspec: isReadOnly ? jobspec : { ...jobspec, guard: "audit" } });
  ports.notify(
    isReadOnly ? describeGuard(guard, jobspec.network) : `SKILL_WRITER: the skill ${skill} writes without a guard`,
  );
  const { ending, violations, duration, interrupted_by } = await execute(ports, jobspec, guard, isReadOnly);
  const body = { skill, mode, manifest_sha256, run_id: jobspec.run_id, guard };
  await ports.records.append(
    SKILLS_STREAM,
    CATALYTIC_RECORDS.draft("SKILL_RUN", { ...body, exit_code: ending.exit_code, violations }),
  );
  if (violations.length > 0) {
    throw new VerbatimError("SKILL_READ_ONLY_VIOLATED", {
      message: `the skill ${skill} is declared read-only but changed ${violations.map(({ path }) => path).join(", ")}`,
      where: violations[0]!.path,
      details: { violations },
    });
  }
  const condition = conditionOf(ending, jobspec);
  const sure =
    guard === "audit" ? "nothing in the repository was changed" : "only its private temporary folder was writable";
  const outcome = isReadOnly ? sure : "the skill may have written anything; nothing is proved";
  return {
    run_id: jobspec.run_id,
    run_dir: "",
    status: condition === null ? ("succeeded" as const) : ("failed" as const),
    accepted: false,
    condition,
    exit_code: ending.exit_code,
    guard,
    outputs: [],
    quarantined: [],
    violations: [],
    proof_hash: null,
    duration_ms: duration,
    next_step: "",
    message: condition === null ? outcome : `${condition}, exit ${ending.exit_code}. ${outcome}`,
    interrupted_by,
    memo_hit: false,
    noise: [],
    inside: { ...NO_CHANGES },
    compared: 0,
    refused: { lines: 0, shown: [] },
  };
}

function conditionOf(ending: Ending, { expected_exit_codes: expected }: JobSpec): Condition | null {
  if (ending.interrupted) return "INTERRUPTED";
  if (ending.timed_out) return "COMMAND_TIMED_OUT";
  return expected.includes(ending.exit_code) ? null : "COMMAND_FAILED";
}

async function execute(ports: RoomPorts, jobspec: JobSpec, guard: GuardName, watched: boolean) {
  const { root, state, config } = ports.places();
  const { policy, settings } = readPolicy(config);
  const begun = ports.clock.now();
  const work = `${worksOf(state)}/_skill-${toHex(ports.random.bytes(6))}`;
  const places: Places = { root, state, record: work, record_path: null, work };
  ports.disk.makeFolders(`${work}/tmp`);
  const setting = {
    places,
    policy,
    settings: settings.tripwire,
    jobspec,
    guard_class: GUARD_FACTS[guard].class,
    skip: [],
  };
  const watch = new Watch(ports, setting);
  let interrupted_by: "SIGINT" | "SIGTERM" | null = null;
  try {
    if (watched) await watch.begin();
    const running = await ports.guards.launch({
      guard,
      run_id: jobspec.run_id,
      root,
      work,
      layers: [],
      writable: [],
      holes: [],
      keeps: [],
      command: jobspec.command,
      cwd: placeOf(root, jobspec.cwd),
      env: commandEnv(effectiveEnv(jobspec, ports.env), work, jobspec.run_id, {}),
      network: jobspec.network,
      timeout_ms: jobspec.timeout_ms,
      stdin: "null",
      onOutput: (stream, bytes) => ports.onOutput(stream, bytes),
    });
    const stop = ports.interrupts.listen((signal) => {
      interrupted_by ??= signal;
      running.interrupt(signal);
    });
    const ending = await running.ended.finally(stop);
    await running.release();
    const violations: readonly Violation[] = watched ? (await watch.end()).violations : [];
    return { ending, violations, duration: elapsedSince(ports.clock, begun), interrupted_by };
  } finally {
    await ports.disk.discard(work);
  }
}
