export { CODES, type Code, type CodeFacts, codeFacts } from "./codes.ts";
export { assertNever, type ErrorParts, isVerbatimError, VerbatimError } from "./error.ts";
export { FINDINGS, type Finding, type FindingRoom } from "./findings.ts";
