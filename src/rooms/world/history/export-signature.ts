import { encodeUtf8, formatCanonical, type JsonObject, parseJson, parseObject } from "../../../core/canonical/index.ts";
import { type Code, codeFacts, fixAt } from "../../../core/errors/index.ts";
import type { Crypto, SyncCrypto } from "../../../core/ports.ts";
import {
  type Attestation,
  decodeBase64,
  encodePae,
  evaluateTrust,
  type OpenedEnvelope,
  parsePublicKey,
  readAttestation,
  type SigningKey,
  STATEMENT_PAYLOAD_TYPE,
  signEnvelope,
  type TrustPolicy,
  type Verdict,
} from "../../../core/trust/index.ts";
import { eligibleKeys } from "../../../core/trust/policy.ts";
import { STATEMENT_TYPE } from "../../../core/trust/statement.ts";
import { type FileFinding, splitLines } from "./world-file.ts";

const PREDICATE_TYPE = "urn:verbatim:predicate:world-export:v1";

/** An export is a package like a bundle; the type of its predicate keeps one from passing for the other. */
const SCOPE = "BUNDLE";

/** What the signature of an export is about: its first line and its last. */
export interface ExportEnds {
  readonly header: JsonObject;
  readonly manifest: JsonObject;
}

/** What is known about who made an export. */
export interface ExportTrust {
  readonly verdict: Verdict;
  readonly code: Code | null;
  /** Key ids as the file names them; nobody vouches for these. */
  readonly named_keys: readonly string[];
  /** Key ids of the policy whose signature is valid. */
  readonly valid_keys: readonly string[];
  readonly threshold: number | null;
}

/** The in-toto Statement that is signed, as canonical JSON. Its subject is every byte before the manifest. */
function formatStatement({ header, manifest }: ExportEnds, sha256: string): string {
  const { signature: _, ...unsigned } = manifest;
  const { world_id = null, format = null, viewer = null } = header;
  return formatCanonical({
    _type: STATEMENT_TYPE,
    subject: [{ name: `${String(world_id)}.vworld.jsonl`, digest: { sha256 } }],
    predicateType: PREDICATE_TYPE,
    predicate: { format, world_id, viewer, manifest: unsigned },
  });
}

/** The lines of an export with a signature in the manifest; the other lines stay as they are. */
export async function signExport(lines: readonly string[], key: SigningKey): Promise<readonly string[]> {
  const header = parseJson(lines[0]!) as JsonObject;
  const manifest = parseJson(lines.at(-1)!) as JsonObject;
  const statement = encodeUtf8(formatStatement({ header, manifest }, String(manifest["file_sha256"])));
  const signature = await signEnvelope(key, STATEMENT_PAYLOAD_TYPE, statement);
  return [...lines.slice(0, -1), formatCanonical({ ...manifest, signature })];
}

/**
 * Judges the signature of an export. What it says must fit the bytes of the file in any case; whose signatures count
 * is for the policy to say, and without one nobody's was checked.
 */
export async function judgeSignature(
  crypto: SyncCrypto,
  policy: TrustPolicy | null,
  ends: ExportEnds,
  text: string,
): Promise<{ readonly trust: ExportTrust; readonly findings: readonly FileFinding[] }> {
  const lines = splitLines(text);
  const where = `line ${lines.length}`;
  const attestation = readSignature(ends.manifest);
  const opened = attestation === null || attestation === "MALFORMED" ? null : attestation;
  const named_keys = opened?.envelope.signatures.flatMap(({ keyid }) => keyid ?? []) ?? [];
  const judged = await evaluateTrust(crypto, policy, SCOPE, attestation);
  const sha256 = () =>
    crypto.sha256(
      lines
        .slice(0, -1)
        .map((line) => `${line}\n`)
        .join(""),
    );
  const misfit = attestation === null ? null : findMisfit(opened, () => formatStatement(ends, sha256()));
  const verdict = misfit === null ? judged.verdict : "UNTRUSTED";
  const { valid_keys, threshold } = judged;
  const trust: ExportTrust = { verdict, code: judged.code ?? misfit, named_keys, valid_keys, threshold };
  const findings = [...new Set([misfit, judged.code])].flatMap((code) => (code === null ? [] : toFinding(code, where)));
  if (opened === null || policy === null || judged.verdict === "TRUSTED") return { trust, findings };
  return { trust, findings: [...findings, ...(await findBadSignatures(crypto, policy, opened, where))] };
}

function readSignature({ signature }: JsonObject): Attestation {
  const attestation = readAttestation(signature ?? null);
  if (attestation === null || attestation === "MALFORMED") return attestation;
  return attestation.envelope.signatures.length === 0 ? "MALFORMED" : attestation;
}

type Misfit =
  | "ATTESTATION_INVALID"
  | "ATTESTATION_TYPE"
  | "ATTESTATION_SUBJECT_MISMATCH"
  | "ATTESTATION_PREDICATE_MISMATCH";

/** Why the statement of a signature is not the one about this file, or null. */
function findMisfit(opened: OpenedEnvelope | null, expect: () => string): Misfit | null {
  if (opened === null) return "ATTESTATION_INVALID";
  if (opened.envelope.payloadType !== STATEMENT_PAYLOAD_TYPE) return "ATTESTATION_TYPE";
  const own = expect();
  if (equalBytes(opened.payload, encodeUtf8(own))) return null;
  const statement = parseObject(opened.payload);
  if (statement === null) return "ATTESTATION_INVALID";
  const expected = parseJson(own) as JsonObject;
  const differs = (name: string) =>
    formatCanonical(statement[name] ?? null) !== formatCanonical(expected[name] ?? null);
  if (differs("_type") || differs("predicateType")) return "ATTESTATION_TYPE";
  return differs("subject") ? "ATTESTATION_SUBJECT_MISMATCH" : "ATTESTATION_PREDICATE_MISMATCH";
}

/** Signatures in the name of a key of the policy that this key never made. */
async function findBadSignatures(
  crypto: Crypto,
  policy: TrustPolicy,
  { envelope, payload }: OpenedEnvelope,
  where: string,
): Promise<FileFinding[]> {
  const eligible = eligibleKeys(policy, SCOPE);
  const message = encodePae(envelope.payloadType, payload);
  const findings: FileFinding[] = [];
  for (const { keyid = "", sig } of envelope.signatures) {
    const key = eligible.get(keyid);
    if (key === undefined) continue;
    const bytes = decodeBase64(sig);
    if (bytes !== null && (await crypto.ed25519Verify(parsePublicKey(key.public_key), message, bytes))) continue;
    const wrong = `the signature in the name of ${key.name} (${keyid}) was not made with that key`;
    findings.push({ code: "WORLD_SIGNATURE_INVALID", where, message: wrong, fix: AGAIN });
  }
  return findings;
}

const AGAIN = "Get the file again from someone you trust.";

const MISFITS: Readonly<Record<Misfit, string>> = {
  ATTESTATION_INVALID: "the signature is not a DSSE envelope with a statement",
  ATTESTATION_TYPE: "the signature is not for an exported world",
  ATTESTATION_SUBJECT_MISMATCH: "the signature is about a different file",
  ATTESTATION_PREDICATE_MISMATCH: "the signature does not agree with the manifest",
};

function toFinding(code: Code, where: string): FileFinding {
  const own: Readonly<Record<string, string>> = MISFITS;
  const { says, fix } = codeFacts(code);
  return { code, where, message: own[code] ?? says, fix: own[code] === undefined ? fixAt("cli", fix) : AGAIN };
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
