import { z } from "zod";
import { encodeUtf8, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, typed } from "../../../core/operation.ts";
import type { LocalFiles, SyncCrypto } from "../../../core/ports.ts";
import {
  addSignature,
  formatBundleStatement,
  openEnvelopeFile,
  parsePolicy,
  type SigningKey,
  STATEMENT_PAYLOAD_TYPE,
  signEnvelope,
  toEnvelopeFile,
} from "../../../core/trust/index.ts";
import type { BundleFiles, FileFacts } from "../bundle/bundle-files.ts";
import { describeBundle, diffManifests, invalidBundle, requireManifest } from "../bundle/bundle-inspect.ts";
import { inspectArtifact, readArtifact } from "../bundle/bundle-paths.ts";
import { type BundleReport, loadManifest, toInvalidReport, toProblem, verifyBundle } from "../bundle/bundle-verify.ts";
import { replayBundle } from "../bundle/replay.ts";

/** What the operations on finished bundles need; none of them needs a workspace. */
export interface BundlePorts {
  readonly crypto: SyncCrypto;
  readonly files: LocalFiles;
  /** The bundle at a path: its folder or its bundle.json; `attestation` is where its attestation lies. */
  openBundle(
    path: string,
  ):
    | { readonly files: BundleFiles; readonly attestation: string }
    | { readonly problem: "BUNDLE_NOT_FOUND" | "MANIFEST_NAME" };
  loadKey(key: string): Promise<SigningKey>;
  /** A line diff for people. */
  diffLines(name: string, a: string, b: string): string;
}

const MAX_FILE = 16 * 1024 * 1024;
const path = z.string().describe("Folder of the bundle, or its bundle.json.");
const strict = z.boolean().default(false).describe("Also check what the protocol implies but does not spell out.");
const text = z.string().nullable();
const count = z.int().min(0);

const problemSchema = z.strictObject({
  code: z.string(),
  pointer: z.string(),
  message: z.string(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  path: z.string().optional(),
  json_code: z.string().optional(),
});

const reportSchema = z.strictObject({
  ok: z.boolean(),
  exit_code: z.int().min(0).max(2),
  mode: z.enum(["default", "strict"]),
  bundle_id: text,
  root_hash: text,
  computed: z.strictObject({ bundle_id: text, root_hash: text, plan_hash: text }),
  counts: z.strictObject({ steps: count, artifacts: count, bytes: count }),
  problems: z.array(problemSchema),
  trust: z.strictObject({
    verdict: z.enum(["UNSIGNED", "UNCHECKED", "UNTRUSTED", "TRUSTED"]),
    code: text,
    valid_keys: z.array(z.string()),
    threshold: z.number().nullable(),
  }),
  proves: z.array(z.string()),
  does_not_prove: z.array(z.string()),
});

export const bundleVerify = defineOperation({
  name: "jobs.bundle-verify",
  summary: "Verifies a bundle offline: integrity always, who made it with a trust policy.",
  effect: "read",
  surfaces: [...LOCAL_SURFACES, "mcp"],
  input: z.strictObject({
    path,
    strict,
    trust: z.string().optional().describe("Trust policy that says whose signatures count."),
    attestation: z.string().optional().describe("Attestation (default: <bundle>.dsse.json next to the bundle)."),
  }),
  output: reportSchema,
  async run(ports: BundlePorts, input): Promise<z.input<typeof reportSchema>> {
    const mode = input.strict ? "strict" : "default";
    const bundle = ports.openBundle(input.path);
    if ("problem" in bundle) return toPlain(toInvalidReport(mode, [toProblem(bundle.problem)]));
    const { files, crypto } = ports;
    const policy =
      input.trust === undefined
        ? null
        : await parsePolicy(
            crypto,
            parseJson(await files.read(input.trust, MAX_FILE), { file: input.trust }),
            input.trust,
          );
    const attestation =
      input.attestation === undefined
        ? await readIfThere(files, bundle.attestation)
        : await files.read(input.attestation, MAX_FILE);
    return toPlain(await verifyBundle(crypto, bundle.files, { mode, attestation, policy }));
  },
});

function toPlain(report: BundleReport): z.input<typeof reportSchema> {
  return {
    ...report,
    problems: report.problems.map((problem) => ({ ...problem })),
    trust: { ...report.trust, valid_keys: [...report.trust.valid_keys] },
    proves: [...report.proves],
    does_not_prove: [...report.does_not_prove],
  };
}

async function readIfThere(files: LocalFiles, file: string): Promise<Uint8Array | null> {
  try {
    return await files.read(file, MAX_FILE);
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "FILE_NOT_FOUND") return null;
    throw thrown;
  }
}

