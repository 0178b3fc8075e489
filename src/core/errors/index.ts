export { CODES, type Code, type CodeFacts, codeFacts } from "./codes.ts";
export { assertNever, isVerbatimError, VerbatimError } from "./error.ts";
export { FINDINGS, type Finding } from "./findings.ts";
