import { formatCanonical, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../errors/index.ts";
import { describeProblems, type FieldProblem } from "../members.ts";
import type { Crypto } from "../ports.ts";
import type { OpenedEnvelope } from "./dsse.ts";

/** DSSE payload type of an in-toto Statement. */
export const STATEMENT_PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** `_type` of an in-toto Statement. */
export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE = "urn:verbatim:predicate:bundle:v1";
const SUBJECT_NAME = "bundle.json";

/** Members of the manifest that the predicate repeats; `root_hash` is one of its `hashes`. */
const COPIED = ["bundle_id", "bundle_version", "job_id", "message_id", "plan_hash", "run_id"] as const;

/**
 * The in-toto Statement v1 that attests a bundle, as canonical JSON, made of the bytes of its bundle.json. Throws the
 * JSON_* code of bytes that are not JSON, INPUT_INVALID for a manifest without the members the predicate repeats.
 */
export async function formatBundleStatement(crypto: Crypto, manifest: Uint8Array): Promise<string> {
  const problems: FieldProblem[] = [];
  const predicate = toPredicate(parseJson(manifest, { file: SUBJECT_NAME }), problems);
  if (problems.length > 0) {
    throw new VerbatimError("INPUT_INVALID", {
      message: describeProblems("the manifest cannot be attested", problems),
      details: { problems },
    });
  }
  return formatCanonical({
    _type: STATEMENT_TYPE,
    subject: await toSubject(crypto, manifest),
    predicateType: PREDICATE_TYPE,
    predicate,
  });
}

/** Codes that say why an attestation is not one of a bundle. */
export type StatementCode =
  | "ATTESTATION_INVALID"
  | "ATTESTATION_TYPE"
  | "ATTESTATION_SUBJECT_MISMATCH"
  | "ATTESTATION_PREDICATE_MISMATCH";

/**
 * What is wrong with an attestation as a statement about the bundle with these bytes of bundle.json, or null. Nobody's
 * signature is checked here. The first problem is the answer: type, subject, predicate.
 */
export async function checkBundleStatement(
  crypto: Crypto,
  attestation: OpenedEnvelope,
  manifest: Uint8Array,
): Promise<StatementCode | null> {
  if (attestation.envelope.payloadType !== STATEMENT_PAYLOAD_TYPE) return "ATTESTATION_TYPE";
  const statement = parseOrNull(attestation.payload);
  if (!isJsonObject(statement)) return "ATTESTATION_INVALID";
  if (statement["_type"] !== STATEMENT_TYPE || statement["predicateType"] !== PREDICATE_TYPE) return "ATTESTATION_TYPE";
  if (!equalJson(statement["subject"], await toSubject(crypto, manifest))) return "ATTESTATION_SUBJECT_MISMATCH";
  const problems: FieldProblem[] = [];
  const predicate = toPredicate(parseOrNull(manifest), problems);
  const fits = problems.length === 0 && equalJson(statement["predicate"], predicate);
  return fits ? null : "ATTESTATION_PREDICATE_MISMATCH";
}

async function toSubject(crypto: Crypto, manifest: Uint8Array): Promise<JsonValue> {
  return [{ name: SUBJECT_NAME, digest: { sha256: await crypto.sha256(manifest) } }];
}

function toPredicate(manifest: JsonValue, problems: FieldProblem[]): JsonObject {
  const members = isJsonObject(manifest) ? manifest : {};
  const hashes = isJsonObject(members["hashes"]) ? members["hashes"] : {};
  const predicate: JsonObject = {};
  const copy = (from: JsonObject, name: string, pointer: string) => {
    const value = Object.hasOwn(from, name) ? from[name] : undefined;
    if (typeof value === "string") predicate[name] = value;
    else problems.push({ code: "FIELD_TYPE", pointer, message: "must be a string" });
  };
  for (const name of COPIED) copy(members, name, `/${name}`);
  copy(hashes, "root_hash", "/hashes/root_hash");
  return predicate;
}

/** Equal as values: an absent one equals nothing. */
function equalJson(a: JsonValue | undefined, b: JsonValue): boolean {
  return a !== undefined && formatCanonical(a) === formatCanonical(b);
}

function parseOrNull(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}
