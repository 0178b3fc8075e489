export { decodeBase64, encodeBase64 } from "./base64.ts";
export {
  addSignature,
  type Envelope,
  encodePae,
  type OpenedEnvelope,
  openEnvelope,
  openEnvelopeFile,
  signEnvelope,
  toEnvelopeFile,
} from "./dsse.ts";
export { parsePublicKey, type SigningKey, toPublicKey, toSigningKey } from "./key.ts";
export { type PolicyKey, parsePolicy, SCOPES, type Scope, type TrustPolicy } from "./policy.ts";
export {
  checkBundleStatement,
  formatBundleStatement,
  STATEMENT_PAYLOAD_TYPE,
} from "./statement.ts";
export {
  type Attestation,
  evaluateBundleTrust,
  evaluateTrust,
  PAYLOAD_TYPES,
  readAttestation,
  type TrustResult,
  type Verdict,
} from "./verdict.ts";