function requireBundle(ports: BundlePorts, place: string) {
  const bundle = ports.openBundle(place);
  if ("problem" in bundle) throw invalidBundle(place, [toProblem(bundle.problem)]);
  return bundle;
}

export const bundleInspect = defineOperation({
  name: "jobs.bundle-inspect",
  summary: "Shows what a bundle contains, or the text of one artifact.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ path, artifact: z.string().optional().describe("Print the text of this artifact.") }),
  output: z.strictObject({
    bundle: typed<ReturnType<typeof describeBundle>>(
      z.looseObject({
        bundle_id: z.string(),
        steps: z.array(
          z.strictObject({
            ordinal: z.int(),
            op: z.string(),
            ref: z.string(),
            slice: text,
            artifact_id: text,
            bytes: z.int().nullable(),
          }),
        ),
      }),
    ),
    verifies: z.boolean(),
    content: text,
  }),
  async run(ports: BundlePorts, input) {
    const { files } = requireBundle(ports, input.path);
    const manifest = await requireManifest(files, input.path);
    const report = await verifyBundle(ports.crypto, files, { mode: "default" });
    let content: string | null = null;
    if (input.artifact !== undefined) {
      const found = manifest.artifacts.find(({ artifact_id }) => artifact_id === input.artifact);
      if (found === undefined) {
        throw new VerbatimError("USAGE", {
          message: `the bundle has no artifact ${input.artifact}`,
          details: { artifacts: manifest.artifacts.map(({ artifact_id }) => artifact_id) },
        });
      }
      content = await readArtifact(files, found.path);
    }
    return { bundle: describeBundle(manifest), verifies: report.ok, content };
  },
});

const changes = z.strictObject({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
});

export const bundleDiff = defineOperation({
  name: "jobs.bundle-diff",
  summary: "Shows how two bundles differ, down to the lines of their artifacts.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ a: z.string().describe("The first bundle."), b: z.string().describe("The second bundle.") }),
  output: z.strictObject({
    equal: z.boolean(),
    fields: z.array(z.strictObject({ pointer: z.string(), a: z.unknown(), b: z.unknown() })),
    steps: changes,
    artifacts: changes,
    lines: z.array(z.strictObject({ artifact_id: z.string(), diff: z.string() })),
  }),
  async run(ports: BundlePorts, input) {
    const [left, right] = [requireBundle(ports, input.a), requireBundle(ports, input.b)];
    const [a, b] = [await requireManifest(left.files, input.a), await requireManifest(right.files, input.b)];
    const diff = diffManifests(a, b);
    // What the manifests say is one thing; the bytes that are there are looked at as well.
    const changed = new Set(diff.artifacts.changed);
    const lines = [];
    const others = new Map(b.artifacts.map((one) => [one.artifact_id, one]));
    for (const { artifact_id, path } of a.artifacts) {
      const other = others.get(artifact_id);
      if (other === undefined) continue;
      const [x, y] = [await inspectArtifact(left.files, path), await inspectArtifact(right.files, other.path)];
      if (toState(x) === toState(y)) continue;
      changed.add(artifact_id);
      const texts = [await toText(left.files, path, x), await toText(right.files, other.path, y)] as const;
      lines.push({ artifact_id, diff: ports.diffLines(`${artifact_id}.txt`, ...texts) });
    }
    return {
      equal: diff.equal && lines.length === 0,
      fields: diff.fields.map((field) => ({ ...field })),
      steps: toLists(diff.steps),
      artifacts: toLists({ ...diff.artifacts, changed: [...changed] }),
      lines,
    };
  },
});

