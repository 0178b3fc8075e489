import {
  compareCodePoints,
  formatCanonical,
  isCanonicalForm,
  isHash,
  sortedUnique,
} from "../../../core/canonical/index.ts";
import { findSliceProblem, isSymbolId } from "../../../core/contracts/index.ts";
import { FINDINGS, type Finding } from "../../../core/errors/index.ts";
import type { Crypto } from "../../../core/ports.ts";
import { FORBIDDEN_FIELDS } from "../contracts/manifest-shape.ts";
import type { BundleFiles, FileFacts } from "./bundle-files.ts";
import { compareSteps, toArtifactId, toBundleId, toPlanHash, toRootHash } from "./bundle-hash.ts";
import { ARTIFACT_READ_CODES, cleanPath, findPathProblems, toArtifactPath } from "./bundle-paths.ts";
import type { BundleProblem } from "./bundle-problem.ts";
import type { LooseManifest } from "./manifest.ts";

type Artifact = LooseManifest["artifacts"][number];
type Step = LooseManifest["steps"][number];

/** What the checks found and computed on the way. */
interface Checked {
  readonly problems: BundleProblem[];
  readonly computed: { readonly bundle_id: string; readonly root_hash: string; readonly plan_hash: string };
  /** Bytes of all artifacts that could be read. */
  readonly bytes: number;
}

interface CheckInput {
  readonly crypto: Crypto;
  readonly files: BundleFiles;
  readonly manifest: LooseManifest;
  /** The manifest as it was read, for strict mode. */
  readonly bytes: Uint8Array;
  readonly strict: boolean;
}

const CONCURRENCY = 8;
const LINE_FEED = 0x0a;
const CRLF_HINT =
  " Its line endings are CRLF, perhaps because of a checkout: mark the folder -text in .gitattributes and check it out again.";

/**
 * Phase C of verifying a bundle (Bundle Protocol 8.3 to 8.10, then what strict mode adds). Collects every problem in
 * the order of the protocol. Cost: every artifact is read once, a few at a time.
 */
export async function checkBundle(input: CheckInput): Promise<Checked> {
  const { crypto, manifest, strict } = input;
  const { steps, artifacts } = manifest;
  const problems: BundleProblem[] = [];
  const report = toReporter(problems);
  if (!isSorted(steps, compareSteps)) report("STEPS_NOT_ORDERED", "/steps");
  if (!isSorted(artifacts, (a, b) => compareCodePoints(a.artifact_id, b.artifact_id))) {
    report("ARTIFACTS_NOT_ORDERED", "/artifacts");
  }
  const facts = await inspectArtifacts(input, report);
  checkFacts(artifacts, facts, report);
  const computed = {
    bundle_id: await toBundleId(crypto, manifest, input.bytes.length),
    root_hash: await toRootHash(crypto, artifacts),
    plan_hash: await toPlanHash(crypto, manifest.run_id, steps),
  };
  const { root_hash } = manifest.hashes;
  if (computed.root_hash !== root_hash)
    report("ROOT_HASH_MISMATCH", "/hashes/root_hash", root_hash, computed.root_hash);
  if (computed.bundle_id !== manifest.bundle_id) {
    report("BUNDLE_ID_MISMATCH", "/bundle_id", manifest.bundle_id, computed.bundle_id);
  }
  checkBounds(manifest, report);
  for (const name of FORBIDDEN_FIELDS) if (Object.hasOwn(manifest, name)) report("FORBIDDEN_FIELD", `/${name}`);
  if (strict) await checkStrictly(input, computed.plan_hash, report);
  const bytes = facts.reduce((sum, one) => sum + (one !== null && "bytes" in one ? one.bytes : 0), 0);
  return { problems, computed, bytes };
}

type Report = (
  code: Finding<"jobs">,
  pointer: string,
  expected?: string,
  actual?: string,
  path?: string,
  hint?: string,
) => void;

function toReporter(problems: BundleProblem[]): Report {
  return (code, pointer, expected, actual, path, hint = "") =>
    problems.push({
      code,
      pointer,
      message: `${FINDINGS.jobs[code]}${hint}`,
      ...(expected === undefined ? {} : { expected }),
      ...(actual === undefined ? {} : { actual }),
      ...(path === undefined ? {} : { path }),
    });
}

