export {
  type ContractObject,
  type DerivedCheck,
  defineContract,
  defineTextContract,
  type JsonContract,
  type JsonContractParts,
  judgeObject,
  type NamedCheck,
  type OwnCheck,
  parseContract,
  type TextContract,
} from "./contract.ts";
export { defineForm, type TextForm } from "./form.ts";
export { exportSchema, formatSchemaDocument, type JsonSchema } from "./json-schema.ts";
export { describeKind, isInteger } from "./kind.ts";
export {
  CHECKPOINT,
  CONSISTENCY_PROOF,
  hasItsBodyHash,
  hasItsHash,
  INCLUSION_PROOF,
  LEDGER_ENTRY,
} from "./ledger.ts";
export { type Problem, sortedProblems, type TextProblem, toPointer } from "./problem.ts";
export { findRepeated, readInteger, readItems, readMember, readText } from "./reading.ts";
export {
  base64,
  budgets,
  count,
  findSliceProblem,
  hashHex,
  isOutputName,
  isSectionId,
  isSymbolId,
  outputName,
  payloadRef,
  repoFolder,
  repoPath,
  slice,
  sourcePath,
  symbolId,
  symbolOrSectionId,
  uuid,
} from "./shapes.ts";
export { textUpTo } from "./text-limit.ts";
export { DSSE_ENVELOPE, TRUST_POLICY, TRUST_SCOPES } from "./trust.ts";