function toState(facts: FileFacts): string {
  return "problem" in facts ? facts.problem : facts.sha256;
}

/** The text of an artifact; what is not there or is not a text has none. */
async function toText(files: BundleFiles, place: string, facts: FileFacts): Promise<string> {
  return "problem" in facts || !facts.utf8 ? "" : readArtifact(files, place);
}

function toLists({
  added,
  removed,
  changed,
}: { readonly [name in "added" | "removed" | "changed"]: readonly string[] }) {
  return { added: [...added], removed: [...removed], changed: [...changed] };
}

const bundleReplay = defineOperation({
  name: "jobs.bundle-replay",
  summary: "Replays a bundle offline: verifies it, then prints a receipt for every step.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    path,
    strict,
    out: z.string().optional().describe("File for the receipts; never overwritten (default: standard output)."),
  }),
  output: z.strictObject({ path: text, receipts: count, replay_hash: z.string(), exit: z.int() }),
  async run(ports: BundlePorts, input) {
    const { jsonl, replay_hash, exit } = await replay(ports, input);
    if (input.out !== undefined) await ports.files.create(input.out, encodeUtf8(jsonl));
    return { path: input.out ?? null, receipts: jsonl.split("\n").length - 1, replay_hash, exit };
  },
  async *lines(ports: BundlePorts, input) {
    const { jsonl, exit } = await replay(ports, input);
    for (const line of jsonl.split("\n").slice(0, -1)) yield line;
    return exit;
  },
});

/** Something that is not a bundle passes on the exit of verifying it, like one that does not verify. */
function replay(ports: BundlePorts, input: { readonly path: string; readonly strict: boolean }) {
  const bundle = ports.openBundle(input.path);
  if ("problem" in bundle) {
    const problems = [toProblem(bundle.problem)];
    throw new VerbatimError("REPLAY_BUNDLE_INVALID", { exit: 2, where: input.path, details: { exit: 2, problems } });
  }
  return replayBundle(ports.crypto, bundle.files, input.strict ? "strict" : "default");
}

const bundleAttest = defineOperation({
  name: "jobs.bundle-attest",
  summary: "Signs a bundle; the attestation is written next to it and can take more signatures.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ path, key: z.string().describe("Key to sign with: a name, or the path of a key file.") }),
  output: z.strictObject({ path: z.string(), key_id: z.string(), bundle_id: z.string(), signatures: count }),
  async run(ports: BundlePorts, input) {
    const key = await ports.loadKey(input.key);
    const bundle = requireBundle(ports, input.path);
    const loaded = await loadManifest(bundle.files, "default");
    if ("problems" in loaded) throw invalidBundle(input.path, loaded.problems);
    const report = await verifyBundle(ports.crypto, bundle.files, { mode: "default" });
    if (!report.ok) throw new VerbatimError("BUNDLE_UNSIGNABLE", { details: { problems: report.problems } });
    const signatures = await attest(ports, bundle.attestation, key, loaded.bytes);
    return { path: bundle.attestation, key_id: key.key_id, bundle_id: loaded.manifest.bundle_id, signatures };
  },
});

/** Signs the manifest's bytes; an existing attestation over the same payload gets one more signature. */
export async function attest(
  ports: Pick<BundlePorts, "crypto" | "files">,
  file: string,
  key: SigningKey,
  manifest: Uint8Array,
): Promise<number> {
  const payload = encodeUtf8(await formatBundleStatement(ports.crypto, manifest));
  const existing = await readIfThere(ports.files, file);
  const envelope =
    existing === null
      ? await signEnvelope(key, STATEMENT_PAYLOAD_TYPE, payload)
      : await addSignature(openEnvelopeFile(existing, file), key, STATEMENT_PAYLOAD_TYPE, payload);
  if (existing === null) await ports.files.create(file, toEnvelopeFile(envelope));
  else await ports.files.replace(file, toEnvelopeFile(envelope));
  return envelope.signatures.length;
}

/** Operations on bundles that exist. */
export const BUNDLE_OPERATIONS = [bundleVerify, bundleInspect, bundleDiff, bundleReplay, bundleAttest] as const;
