import { z } from "zod";
import { isJsonObject, parseJson } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_DOORS } from "../../core/operation.ts";
import { encodeBase64 } from "../../core/trust/base64.ts";
import { parsePolicy } from "../../core/trust/policy.ts";
import { violation } from "./contracts.ts";
import { declareRun, readPolicy } from "./declare.ts";
import { examine } from "./doctor.ts";
import { NO_CHANGES } from "./inside-changes.ts";
import { readRecord } from "./record-files.ts";
import { listRuns, readRun, toRecordPlace } from "./records.ts";
import { acceptCurrent, recoverRuns, retryHalted } from "./recover.ts";
import type { RoomPorts } from "./room-ports.ts";
import { runCatalytic } from "./run.ts";
import { runInput, toJobSpec } from "./run-input.ts";
import { RUN_STATUSES } from "./run-record.ts";
import { judgeSkill, runSkill } from "./skill-run.ts";
import { beginLook } from "./tree-now.ts";
import { verifyRun } from "./verify.ts";
import { GUARD_NAMES } from "./words.ts";

const MAX_POLICY = 1024 * 1024;
const MAX_ARTIFACT = 64 * 1024 * 1024;

const runOutput = z.strictObject({
  run_id: z.string(),
  run_dir: z.string(),
  status: z.enum(["declared", "succeeded", "failed", "halted"]),
  accepted: z.boolean(),
  condition: z.string().nullable(),
  exit_code: z.int().nullable(),
  guard: z.enum(GUARD_NAMES).nullable().describe("Null for --check, which tries no guard."),
  outputs: z.array(z.string()),
  quarantined: z.array(z.string()),
  violations: z.array(violation),
  proof_hash: z.string().nullable(),
  duration_ms: z.int(),
  next_step: z.string(),
  message: z.string(),
  interrupted_by: z.enum(["SIGINT", "SIGTERM"]).nullable(),
  memo_hit: z.boolean(),
  noise: z.array(z.string()),
  inside: z
    .strictObject({ added: z.int(), changed: z.int(), removed: z.int() })
    .describe("Paths the command added, changed and removed in its domains before they were put back."),
  compared: z.int().describe("Paths outside the domains whose stat was compared before and after."),
});

export const catalyticRun = defineOperation({
  name: "catalytic.run",
  summary: "Runs a command that may change files, puts them back, and proves it.",
  effect: "mutate",
  doors: LOCAL_DOORS,
  input: runInput,
  output: runOutput,
  async run(ports: RoomPorts, input) {
    if (input.skill !== undefined) {
      const done = await runSkill(ports, input);
      if (done !== null) return done;
    }
    const places = ports.places();
    const given = await toJobSpec(ports, input);
    const skill = input.skill === undefined ? null : await claimSkill(ports, input.skill);
    const jobspec = skill !== null && isJsonObject(given) ? { ...given, skill } : given;
    const request = { ...places, jobspec };
    if (input.check) return check(ports, request);
    const { settings } = readPolicy(places.config);
    const result = await runCatalytic(ports, {
      ...request,
      sign: input.sign ? (settings.signing?.key_file ?? noKey()) : null,
      stdin: input.stdin ? "inherit" : "null",
      keep_work: input.keep_work,
      ...(input.tripwire === undefined ? {} : { tripwire: input.tripwire }),
    });
    return {
      ...result,
      status: result.status as "succeeded" | "failed" | "halted",
      outputs: [...result.outputs],
      quarantined: [...result.quarantined],
      violations: result.violations.map(({ code, path, fields }) => ({
        code,
        path,
        ...(fields ? { fields: [...fields] } : {}),
      })),
      noise: [...result.noise],
    };
  },
});

async function claimSkill(ports: RoomPorts, path: string) {
  const { manifest_sha256 } = await judgeSkill(ports, path, { has_domains: true, has_outputs: false });
  return { path, declaration: "catalytic", ...(manifest_sha256 === null ? {} : { manifest_sha256 }) };
}

function noKey(): never {
  throw new VerbatimError("USAGE", {
    message: "no signing key is configured",
    fix: "Set catalytic.signing.key_file in verbatim.config.json; make a key with: verbatim keys new NAME",
  });
}

async function check(ports: RoomPorts, request: Parameters<typeof declareRun>[1]) {
  // To judge writes nothing, not even that it refused.
  const records = { appendRun: async () => undefined, append: async () => undefined };
  const { jobspec } = await declareRun({ ...ports, records }, request);
  return {
    run_id: jobspec.run_id,
    run_dir: "",
    status: "declared" as const,
    accepted: false,
    condition: null,
    exit_code: null,
    guard: null,
    outputs: [],
    quarantined: [],
    violations: [],
    proof_hash: null,
    duration_ms: 0,
    next_step: "Run it without --check.",
    message: "the JobSpec may run",
    interrupted_by: null,
    memo_hit: false,
    noise: [],
    inside: { ...NO_CHANGES },
    compared: 0,
  };
}

