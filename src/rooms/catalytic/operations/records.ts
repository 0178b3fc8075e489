import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER } from "../../../core/operation.ts";
import { encodeBase64 } from "../../../core/trust/base64.ts";
import { readPolicy } from "../declare/declare.ts";
import { listStrays } from "../record/record-files.ts";
import { listRuns, readRun, toRecordPlace } from "../record/records.ts";
import { RUN_STATUSES } from "../record/run-record.ts";
import { readWholeFile, readWholeRecord } from "../slim/pieces.ts";
import { unpackRecord } from "../slim/unpack.ts";
import { beginLook } from "../tree/tree-now.ts";
import { gatherPins } from "../verify/pins.ts";
import { verifyRun } from "../verify/verify.ts";
import type { RoomPorts } from "./ports.ts";

const MAX_POLICY = 1024 * 1024;
const MAX_ARTIFACT = 64 * 1024 * 1024;

const problem = z.strictObject({
  code: z.string(),
  file: z.string().optional(),
  path: z.string().optional(),
  message: z.string(),
  fix: z.string(),
});

export const catalyticVerify = defineOperation({
  name: "catalytic.verify",
  summary: "Recomputes everything a catalytic run claims, and says whether to accept it.",
  effect: "read",
  who: READER,
  surfaces: [...LOCAL_SURFACES, "http"],
  // Keys and policies are files of the machine.
  localFields: ["pin", "trust", "policy"],
  input: z.strictObject({
    run: z.string().describe("The id of a run, or its directory."),
    tree: z
      .enum(["auto", "none", "strict"])
      .default("auto")
      .describe("Whether to check the current outputs and domains."),
    pin: z
      .array(z.string())
      .default([])
      .describe("A key the proof must be signed with, by name, path or public key in hex; can be repeated."),
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
      {
        name: place.name,
        files: await readWholeRecord(ports, place.record),
        strays: listStrays(ports.disk, place.record),
      },
      {
        pins: await findPins(ports, input, place.root),
        policy_sha256: policy === null ? null : ports.crypto.sha256(policy),
        strict_tree: input.tree === "strict",
        tree: input.tree === "none" ? "skip" : (look ?? (() => null)),
      },
    );
    return { ...result, errors: [...result.errors], warnings: [...result.warnings] };
  },
});

/** What the configuration pins counts where the caller pins nothing. */
async function findPins(
  ports: RoomPorts,
  input: { readonly pin: readonly string[]; readonly trust?: string | undefined },
  root: string | null,
): Promise<readonly string[]> {
  const pins = await gatherPins(ports, input);
  if (pins.length > 0 || root === null) return pins;
  return readPolicy(ports.places().config).settings.signing?.pinned_keys ?? [];
}

export const catalyticShow = defineOperation({
  name: "catalytic.show",
  summary: "Shows one catalytic run: what it declared, what happened, what to do next.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    run: z.string().describe("The id of a run, or its directory."),
    artifact: z.string().optional().describe("Print the exact bytes of this artifact instead."),
    unpack: z
      .string()
      .min(1)
      .optional()
      .describe("Write every file of the record whole into this new folder; large ones may be kept in pieces."),
  }),
  localFields: ["unpack"],
  output: z.strictObject({
    run_id: z.string(),
    jobspec: z.unknown(),
    status: z.unknown(),
    proof: z.unknown().nullable(),
    outputs: z.array(z.unknown()),
    quarantined: z.array(z.string()),
    artifact_base64: z.string().optional(),
    unpacked: z.int().optional().describe("How many files were written."),
  }),
  async run(ports: RoomPorts, input) {
    const run = readRun(ports, toRecordPlace(ports, input.run));
    const place = toRecordPlace(ports, input.run);
    if (input.unpack !== undefined) return { ...run, unpacked: await unpackRecord(ports, place, input.unpack) };
    if (input.artifact === undefined) return run;
    const bytes = isName(input.artifact) ? await readWholeFile(ports, place.record, input.artifact) : null;
    if (bytes === null || bytes.length > MAX_ARTIFACT)
      throw new VerbatimError("ARTIFACT_UNKNOWN", { where: input.artifact });
    return { ...run, artifact_base64: encodeBase64(bytes) };
  },
});

/** A name in the folder of a record, and never a path out of it. */
function isName(artifact: string): boolean {
  return artifact !== "" && !/[/\\]|^\.\.?$|^\.tmp-/.test(artifact);
}

export const catalyticList = defineOperation({
  name: "catalytic.list",
  summary: "Lists the catalytic runs of this workspace, newest first.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    status: z
      .enum([...RUN_STATUSES, "unfinished"])
      .optional()
      .describe("Only runs with this status."),
    limit: z.int().min(1).max(10_000).default(50).describe("Maximum number of runs."),
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
