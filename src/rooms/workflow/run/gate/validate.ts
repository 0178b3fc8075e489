import { decodeUtf8, formatCanonical, parseJson } from "../../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../../core/errors/index.ts";
import { findKind, type JudgeContext, judgeArtifact, KINDS, NO_CONTEXT } from "../../artifacts/artifact-kinds.ts";
import { BUNDLE_FILE, findMissingEntries } from "../../artifacts/bundle-layout.ts";
import { EVENTS_FILE, splitLines } from "../../artifacts/events.ts";
import { EXPECTED_RESULTS_FILE, validateExpectedResults } from "../../artifacts/expected-results.ts";
import type { ArtifactFinding } from "../../artifacts/finding.ts";
import { PLAN_DRAFT_FILE, PLAN_FILE, validatePlan } from "../../artifacts/plan.ts";
import { checkPlan, toPlanFinding } from "../../artifacts/plan-check.ts";
import { REASONS_FILE } from "../../artifacts/reasons.ts";
import { PATCH_FILE } from "../../dispatch/next-step.ts";
import type { WorkflowPorts } from "../../operations/ports.ts";
import { adviseFor } from "../../patch/patch-review.ts";
import { findRun } from "../find/find-run.ts";
import { readEventBodies } from "../record/run-log.ts";
import type { Run } from "../run.ts";
import { judgeRunPatch } from "./gate-step.ts";
import { judgeContext } from "./judge-context.ts";
import { MOST_ARTIFACT_BYTES } from "./receive.ts";

interface Judged {
  readonly file: string;
  readonly kind: string;
  readonly errors: readonly ArtifactFinding[];
  readonly warnings: readonly ArtifactFinding[];
}

interface ValidateOptions {
  readonly target: string;
  readonly kind: string | null;
  readonly checkEvidence: boolean;
  readonly againstRepo: boolean;
}

/** Judges one file of the caller, or every artifact of a run. Writes nothing. */
export async function validateTarget(ports: WorkflowPorts, options: ValidateOptions): Promise<Judged[]> {
  const run = tryRun(ports, options);
  return run === null ? [await judgeFile(ports, options)] : await judgeRun(run, options);
}

/** A target that is a run; a file of that name wins when a kind is given. */
function tryRun(ports: WorkflowPorts, { target, kind }: ValidateOptions): Run | null {
  if (kind !== null || /\.(?:md|json|jsonl|patch|zip)$/.test(target) || target === "-") return null;
  try {
    return findRun(ports, target);
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "RUN_NOT_FOUND") return null;
    throw thrown;
  }
}

async function judgeFile(ports: WorkflowPorts, { target, kind }: ValidateOptions): Promise<Judged> {
  const bytes = await ports.files.read(target, MOST_ARTIFACT_BYTES);
  if (kind === "failure_bundle" || (kind === null && target.endsWith(".zip"))) return judgeBundle(ports, bytes, target);
  const found = findKind(kind ?? target);
  if (found === null) {
    throw new VerbatimError("ARTIFACT_UNKNOWN", {
      message:
        kind === null
          ? `the name ${JSON.stringify(target)} does not say what kind of file it is`
          : `there is no kind ${JSON.stringify(kind)}`,
      fix: {
        cli: `Name it: --kind ${KINDS.map(({ name }) => name).join("|")}`,
        others: `Set kind to one of ${KINDS.map(({ name }) => name).join(", ")}.`,
      },
    });
  }
  const { errors, warnings } = found.judge(bytes, NO_CONTEXT, target);
  return { file: target, kind: found.name, errors, warnings };
}

function judgeBundle(ports: WorkflowPorts, bytes: Uint8Array, file: string): Judged {
  const names = ports.zipper.names(bytes);
  const finding = (code: string, message: string): ArtifactFinding => ({
    code,
    file,
    line: null,
    message,
    fix: "Let advance build it again.",
  });
  const errors =
    names === null
      ? [finding("BUNDLE_UNREADABLE", "the file is not a zip archive")]
      : findMissingEntries(names).map((name) => finding("BUNDLE_ENTRY_MISSING", `the entry ${name} is missing`));
  return { file, kind: "failure_bundle", errors, warnings: [] };
}

