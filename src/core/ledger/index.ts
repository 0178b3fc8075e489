export { type ChainProblem, StreamVerifier } from "./chain.ts";
export {
  CHECKPOINT_PAYLOAD_TYPE,
  type Checkpoint,
  compareWithCheckpoint,
  formatCheckpoint,
  parseCheckpoint,
} from "./checkpoint.ts";
export {
  type EntryHead,
  formatAround,
  formatEntry,
  hashEntry,
  NO_PREVIOUS,
  parseEntry,
  sealEntry,
} from "./entry.ts";
export { ERASED_BODY } from "./erasure.ts";
export { findBegin } from "./find-begin.ts";
export { EMPTY_ROOT, MerkleFrontier, TreeHasher } from "./merkle.ts";
export {
  type ConsistencyProof,
  type InclusionProof,
  parseConsistencyProof,
  parseInclusionProof,
  parseProof,
} from "./proof.ts";
export {
  type InclusionRung,
  traceInclusion,
  verifyConsistency,
  verifyInclusion,
  verifyInclusionPath,
} from "./proof-check.ts";
export { computeRoot, type HashSource, proveConsistency, proveInclusion } from "./prove.ts";
export { appendRefusal, boundText, boundValue } from "./refusals.ts";