const problem = z.strictObject({
  code: z.string(),
  file: z.string().optional(),
  path: z.string().optional(),
  message: z.string(),
  fix: z.string(),
});

export const catalyticVerify = defineOperation({
  name: "catalytic.verify",
  summary: "Recomputes everything a catalytic run states, and says whether to accept it.",
  effect: "read",
  doors: LOCAL_DOORS,
  input: z.strictObject({
    run: z.string().describe("The id of a run, or its directory."),
    tree: z.enum(["auto", "none", "strict"]).default("auto").describe("Whether to look at outputs and domains now."),
    pin: z
      .array(z.string())
      .default([])
      .describe("A public key in hex the proof must be signed with; may be repeated."),
    trust: z.string().optional().describe("A trust policy whose keys for scope PROOF count as pins."),
    policy: z.string().optional().describe("A POLICY.json the run must have been judged by."),
  }),
  output: z.strictObject({
    run_id: z.string(),
    accepted: z.boolean(),
    genuine: z.boolean(),
    verified: z.boolean().nullable(),
    condition: z.string().nullable(),
    signature: z.strictObject({
      state: z.enum(["absent", "unpinned", "pinned", "untrusted", "invalid"]),
      keyid: z.string().nullable(),
    }),
    tree: z.enum(["matches", "drifted", "skipped", "unavailable"]),
    errors: z.array(problem),
    warnings: z.array(problem),
  }),
  async run(ports: RoomPorts, input) {
    const place = toRecordPlace(ports, input.run);
    const policy = input.policy === undefined ? null : await ports.files.read(input.policy, MAX_POLICY);
    const look = input.tree === "none" ? null : beginLook(ports, place);
    const result = await verifyRun(
      ports.crypto,
      { name: place.name, files: readRecord(ports.disk, place.record) },
      {
        pins: await gatherPins(ports, input, place.root),
        policy_sha256: policy === null ? null : ports.crypto.sha256(policy),
        strict_tree: input.tree === "strict",
        tree: input.tree === "none" ? "skip" : (look ?? (() => null)),
      },
    );
    return { ...result, errors: [...result.errors], warnings: [...result.warnings] };
  },
});

async function gatherPins(
  ports: RoomPorts,
  input: { readonly pin: readonly string[]; readonly trust?: string | undefined },
  root: string | null,
): Promise<string[]> {
  const pins = [...input.pin];
  if (input.trust !== undefined) {
    const policy = await parsePolicy(ports.crypto, parseJson(await ports.files.read(input.trust, MAX_POLICY)));
    pins.push(
      ...policy.keys
        .filter(({ enabled, scopes }) => enabled && scopes.includes("PROOF"))
        .map(({ public_key }) => public_key),
    );
  }
  if (pins.length === 0 && root !== null)
    pins.push(...(readPolicy(ports.places().config).settings.signing?.pinned_keys ?? []));
  return pins;
}

export const catalyticShow = defineOperation({
  name: "catalytic.show",
  summary: "Shows one catalytic run: what it declared, what happened, what to do next.",
  effect: "read",
  input: z.strictObject({
    run: z.string().describe("The id of a run, or its directory."),
    artifact: z.string().optional().describe("Print the exact bytes of this artifact instead."),
  }),
  output: z.strictObject({
    run_id: z.string(),
    jobspec: z.unknown(),
    status: z.unknown(),
    proof: z.unknown().nullable(),
    outputs: z.array(z.unknown()),
    quarantined: z.array(z.string()),
    artifact_base64: z.string().optional(),
  }),
  async run(ports: RoomPorts, input) {
    const run = readRun(ports, toRecordPlace(ports, input.run));
    if (input.artifact === undefined) return run;
    const place = toRecordPlace(ports, input.run);
    const bytes = readRecord(ports.disk, place.record).get(input.artifact);
    if (bytes === undefined || bytes.length > MAX_ARTIFACT)
      throw new VerbatimError("ARTIFACT_UNKNOWN", { where: input.artifact });
    return { ...run, artifact_base64: encodeBase64(bytes) };
  },
});

export const catalyticList = defineOperation({
  name: "catalytic.list",
  summary: "Lists the catalytic runs of this workspace, newest first.",
  effect: "read",
  input: z.strictObject({
    status: z
      .enum([...RUN_STATUSES, "unfinished"])
      .optional()
      .describe("Only runs with this status."),
    limit: z.int().min(1).max(10_000).default(50).describe("At most this many."),
  }),
  output: z.strictObject({
    runs: z.array(
      z.strictObject({
        run_id: z.string(),
        job_id: z.string(),
        status: z.string(),
        condition: z.string().nullable(),
        started: z.string(),
        guard: z.string(),
        outputs: z.int(),
        proof_hash: z.string().nullable(),
      }),
    ),
  }),
  run: async (ports: RoomPorts, input) => ({ runs: listRuns(ports, input.status ?? null, input.limit) }),
});