async function judgeRun(run: Run, options: ValidateOptions): Promise<Judged[]> {
  const plan = readPlan(run);
  const context: JudgeContext = { ...judgeContext(run), declaredGates: plan?.gates ?? null };
  // A review that was accepted is held against what it was accepted with.
  const withRecord = (path: string): JudgeContext => {
    const record = run.state.reviews[path];
    const review_sha256 = run.hash(path);
    if (context.review === null || record === undefined || review_sha256 === null) return context;
    return { ...context, review: { ...context.review, review_sha256, record } };
  };
  const judged: Judged[] = [];
  for (const { name, path } of KINDS) {
    const bytes = name === "outbox_prompt" || name === "diff_patch" ? null : run.read(path);
    if (bytes !== null) judged.push({ file: path, kind: name, ...judgeArtifact(path, bytes, withRecord(path)) });
  }
  judged.push(...judgeReferences(run), await judgeLedger(run));
  const bundle = run.read(BUNDLE_FILE);
  if (bundle !== null) judged.push(judgeBundle(run.ports, bundle, BUNDLE_FILE));
  if (options.checkEvidence) judged.push(judgeEvidence(run));
  if (options.againstRepo && plan !== null && run.read(PATCH_FILE) !== null) judged.push(await judgeCandidate(run));
  return judged;
}

function readPlan(run: Run) {
  const bytes = run.read(PLAN_FILE);
  return bytes === null ? null : validatePlan(bytes, { kind: "signed", knownGates: run.knownGates }).value;
}

/** plan_check on the draft, once all three files are there and valid. */
function judgeReferences(run: Run): Judged[] {
  const [plan, reasons, expectedResults] = [PLAN_DRAFT_FILE, REASONS_FILE, EXPECTED_RESULTS_FILE].map((path) =>
    run.read(path),
  );
  if (plan == null || reasons == null || expectedResults == null) return [];
  const context = { kind: "draft", knownGates: run.knownGates } as const;
  const found = checkPlan({ plan, reasons, expectedResults, behaviorIds: run.behaviorIds(), context });
  // What is not valid has been told with its lines already.
  const errors = found.filter(({ code }) => !code.endsWith("_INVALID"));
  const findings = errors.map((error) => toPlanFinding(error, PLAN_DRAFT_FILE));
  return errors.length === 0 ? [] : [{ file: PLAN_DRAFT_FILE, kind: "plan_check", errors: findings, warnings: [] }];
}

/** The log must be what the ledger has: the first line that differs is named. */
async function judgeLedger(run: Run): Promise<Judged> {
  const bodies = await readEventBodies(run);
  const { complete } = splitLines(run.read(EVENTS_FILE) ?? new Uint8Array());
  const lines = complete.map((line) => decodeUtf8(line as Uint8Array) ?? "");
  for (let i = 0; i < Math.max(lines.length, bodies.length); i++) {
    const body = bodies[i] === undefined ? null : formatCanonical(bodies[i]);
    if (body === null || toCanonical(lines[i]) !== body) {
      const message = body === null ? "the ledger has no such event" : "the ledger has a different event here";
      const fix = "The log was edited; the ledger is authoritative.";
      return {
        file: EVENTS_FILE,
        kind: "ledger",
        errors: [{ code: "EVENTS_LEDGER_MISMATCH", file: EVENTS_FILE, line: i + 1, message, fix }],
        warnings: [],
      };
    }
  }
  return { file: EVENTS_FILE, kind: "ledger", errors: [], warnings: [] };
}

function toCanonical(line: string | undefined): string | null {
  if (line === undefined) return null;
  try {
    return formatCanonical(parseJson(line));
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

/** Evidence as far as it can be seen without the patch: run files and the working tree. */
function judgeEvidence(run: Run): Judged {
  const bytes = run.read(EXPECTED_RESULTS_FILE);
  const results = bytes === null ? {} : (validateExpectedResults(bytes).value ?? {});
  const errors = Object.entries(results).flatMap(([id, { evidence }]) =>
    evidence
      .filter((path) => path !== "artifacts/verify_report.json" && run.folder.size(path) === null)
      .filter((path) => run.ports.reader.look(path).state !== "found")
      .map((path) => ({
        code: "EVIDENCE_MISSING",
        file: EXPECTED_RESULTS_FILE,
        line: null,
        key: id,
        item: path,
        message: `${path} does not exist`,
        fix: "Create it, or name another one.",
      })),
  );
  return { file: EXPECTED_RESULTS_FILE, kind: "evidence", errors, warnings: [] };
}

async function judgeCandidate(run: Run): Promise<Judged> {
  const result = await judgeRunPatch(run, run.read(PATCH_FILE)!, run.plan());
  if (result.verdict === "accept") return { file: PATCH_FILE, kind: "diff_patch", errors: [], warnings: [] };
  const all = result.findings ?? [result];
  const errors = all.map(({ code, rule, path }) => ({
    code,
    file: PATCH_FILE,
    line: result.line ?? null,
    key: rule,
    message: path === undefined ? rule : `${rule} ${path}`,
    fix: adviseFor(rule),
  }));
  return { file: PATCH_FILE, kind: "diff_patch", errors, warnings: [] };
}
