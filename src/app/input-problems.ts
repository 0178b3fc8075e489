import type { z } from "zod";
import { toPointerToken } from "../core/canonical/index.ts";

/** A problem of an operation's input, at an RFC 6901 pointer. */
interface InputProblem {
  readonly pointer: string;
  readonly message: string;
}

/** zod's issues as pointers and sentences. */
export function toInputProblems(error: z.ZodError): InputProblem[] {
  return error.issues.map((issue) => ({
    pointer: issue.path.map((key) => `/${toPointerToken(String(key))}`).join(""),
    message: issue.message,
  }));
}
