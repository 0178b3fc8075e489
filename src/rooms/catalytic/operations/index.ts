import { z } from "zod";
import { GUARD_NAMES } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../../core/operation.ts";
import { examine } from "../guard/doctor.ts";
import { readArtifact } from "../record/record-files.ts";
import { toRecordPlace } from "../record/records.ts";
import { acceptCurrent, listHalted, retryHalted, tellHalted } from "../recover/halted.ts";
import { recoverRuns } from "../recover/recover.ts";
import type { RoomPorts } from "./ports.ts";
import { catalyticList, catalyticShow, catalyticVerify } from "./records.ts";
import { catalyticRun } from "./run.ts";
import { judgeSkill } from "./skills.ts";

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
  summary: "Restores what a run left behind when the tool died, or records a decision about a halted run.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    run: z.string().optional().describe("The id of one run (default: all unfinished runs)."),
    dry_run: z.boolean().default(false).describe("Only show what would be done."),
    force: z.boolean().default(false).describe("Recover even if it is not known whether the owner is still alive."),
    retry: z.boolean().default(false).describe("Try again to restore a halted run."),
    accept_current: z.boolean().default(false).describe("Accept a halted run's domains as they are now."),
    by: z.string().optional().describe("Who decides; needed with --accept-current."),
    reason: z.string().optional().describe("Why; needed with --accept-current."),
  }),
  output: z.strictObject({ runs: z.array(recovered) }),
  async run(ports: RoomPorts, input) {
    const { state } = ports.places();
    if (input.accept_current) {
      const { run, by, reason } = input;
      if (run === undefined || by === undefined || reason === undefined) {
        throw new VerbatimError("USAGE", {
          message: {
            cli: "--accept-current needs a run, --by and --reason",
            others: "accept_current needs run, by and reason",
          },
        });
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
      if (input.run === undefined)
        throw new VerbatimError("USAGE", { message: { cli: "--retry needs a run", others: "retry needs run" } });
      const again = await retryHalted(ports, state, toRecordPlace(ports, input.run).record, input.run);
      return { runs: [{ ...again, steps: [...again.steps] }] };
    }
    const runs = await recoverRuns(ports, state, {
      run_id: input.run ?? null,
      dry_run: input.dry_run,
      force: input.force,
    });
    const known = new Set(runs.map(({ run_id }) => run_id));
    for (const id of listHalted(ports, state)) {
      if (known.has(id) || (input.run !== undefined && input.run !== id)) continue;
      const status = readArtifact(ports.disk, toRecordPlace(ports, id).record, "STATUS.json")?.["condition"];
      runs.push(tellHalted(id, typeof status === "string" ? status : null));
    }
    // A run that has nothing to recover must at least be there.
    if (runs.length === 0 && input.run !== undefined) toRecordPlace(ports, input.run);
    return { runs: runs.map((one) => ({ ...one, steps: [...one.steps] })) };
  },
});

const catalyticDoctor = defineOperation({
  name: "catalytic.doctor",
  summary: "Tests every guard on this machine and shows what each can do.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
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
    upper: z
      .array(
        z.strictObject({ holds: z.enum(["runs", "views"]), place: z.string(), file_system: z.string().nullable() }),
      )
      .describe("Where the upper layers of ns-overlay are, and on which file system."),
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

const catalyticCheckSkill = defineOperation({
  name: "catalytic.check-skill",
  summary: "Checks what a skill declares about the files it touches.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
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
