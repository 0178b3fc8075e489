import { decodeUtf8, formatCanonical, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { acceptContract } from "../../../core/contracts/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { Awaitable, SyncCrypto } from "../../../core/ports.ts";
import { PROOF_FILE, QUARANTINE_FOLDER, REQUIRED_ARTIFACTS, SIGNATURE_FILE } from "../contracts/constants.ts";
import { PROOF } from "../contracts/index.ts";
import type { FolderNow } from "../ports.ts";
import { ArtifactFiles } from "../record/artifact-files.ts";
import { type Proof, proofHash } from "../record/proof.ts";
import { formatInputHashes } from "../run/closing.ts";
import { formatManifests, type Trees } from "../tree/tree.ts";
import { checkContents } from "./verify-contents.ts";
import { checkSignature, type SignatureState } from "./verify-signature.ts";

/** A run directory in memory: file name -> bytes, and its own name. */
export interface RunFolder {
  readonly name: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Names of what is there and is not a regular file, or was never renamed into place. */
  readonly strays?: readonly string[];
}

/** The trees of a record, null where they cannot be read. */
export interface TreesRead {
  readonly pre: Trees | null;
  readonly post: Trees | null;
}

/** The tree as it is now: hash of each output (null: gone) and the domains (null: not readable). */
export interface TreeNow {
  readonly outputs: ReadonlyMap<string, string | null>;
  readonly domains: ReadonlyMap<string, FolderNow | null>;
}

export interface VerifyOptions {
  /** Public keys in hex; empty: nothing is pinned. */
  readonly pins: readonly string[];
  readonly policy_sha256: string | null;
  /** Called once the record was found genuine; null when there is no tree to look at. */
  readonly tree: (() => Awaitable<TreeNow | null>) | "skip";
  readonly strict_tree: boolean;
}

export interface VerifyProblem {
  readonly code: string;
  readonly file?: string;
  readonly path?: string;
  readonly message: string;
  readonly fix: string;
}

export interface VerifyResult {
  readonly run_id: string;
  readonly accepted: boolean;
  /** The record is what the tool wrote, as far as it can be recomputed. */
  readonly genuine: boolean;
  readonly verified: boolean | null;
  readonly condition: string | null;
  readonly signature: { readonly state: SignatureState; readonly keyid: string | null };
  readonly tree: "matches" | "drifted" | "skipped" | "unavailable";
  readonly errors: readonly VerifyProblem[];
  readonly warnings: readonly VerifyProblem[];
}

/** Collects what is wrong, once per code and place. */
export class Findings {
  readonly list: VerifyProblem[] = [];
  readonly #seen = new Set<string>();

  file(code: keyof typeof VERIFY_FIXES, file: string, message: string): void {
    this.#add(code, { file }, `${file}\0file`, message);
  }

  path(code: keyof typeof VERIFY_FIXES, path: string, message: string): void {
    this.#add(code, { path }, `${path}\0path`, message);
  }

  whole(code: keyof typeof VERIFY_FIXES, message: string): void {
    this.#add(code, {}, "", message);
  }

  #add(code: keyof typeof VERIFY_FIXES, place: { file?: string; path?: string }, key: string, message: string): void {
    if (this.#seen.has(`${code}\0${key}`)) return;
    this.#seen.add(`${code}\0${key}`);
    this.list.push({ code, ...place, message, fix: VERIFY_FIXES[code] });
  }
}

/**
 * Recomputes everything a run directory states (CMP-01, enforcement layer 3). Nothing is believed: the verdict follows
 * from the trees, the violations and the result of the command, and every file is bound by the proof.
 *
 * @example
 * const options = { pins: [], policy_sha256: null, tree: "skip", strict_tree: false } as const;
 * const result = await verifyRun(nodeCrypto, { name: "r1", files: new Map() }, options);
 * result.accepted; // => false
 */
export async function verifyRun(crypto: SyncCrypto, folder: RunFolder, options: VerifyOptions): Promise<VerifyResult> {
  const errors = new Findings();
  const warnings = new Findings();
  const proofBytes = folder.files.get(PROOF_FILE);
  const absent = { state: "absent", keyid: null } as const;
  const rejected = {
    run_id: folder.name,
    accepted: false,
    genuine: false,
    verified: null,
    condition: null,
    signature: absent,
    tree: "skipped",
  } as const;
  if (proofBytes === undefined) {
    errors.file("PROOF_MISSING", PROOF_FILE, "there is no PROOF.json");
    return { ...rejected, errors: errors.list, warnings: warnings.list };
  }
  const proof = readProof(proofBytes);
  if (proof === null) {
    errors.file("ARTIFACT_MALFORMED", PROOF_FILE, "PROOF.json is not a proof of this version");
    return { ...rejected, errors: errors.list, warnings: warnings.list };
  }
  const artifacts = new ArtifactFiles(crypto, folder.files);
  const reading = readTreesOnce(artifacts);
  checkBinding(crypto, folder, proof, proofBytes, artifacts, errors, warnings);
  if (errors.list.length === 0) checkContents(crypto, proof, artifacts, reading, options.policy_sha256, errors);
  const signature = await checkSignature(crypto, folder, proofBytes, options.pins, errors);
  const genuine = errors.list.length === 0;
  const { verified, condition } = proof.restoration_result;
  if (genuine && !verified) errors.whole("NOT_VERIFIED", `the run was not accepted: ${condition}`);
  const tree = genuine ? await checkTree(proof, artifacts, reading.post, options, errors, warnings) : "skipped";
  const accepted = errors.list.length === 0;
  const facts = { run_id: folder.name, accepted, genuine, verified, condition, signature, tree };
  return { ...facts, errors: errors.list, warnings: warnings.list };
}

/** Reads the trees, and computes from them what the large artifacts must be. */
function readTreesOnce(artifacts: ArtifactFiles): TreesRead {
  const pre = artifacts.trees("PRE_TREE.json");
  const same = artifacts.hash("PRE_TREE.json") === artifacts.hash("POST_TREE.json");
  const post = same ? pre : artifacts.trees("POST_TREE.json");
  if (pre === null || post === null) return { pre, post };
  if (same && artifacts.isExpected("PRE_TREE.json")) {
    artifacts.expect("POST_TREE.json", artifacts.text("PRE_TREE.json") ?? "");
  }
  const preManifest = `${formatManifests(pre)}\n`;
  artifacts.expect("PRE_MANIFEST.json", preManifest);
  artifacts.expect("POST_MANIFEST.json", pre === post ? preManifest : `${formatManifests(post)}\n`);
  artifacts.expect("INPUT_HASHES.json", `${formatInputHashes(pre, new Map())}\n`);
  return { pre, post };
}

function readProof(bytes: Uint8Array): Proof | null {
  const text = decodeUtf8(bytes);
  const value = text === null ? undefined : readJson(bytes);
  return value === undefined ? null : acceptContract(PROOF, value);
}

/** A JSON value, or undefined when the bytes are not strict JSON. */
function readJson(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}

/** Layer A: every file is there, canonical, and has the hash the proof gives it; nothing else lies around. */
function checkBinding(
  crypto: SyncCrypto,
  { name, files, strays = [] }: RunFolder,
  proof: Proof,
  proofBytes: Uint8Array,
  artifacts: ArtifactFiles,
  errors: Findings,
  warnings: Findings,
): void {
  if (decodeUtf8(proofBytes) !== `${formatCanonical(proof)}\n`) {
    errors.file("ARTIFACT_MALFORMED", PROOF_FILE, "its bytes are not canonical");
  }
  if (proofHash(crypto, proof) !== proof.proof_hash) {
    errors.file("PROOF_HASH_MISMATCH", PROOF_FILE, "proof_hash is not the hash of the proof");
  }
  if (proof.run_id !== name) {
    errors.file("RUN_ID_MISMATCH", PROOF_FILE, `the proof is for run ${proof.run_id}, but the directory is ${name}`);
  }
  for (const file of files.keys()) {
    if (!file.endsWith(".json") || file === PROOF_FILE || file === SIGNATURE_FILE) continue;
    if (!Object.hasOwn(proof.artifacts, file) && !isRequired(file)) continue;
    if (!artifacts.isCanonical(file)) errors.file("ARTIFACT_MALFORMED", file, "it is not canonical JSON");
  }
  for (const file of REQUIRED_ARTIFACTS) {
    if (!files.has(file)) errors.file("ARTIFACT_MISSING", file, "a required artifact is missing");
    if (!Object.hasOwn(proof.artifacts, file)) errors.file("ARTIFACT_UNBOUND", file, "the proof does not cover it");
  }
  for (const file of Object.keys(proof.artifacts)) {
    if (!files.has(file)) {
      errors.file("ARTIFACT_MISSING", file, "the proof covers it but it is missing");
      continue;
    }
    const hash = artifacts.hash(file);
    if (hash !== proof.artifacts[file]) {
      errors.file("ARTIFACT_HASH_MISMATCH", file, `stated ${proof.artifacts[file]}, computed ${hash}`);
    }
  }
  for (const file of files.keys()) {
    if (file === PROOF_FILE || file === SIGNATURE_FILE || file.startsWith(`${QUARANTINE_FOLDER}/`)) continue;
    if (Object.hasOwn(proof.artifacts, file)) continue;
    if (file === ".DS_Store") warnings.file("STRAY_FILE", file, "a file left by a desktop program");
    else errors.file("ARTIFACT_UNBOUND", file, "the proof does not cover it");
  }
  for (const stray of strays) errors.file("ARTIFACT_UNBOUND", stray, "it is not a file that a proof can cover");
}

function isRequired(file: string): boolean {
  return (REQUIRED_ARTIFACTS as readonly string[]).includes(file);
}

/** What to do about each thing verification can find. */
const VERIFY_FIXES = {
  PROOF_MISSING: "The run did not end: verbatim catalytic recover",
  ARTIFACT_MISSING: "Do not use the outputs; run again.",
  ARTIFACT_MALFORMED: "Do not use the outputs; run again.",
  ARTIFACT_HASH_MISMATCH: "Do not use the outputs; run again.",
  ARTIFACT_UNBOUND: "Remove what does not belong in the run directory, or do not use the outputs.",
  PROOF_HASH_MISMATCH: "Do not use the outputs; the proof was edited.",
  RUN_ID_MISMATCH: "Do not use the outputs; the record belongs to another run.",
  LEDGER_CHAIN_BROKEN: "Do not use the outputs; the ledger of the run was edited.",
  POLICY_WEAKENED: "Do not use the outputs; the policy was edited.",
  POLICY_MISMATCH: "Run again under the policy you want.",
  PREFLIGHT_VIOLATION: "Do not use the outputs; no run of this JobSpec would have been allowed.",
  CROSS_CHECK_MISMATCH: "Do not use the outputs; the record was edited.",
  MANIFEST_MISMATCH: "Do not use the outputs; the record was edited.",
  ROOT_MISMATCH: "Do not use the outputs; the record was edited.",
  DIFF_MISMATCH: "Do not use the outputs; the record was edited.",
  OUTPUTS_INCONSISTENT: "Do not use the outputs; the record was edited.",
  VERDICT_MISMATCH: "Do not use the outputs; the verdict was edited.",
  SIGNATURE_MISSING: "Ask for a signed run: verbatim catalytic run --sign",
  SIGNATURE_INVALID: "Do not use the outputs; the signature is for something else.",
  SIGNATURE_UNTRUSTED: "Pin the key if you trust it: --pin KEY",
  NOT_VERIFIED: "See the run: verbatim catalytic show RUN",
  OUTPUT_MISSING: "Run again, or verify the record alone: --tree none",
  OUTPUT_CHANGED: "Run again, or verify the record alone: --tree none",
  DOMAIN_DRIFTED: "Nothing needs to be done: a domain may be used again after a run.",
  STRAY_FILE: "Remove it.",
} as const;

/** Layer E: whether the outputs and the domains are still what the proof says. */
async function checkTree(
  proof: Proof,
  artifacts: ArtifactFiles,
  trees: Trees | null,
  options: VerifyOptions,
  errors: Findings,
  warnings: Findings,
): Promise<VerifyResult["tree"]> {
  if (options.tree === "skip") return "skipped";
  const now = await options.tree();
  if (now === null) return "unavailable";
  let drifted = false;
  const hashes = artifacts.object("OUTPUT_HASHES.json") ?? {};
  for (const path of Object.keys(hashes)) {
    const hash = now.outputs.get(path) ?? null;
    if (hash === hashes[path]) continue;
    drifted = true;
    if (hash === null) errors.path("OUTPUT_MISSING", path, "the output no longer exists");
    else errors.path("OUTPUT_CHANGED", path, `stated ${String(hashes[path])}, now ${hash}`);
  }
  for (const domain of proof.catalytic_domains) {
    if (now.domains.get(domain)?.isSame(trees?.get(domain) ?? new Map()) === true) continue;
    drifted = true;
    (options.strict_tree ? errors : warnings).path("DOMAIN_DRIFTED", domain, "the domain was used again after the run");
  }
  return drifted ? "drifted" : "matches";
}
