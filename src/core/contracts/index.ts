export {
  acceptContract,
  type ContractObject,
  type CustomCheck,
  type DerivedCheck,
  defineContract,
  defineTextContract,
  type JsonContract,
  judgeObject,
  type NamedCheck,
  parseContract,
  type TextContract,
} from "./contract.ts";

export { exportSchema, formatSchemaDocument } from "./json-schema.ts";
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
export { readInteger, readItems, readMember, readText } from "./reading.ts";
export {
  budgets,
  count,
  findSliceProblem,
  hashHex,
  isOutputName,
  isSectionId,
  isSymbolId,
  outputName,
  payloadRef,
  slice,
  sourcePath,
  symbolId,
  symbolOrSectionId,
  uuid,
} from "./shapes.ts";
export { textUpTo } from "./text-limit.ts";
export { DSSE_ENVELOPE, TRUST_POLICY } from "./trust.ts";
