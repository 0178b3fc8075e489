import { compareCodePoints, toPointerToken } from "../canonical/index.ts";

/** One thing a contract does not allow in a JSON value, at its RFC 6901 pointer. */
export interface Problem {
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
}

/** The same for a text artifact, at a line counted from 1. */
export interface TextProblem {
  readonly code: string;
  readonly line: number;
  readonly message: string;
}

/** The pointer of a member or an item. */
export function toPointer(parent: string, key: string | number): string {
  return `${parent}/${typeof key === "number" ? key : toPointerToken(key)}`;
}

/** A sorted copy: by pointer, then by code, both by code point. */
export function sortedProblems(problems: readonly Problem[]): Problem[] {
  return [...problems].sort((a, b) => compareCodePoints(a.pointer, b.pointer) || compareCodePoints(a.code, b.code));
}