function isSorted<T>(items: readonly T[], compare: (a: T, b: T) => number): boolean {
  return items.every((item, i) => i === 0 || compare(items[i - 1]!, item) <= 0);
}

/** Judges the paths, then reads what can be read, some files at a time. Null where the path is not one. */
async function inspectArtifacts({ files, manifest }: CheckInput, report: Report): Promise<(FileFacts | null)[]> {
  const paths = manifest.artifacts.map(({ path }, i) => {
    const codes = findPathProblems(path);
    for (const code of codes) report(code, `/artifacts/${i}/path`);
    return codes.length === 0 ? cleanPath(path) : null;
  });
  const facts = new Array<FileFacts | null>(paths.length).fill(null);
  let next = 0;
  const work = async () => {
    for (let i = next++; i < paths.length; i = next++) {
      const path = paths[i]!;
      if (path !== null) facts[i] = path === "" ? { problem: "not-regular" } : await files.inspect(path);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, paths.length) }, work));
  return facts;
}

type ReadFacts = Extract<FileFacts, { readonly sha256: string }>;

function checkFacts(artifacts: readonly Artifact[], facts: readonly (FileFacts | null)[], report: Report): void {
  const each = (run: (artifact: Artifact, found: ReadFacts, at: string) => void) => {
    for (const [i, artifact] of artifacts.entries()) {
      const found = facts[i];
      if (found !== null && found !== undefined && "sha256" in found) run(artifact, found, `/artifacts/${i}`);
    }
  };
  for (const [i, found] of facts.entries()) {
    if (found !== null && "problem" in found) report(ARTIFACT_READ_CODES[found.problem], `/artifacts/${i}/path`);
  }
  each(({ sha256 }, found, at) => {
    if (found.sha256 !== sha256) {
      report("ARTIFACT_HASH_MISMATCH", `${at}/sha256`, sha256, found.sha256, undefined, found.crlf ? CRLF_HINT : "");
    }
  });
  each(({ bytes }, found, at) => {
    if (BigInt(found.bytes) !== BigInt(bytes)) {
      report("ARTIFACT_SIZE_MISMATCH", `${at}/bytes`, String(bytes), String(found.bytes));
    }
  });
  each((_, found, at) => {
    if (!found.newline) report("ARTIFACT_NO_NEWLINE", at);
  });
  each((_, found, at) => {
    if (!found.utf8) report("ARTIFACT_NOT_UTF8", at);
  });
}

/** Bundle Protocol 8.9: nothing without bounds, nothing that no step asked for. */
function checkBounds({ steps, artifacts }: LooseManifest, report: Report): void {
  for (const [i, { slice }] of artifacts.entries()) {
    if (findSliceProblem(slice) === "SLICE_UNBOUNDED") report("SLICE_UNBOUNDED", `/artifacts/${i}/slice`);
  }
  for (const [i, step] of steps.entries()) {
    const slice = sliceOf(step);
    if (slice !== null && findSliceProblem(slice) === "SLICE_UNBOUNDED") {
      report("SLICE_UNBOUNDED", `/steps/${i}/constraints/slice`);
    }
  }
  const asked = new Set(steps.map((step) => toPairKey(refOf(step), sliceOf(step))));
  for (const [i, { ref, slice }] of artifacts.entries()) {
    if (!asked.has(toPairKey(ref, slice))) report("ARTIFACT_UNREFERENCED", `/artifacts/${i}`);
  }
}

