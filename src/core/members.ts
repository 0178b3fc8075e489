import { isHash, isJsonObject, type JsonObject, sortedByCodePoint, toPointerToken } from "./canonical/index.ts";
import type { Finding } from "./errors/index.ts";

/** One thing that is wrong with a value, at its RFC 6901 pointer. */
export interface FieldProblem {
  readonly code: Finding<"contract">;
  readonly pointer: string;
  readonly message: string;
}

/** What a member must be: its type first, then, where the type fits, its value. */
export interface MemberRule {
  readonly must: string;
  readonly type: (value: unknown) => boolean;
  readonly value?: (value: unknown) => boolean;
}

const isText = (value: unknown): value is string => typeof value === "string";

/** A text that also has to pass a test. */
export function textRule(must: string, test: (text: string) => boolean): MemberRule {
  return { must, type: isText, value: (value) => isText(value) && test(value) };
}

export const TEXT: MemberRule = { must: "must be a string", type: isText };
export const HASH = textRule("must be 64 lower-case hex digits", isHash);
/** An integer lexeme from 0 to 2^53-1: `1.0` is a float and refused. */
export const COUNT: MemberRule = {
  must: "must be an integer from 0 to 2^53-1",
  type: (value) => typeof value === "bigint" || Number.isInteger(value),
  value: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};

/**
 * Whether a value is an object; what is wrong with its members is added to the problems: missing ones and wrong ones
 * in the order of the rules, then unknown ones by code point. It is a `T` once no problem was added.
 */
export function checkMembers<T = JsonObject>(
  value: unknown,
  pointer: string,
  rules: Readonly<Record<string, MemberRule>>,
  problems: FieldProblem[],
  optional: readonly string[] = [],
): value is JsonObject & T {
  if (!isJsonObject(value)) {
    problems.push({ code: "FIELD_TYPE", pointer, message: "must be an object" });
    return false;
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (Object.hasOwn(value, name)) checkValue(value[name], `${pointer}/${name}`, rule, problems);
    else if (!optional.includes(name)) {
      problems.push({ code: "FIELD_MISSING", pointer: `${pointer}/${name}`, message: "is missing" });
    }
  }
  for (const name of sortedByCodePoint(Object.keys(value))) {
    if (Object.hasOwn(rules, name)) continue;
    const at = `${pointer}/${toPointerToken(name)}`;
    problems.push({ code: "FIELD_UNKNOWN", pointer: at, message: "is not a member of this object" });
  }
  return true;
}

/** Checks one value against a rule. */
export function checkValue(value: unknown, pointer: string, rule: MemberRule, problems: FieldProblem[]): void {
  if (!rule.type(value)) problems.push({ code: "FIELD_TYPE", pointer, message: rule.must });
  else if (rule.value?.(value) === false) {
    problems.push({ code: "FIELD_VALUE", pointer, message: rule.must });
  }
}

/** A sentence about the first problem, for an error's message. */
export function describeProblems(what: string, problems: readonly FieldProblem[]): string {
  const first = problems[0]!;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : "";
  return `${what}: ${first.pointer === "" ? "it" : first.pointer} ${first.message}${more}`;
}

/** Where a problem is: a pointer, in a file when there is one. */
export function toPlace(file: string, pointer: string): string {
  return file === "" ? pointer : pointer === "" ? file : `${file}#${pointer}`;
}
