import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, OWNER } from "../../../core/operation.ts";
import { FILE_REQUEST_FILE, validateFileRequest } from "../artifacts/file-request.ts";
import { type ArtifactFinding, sayFinding } from "../artifacts/finding.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { validatePlan } from "../artifacts/plan.ts";
import { librarianRules, recordPack } from "../dispatch/pack-step.ts";
import { buildPack } from "../librarian/librarian.ts";
import { judgePatchWithGit } from "../patch/git-stage.ts";
import { judgePatchPausing, type PatchResult } from "../patch/patch-gate.ts";
import { parsePolicy } from "../patch/patch-policy.ts";
import { adviseFor, lineAt } from "../patch/patch-review.ts";
import { listRefusals } from "../patch/rejection.ts";
import { toRepoSlug } from "../run/find/repo-slug.ts";
import { MOST_ARTIFACT_BYTES } from "../run/gate/receive.ts";
import { validateTarget } from "../run/gate/validate.ts";
import { judgedSchema, patchResultSchema } from "./outputs.ts";
import type { WorkflowPorts } from "./ports.ts";
import { formatReport } from "./reports.ts";

const format = z.enum(["text", "sarif", "github"]).default("text").describe("how findings are printed");

const VALIDATE = defineOperation({
  name: "workflow.validate",
  summary: "Check an artifact or a whole run: every error and warning with file and line.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    target: z.string().min(1).describe("a file, - for standard input, or a run"),
    kind: z.string().min(1).optional().describe("what kind of file it is, if its name does not say"),
    check_evidence: z.boolean().default(false).describe("runs: the declared evidence exists"),
    against_repo: z.boolean().default(false).describe("runs: the patch passes the gate against the base"),
    format,
  }),
  output: z.strictObject({
    ok: z.boolean().describe("whether there are no errors"),
    results: z.array(judgedSchema),
    report: z.string().describe("the findings in the chosen format"),
  }),
  run: async (ports: WorkflowPorts, input) => {
    const results = await validateTarget(ports, {
      target: input.target,
      kind: input.kind ?? null,
      checkEvidence: input.check_evidence,
      againstRepo: input.against_repo,
    });
    const errors = results.flatMap((one) => one.errors);
    const warnings = results.flatMap((one) => one.warnings);
    return {
      ok: errors.length === 0,
      results: results.map((one) => ({
        ...one,
        errors: one.errors.map((finding) => ({ ...finding })),
        warnings: one.warnings.map((finding) => ({ ...finding })),
      })),
      report: formatReport({ errors, warnings }, input.format),
    };
  },
});

const PACK = defineOperation({
  name: "workflow.pack",
  summary: "Run only the librarian: build a context pack for a file request.",
  effect: "append",
  surfaces: [...LOCAL_SURFACES, "mcp"],
  input: z.strictObject({
    request: z.string().min(1).optional().describe("file with a file_request.json; - reads standard input"),
    file_request: z.unknown().optional().describe("the file request itself, instead of a file"),
    out: z.string().min(1).optional().describe("new file for the pack; default: standard output"),
  }),
  output: z.strictObject({
    text: z.string().describe("the pack, byte for byte as it is written"),
    summary: z.string(),
    sha256: z.string(),
    out: z.string().nullable(),
  }),
  run: async (ports: WorkflowPorts, input) => {
    const name = input.request ?? FILE_REQUEST_FILE;
    const bytes = await readFileRequest(ports, input);
    const { value, errors } = validateFileRequest(bytes, null, name);
    if (value === null) {
      const first = errors[0]!;
      throw new VerbatimError("FILE_REQUEST_INVALID", {
        message: `${first.code}: ${sayFinding(first)}`,
        where: `${name}:${first.line ?? 1}`,
        details: { errors },
      });
    }
    const slug = toRepoSlug(ports.repoName, (name) => ports.crypto.sha256(name));
    // Outside a run nobody has agreed to documents that only the contract names; those the configuration names are wanted.
    const missing_docs = ports.config.names_mandatory_docs ? "fail" : "list";
    const pack = buildPack(value, slug, { ...librarianRules(ports), missing_docs }, ports.reader);
    const text = formatArtifact(pack);
    const output = { text, summary: pack.summary, sha256: ports.crypto.sha256(text), out: input.out ?? null };
    ports.assertDeliverable?.(output);
    if (input.out !== undefined) await ports.files.create(input.out, new TextEncoder().encode(text));
    await recordPack(ports, "workflow/_pack", ports.crypto.sha256(bytes), text);
    return output;
  },
});