/** What the protocol implies but does not list. */
async function checkStrictly(
  { crypto, files, manifest, bytes }: CheckInput,
  planHash: string,
  report: Report,
): Promise<void> {
  const { steps, artifacts, inputs } = manifest;
  const isCanonical = bytes.at(-1) === LINE_FEED && isCanonicalForm(bytes.subarray(0, -1), manifest);
  if (!isCanonical) report("MANIFEST_NOT_CANONICAL", "");
  if (planHash !== manifest.plan_hash) report("PLAN_HASH_MISMATCH", "/plan_hash", manifest.plan_hash, planHash);
  if (steps.length === 0) report("BUNDLE_EMPTY", "/steps");
  for (const [i, { artifact_id, ref, slice }] of artifacts.entries()) {
    const expected = await toArtifactId(crypto, ref, slice);
    if (artifact_id !== expected) report("ARTIFACT_ID_MISMATCH", `/artifacts/${i}/artifact_id`, expected, artifact_id);
  }
  for (const [i, { artifact_id, path }] of artifacts.entries()) {
    if (path !== toArtifactPath(artifact_id))
      report("ARTIFACT_PATH_NAME", `/artifacts/${i}/path`, toArtifactPath(artifact_id), path);
  }
  for (const i of findRepeats(artifacts.map(({ artifact_id }) => artifact_id)))
    report("ARTIFACT_DUPLICATE", `/artifacts/${i}`);
  for (const [i, { kind, ref }] of artifacts.entries()) {
    if (kind === "SYMBOL_SLICE" ? !isSymbolId(ref) : !isHash(ref))
      report("ARTIFACT_KIND_MISMATCH", `/artifacts/${i}/kind`);
  }
  for (const i of findRepeats(steps.map(({ step_id }) => step_id))) report("STEP_DUPLICATE", `/steps/${i}/step_id`);
  const there = new Set(artifacts.map(({ kind, ref, slice }) => `${kind}\n${toPairKey(ref, slice)}`));
  for (const [i, step] of steps.entries()) {
    const kind = step.op === "READ_SYMBOL" ? "SYMBOL_SLICE" : "SECTION_SLICE";
    if (!there.has(`${kind}\n${toPairKey(refOf(step), sliceOf(step))}`)) report("STEP_WITHOUT_ARTIFACT", `/steps/${i}`);
  }
  checkSlices(manifest, report);
  const symbols = steps.flatMap((step) => (step.op === "READ_SYMBOL" ? [refOf(step)] : []));
  const slices = steps.flatMap((step) => sliceOf(step) ?? []);
  for (const [name, actual, expected] of [
    ["symbols", inputs.symbols, sortedUnique(symbols)],
    ["files", inputs.files, sortedUnique(inputs.files)],
    ["slices", inputs.slices, sortedUnique(slices)],
  ] as const) {
    if (formatCanonical(actual) !== formatCanonical(expected)) report("INPUTS_MISMATCH", `/inputs/${name}`);
  }
  await checkExtraFiles(files, artifacts, report);
}

function checkSlices({ steps, artifacts }: LooseManifest, report: Report): void {
  const check = (slice: string | null, pointer: string) => {
    const code = slice === null ? null : findSliceProblem(slice);
    if (code === "SLICE_SYNTAX" || code === "SLICE_EMPTY") report(code, pointer);
  };
  for (const [i, { slice }] of artifacts.entries()) check(slice, `/artifacts/${i}/slice`);
  for (const [i, step] of steps.entries()) check(sliceOf(step), `/steps/${i}/constraints/slice`);
}

async function checkExtraFiles(files: BundleFiles, artifacts: readonly Artifact[], report: Report): Promise<void> {
  const declared = artifacts
    .filter(({ path }) => findPathProblems(path).length === 0)
    .map(({ path }) => cleanPath(path));
  const known = new Set(["bundle.json", "artifacts/", ...declared]);
  const extra = (await files.list()).filter((path) => !known.has(path));
  for (const path of [...extra].sort(compareCodePoints)) report("EXTRA_FILE", "", undefined, undefined, path);
}

function findRepeats(ids: readonly string[]): number[] {
  const seen = new Set<string>();
  return ids.flatMap((id, i) => {
    if (seen.has(id)) return [i];
    seen.add(id);
    return [];
  });
}

/** The id a step reads. */
export function refOf({ op, refs }: Step): string {
  return String(refs[op === "READ_SYMBOL" ? "symbol_id" : "section_id"]);
}

/** The slice of a step, or null when it has none. */
export function sliceOf(step: Step): string | null {
  const constraints = step["constraints"] as { readonly slice?: string } | undefined;
  return constraints?.slice ?? null;
}

/** One key for a ref and a slice; no other pair has it, whatever characters they hold. */
export function toPairKey(ref: string, slice: string | null): string {
  return JSON.stringify([ref, slice]);
}