const recovered = z.strictObject({
  run_id: z.string(),
  action: z.enum(["skip", "refuse", "finish", "recover", "halt"]),
  code: z.string().nullable(),
  steps: z.array(z.string()),
  final_status: z.enum(["failed", "halted", "unchanged"]).nullable(),
  condition: z.string().nullable(),
});

export const catalyticRecover = defineOperation({
  name: "catalytic.recover",
  summary: "Puts back what a run left when the tool died, or records a decision about a halted run.",
  effect: "mutate",
  doors: LOCAL_DOORS,
  input: z.strictObject({
    run: z.string().optional().describe("The id of one run; all unfinished runs otherwise."),
    dry_run: z.boolean().default(false).describe("Only say what would be done."),
    force: z.boolean().default(false).describe("Recover although nobody can tell whether the owner lives."),
    retry: z.boolean().default(false).describe("Try again to restore a halted run."),
    accept_current: z.boolean().default(false).describe("Take a halted run's domains as they are now."),
    by: z.string().optional().describe("Who decides; needed with --accept-current."),
    reason: z.string().optional().describe("Why; needed with --accept-current."),
  }),
  output: z.strictObject({ runs: z.array(recovered) }),
  async run(ports: RoomPorts, input) {
    const { state } = ports.places();
    if (input.accept_current) {
      const { run, by, reason } = input;
      if (run === undefined || by === undefined || reason === undefined) {
        throw new VerbatimError("USAGE", { message: "--accept-current needs a run, --by and --reason" });
      }
      await acceptCurrent(ports, state, { run_id: run, by, reason });
      return {
        runs: [
          {
            run_id: run,
            action: "finish" as const,
            code: null,
            steps: ["RELEASE_LOCKS"],
            final_status: "unchanged" as const,
            condition: null,
          },
        ],
      };
    }
    if (input.retry) {
      if (input.run === undefined) throw new VerbatimError("USAGE", { message: "--retry needs a run" });
      const again = await retryHalted(ports, state, toRecordPlace(ports, input.run).record, input.run);
      return { runs: [{ ...again, steps: [...again.steps] }] };
    }
    const runs = await recoverRuns(ports, state, {
      run_id: input.run ?? null,
      dry_run: input.dry_run,
      force: input.force,
    });
    // A run that has nothing to recover must at least be there.
    if (runs.length === 0 && input.run !== undefined) toRecordPlace(ports, input.run);
    return { runs: runs.map((one) => ({ ...one, steps: [...one.steps] })) };
  },
});

export const catalyticDoctor = defineOperation({
  name: "catalytic.doctor",
  summary: "Really tries every guard and shows what each can do here.",
  effect: "mutate",
  doors: LOCAL_DOORS,
  input: z.strictObject({}),
  output: z.strictObject({
    guards: z.array(
      z.strictObject({
        name: z.enum(GUARD_NAMES),
        works: z.boolean(),
        reason: z.string().nullable(),
        blocks: z.array(z.string()),
        gaps: z.array(z.string()),
        fix: z.string().nullable(),
      }),
    ),
    chosen: z.enum(GUARD_NAMES),
    network_none: z.boolean(),
    locks: z.array(
      z.strictObject({
        run_id: z.string(),
        path: z.string(),
        state: z.enum(["held", "stale", "unknown"]),
        halted: z.boolean(),
      }),
    ),
    dead_runs: z.array(z.string()),
  }),
  run: (ports: RoomPorts) => examine(ports),
});

export const catalyticCheckSkill = defineOperation({
  name: "catalytic.check-skill",
  summary: "Judges what a skill declares about the files it touches.",
  effect: "read",
  doors: LOCAL_DOORS,
  input: z.strictObject({ dir: z.string().describe("The folder of the skill, with its SKILL.md.") }),
  output: z.strictObject({
    ok: z.boolean(),
    mode: z.enum(["read_only", "catalytic", "writer"]).nullable(),
    errors: z.array(z.string()),
    warnings: z.array(z.string()),
    manifest_sha256: z.string().nullable(),
  }),
  async run(ports: RoomPorts, { dir }) {
    const bare = await judgeSkill(ports, dir, { has_domains: false, has_outputs: false });
    // Which domains a catalytic skill has is for its JobSpec to say.
    if (!bare.errors.includes("SKILL_JOBSPEC_REQUIRED")) return bare;
    return judgeSkill(ports, dir, { has_domains: true, has_outputs: false });
  },
});

export const CATALYTIC_OPERATIONS = [
  catalyticRun,
  catalyticVerify,
  catalyticShow,
  catalyticList,
  catalyticRecover,
  catalyticDoctor,
  catalyticCheckSkill,
];
