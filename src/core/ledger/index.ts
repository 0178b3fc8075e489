export { type ChainProblem, StreamVerifier } from "./chain.ts";
export {
  CHECKPOINT_PAYLOAD_TYPE,
  type Checkpoint,
  type CheckpointProblem,
  compareWithCheckpoint,
  formatCheckpoint,
  type LedgerExtent,
  parseCheckpoint,
} from "./checkpoint.ts";
export {
  type EntryHead,
  type EntryParts,
  formatAround,
  formatEntry,
  hashEntry,
  NO_PREVIOUS,
  parseEntry,
  sealEntry,
} from "./entry.ts";
export { ERASED_BODY } from "./erasure.ts";
export { EMPTY_ROOT, MerkleFrontier, TreeHasher } from "./merkle.ts";
export {
  type ConsistencyProof,
  type InclusionProof,
  type LedgerProof,
  parseConsistencyProof,
  parseInclusionProof,
  parseProof,
} from "./proof.ts";
export { type InclusionPath, verifyConsistency, verifyInclusion, verifyInclusionPath } from "./proof-check.ts";
export { computeRoot, type HashSource, proveConsistency, proveInclusion } from "./prove.ts";
export { appendRefusal, boundText, boundValue, type Refusal } from "./refusals.ts";
