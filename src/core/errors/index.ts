export { CODES, type Code, type CodeFacts, codeFacts } from "./codes.ts";
export { assertNever, isVerbatimError, passFixOn, VerbatimError } from "./error.ts";
export { FINDINGS, type Finding } from "./findings.ts";
export { type CaseWords, fixAt, needsTerminal, type OwnFix, wordsAt } from "./fix.ts";