/** The bytes of a request: its file, or what was given instead of one. */
async function readFileRequest(
  { files }: WorkflowPorts,
  { request, file_request }: { readonly request?: string | undefined; readonly file_request?: unknown },
): Promise<Uint8Array> {
  if ((request === undefined) === (file_request === undefined)) {
    throw new VerbatimError("INPUT_INVALID", { message: "give either a file with a request or the request itself" });
  }
  if (request !== undefined) return files.read(request, MOST_ARTIFACT_BYTES);
  return new TextEncoder().encode(JSON.stringify(file_request));
}

const PATCH_CHECK = defineOperation({
  name: "workflow.patch-check",
  summary: "Run only the patch gate: show what a patch would change, or why it is rejected.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    file: z.string().min(1).optional().describe("file with the patch; default and -: standard input"),
    patch: z.string().optional().describe("the patch itself, instead of a file"),
    plan: z.string().min(1).optional().describe("PLAN.md whose scope and budgets apply"),
    policy: z
      .string()
      .min(1)
      .optional()
      .describe("JSON file with a patch policy; given fields replace the configured ones"),
    repo: z.string().min(1).optional().describe("top of the work tree; default: this repository"),
    no_git: z.boolean().default(false).describe("skip the git stage"),
    format,
  }),
  output: z.strictObject({
    result: patchResultSchema,
    git_stage: z.enum(["run", "skipped"]).describe("whether git was used"),
    offending_line: z.string().nullable().describe("the line of the patch at which it was refused"),
    advice: z.string().nullable().describe("what a correct one looks like"),
    report: z.string().describe("the findings in the chosen format"),
  }),
  run: checkPatch,
});

interface PatchCheckInput {
  readonly file?: string | undefined;
  readonly patch?: string | undefined;
  readonly plan?: string | undefined;
  readonly policy?: string | undefined;
  readonly repo?: string | undefined;
  readonly no_git: boolean;
  readonly format: "text" | "sarif" | "github";
}

async function checkPatch(ports: WorkflowPorts, input: PatchCheckInput) {
  const file = input.file ?? "-";
  const patch =
    input.patch === undefined
      ? await ports.files.read(file, MOST_ARTIFACT_BYTES)
      : new TextEncoder().encode(input.patch);
  const plan = input.plan === undefined ? null : await readPlan(ports, input.plan);
  const policy =
    input.policy === undefined
      ? ports.config.patch
      : parsePolicy(await ports.files.read(input.policy, MOST_ARTIFACT_BYTES), ports.config.patch, input.policy);
  const gate = {
    patch,
    policy,
    scope: plan === null ? null : { allow: plan.scope_allow, deny: plan.scope_deny },
    planLimits:
      plan === null ? null : { max_files: plan.budgets.max_files, max_total_bytes: plan.budgets.max_total_bytes },
    platform: ports.platform,
  };
  const checker = input.repo === undefined ? ports.git : ports.checkerOf(input.repo);
  const result = input.no_git
    ? (await judgePatchPausing(gate, ports.pause)).result
    : await judgePatchWithGit(gate, checker, null, ports.pause);
  const name = input.patch !== undefined || file === "-" ? "diff.patch" : file;
  const line = result.verdict === "reject" ? (result.line ?? null) : null;
  return {
    result: JSON.parse(JSON.stringify(result)) as z.input<typeof patchResultSchema>,
    git_stage: input.no_git ? ("skipped" as const) : ("run" as const),
    offending_line: line === null ? null : lineAt(patch, line),
    advice: result.verdict === "reject" ? adviseFor(result.rule) : null,
    report: formatReport({ errors: toFindings(result, name), warnings: [] }, input.format),
  };
}

async function readPlan(ports: WorkflowPorts, file: string) {
  const bytes = await ports.files.read(file, MOST_ARTIFACT_BYTES);
  const { value, errors } = validatePlan(bytes, { kind: "signed", knownGates: null }, file);
  if (value !== null) return value;
  const first = errors[0]!;
  throw new VerbatimError("PLAN_UNREADABLE", {
    message: `${first.code}: ${first.message}`,
    where: first.line === null ? file : `${file}:${first.line}`,
    details: { errors },
  });
}

function toFindings(result: PatchResult, file: string): ArtifactFinding[] {
  if (result.verdict === "accept") return [];
  return listRefusals(result).map(({ code, rule, path }) => ({
    code,
    // A rule about a path is shown at that path, so that annotations land on the file.
    file: path ?? file,
    line: path === undefined ? (result.line ?? null) : null,
    key: rule,
    message: `${rule}${result.stderr === undefined ? "" : `: ${result.stderr}`}`,
    fix: adviseFor(rule),
  }));
}

export const CHECK_OPERATIONS = [VALIDATE, PACK, PATCH_CHECK] as const;
