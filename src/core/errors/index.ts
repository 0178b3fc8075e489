export { type Code, type CodeFacts, CODES, codeFacts } from "./codes.ts";
export { assertNever, type ErrorParts, isVerbatimError, VerbatimError } from "./error.ts";
export { FINDINGS, type Finding, type FindingRoom } from "./findings.ts";
