import { decodeUtf8 } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { toHex } from "../../core/hex.ts";
import { commandEnv, effectiveEnv, readPolicy } from "./declare.ts";
import { describeGuard, GUARD_FACTS } from "./guard-choice.ts";
import { NO_CHANGES } from "./inside-changes.ts";
import { type JobSpec, parseJobSpec } from "./jobspec.ts";
import { type Places, placeOf, worksOf } from "./places.ts";
import type { RoomPorts } from "./room-ports.ts";
import { selectGuard } from "./run.ts";
import { type RunInput, toJobSpec } from "./run-input.ts";
import { checkSkill, type SkillVerdict } from "./skill.ts";
import type { Violation } from "./verdict.ts";
import { Watch } from "./watch.ts";
import { type GuardName, SKILLS_STREAM } from "./words.ts";

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

/**
 * Runs the command of a skill that declares itself read-only or a writer. A catalytic skill is an ordinary run: null.
 * An undeclared skill is SKILL_REFUSED.
 */
export async function runSkill(ports: RoomPorts, input: RunInput) {
  const facts = { has_domains: input.domain.length > 0, has_outputs: input.out.length > 0 };
  const judged = await judgeSkill(ports, input.skill!, facts);
  if (!judged.ok || judged.mode === null) {
    throw new VerbatimError("SKILL_REFUSED", {
      message: `the skill ${input.skill} is refused: ${judged.errors.join(", ")}`,
      where: `${input.skill}/SKILL.md`,
      details: { errors: judged.errors },
    });
  }
  if (judged.mode === "catalytic") return null;
  const given = await toJobSpec(ports, { ...input, domain: ["."] });
  const { jobspec, errors } = parseJobSpec(given);
  if (jobspec === null) throw new VerbatimError("JOBSPEC_INVALID", { details: { errors } });
  const isReadOnly = judged.mode === "read_only";
  const guard: GuardName = isReadOnly ? await selectGuard(ports, { jobspec }) : "audit";
  ports.notify(
    isReadOnly
      ? describeGuard(guard, jobspec.network)
      : `SKILL_WRITER: the skill ${input.skill} writes without a guard`,
  );
  const { ending, violations, duration } = await execute(ports, jobspec, guard, isReadOnly);
  const body = {
    skill: input.skill,
    mode: judged.mode,
    manifest_sha256: judged.manifest_sha256,
    run_id: jobspec.run_id,
    guard,
  };
  await ports.records.append(SKILLS_STREAM, "SKILL_RUN", { ...body, exit_code: ending.exit_code, violations });
  if (violations.length > 0) {
    throw new VerbatimError("SKILL_READ_ONLY_VIOLATED", {
      message: `the skill ${input.skill} declares itself read-only and changed ${violations.map(({ path }) => path).join(", ")}`,
      where: violations[0]!.path,
      details: { violations },
    });
  }
  const accepted = jobspec.expected_exit_codes.includes(ending.exit_code) && !ending.timed_out && !ending.interrupted;
  return {
    run_id: jobspec.run_id,
    run_dir: "",
    status: accepted ? ("succeeded" as const) : ("failed" as const),
    accepted,
    condition: accepted ? null : "COMMAND_FAILED",
    exit_code: ending.exit_code,
    guard,
    outputs: [],
    quarantined: [],
    violations: [],
    proof_hash: null,
    duration_ms: duration,
    next_step: "",
    message: isReadOnly ? "nothing was writable but the private temp" : "the skill may have written anything",
    interrupted_by: null,
    memo_hit: false,
    noise: [],
    inside: { ...NO_CHANGES },
    compared: 0,
    refused: { lines: 0, shown: [] },
  };
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
    const stop = ports.interrupts.listen((signal) => running.interrupt(signal));
    const ending = await running.ended.finally(stop);
    await running.release();
    const violations: readonly Violation[] = watched ? (await watch.end()).violations : [];
    return { ending, violations, duration: ports.clock.now() - begun };
  } finally {
    await ports.disk.discard(work);
  }
}
