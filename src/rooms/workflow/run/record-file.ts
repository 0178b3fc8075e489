import type { z } from "zod";
import { parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";

/** What a run wrote down for itself; a file that is not what it writes is refused instead of guessed at. */
export function readRecordFile<S extends z.ZodType>(schema: S, bytes: Uint8Array, file: string): z.output<S> {
  const read = schema.safeParse(parseJson(bytes, { file }));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new VerbatimError("INTERNAL", { message: `${file}: /${issue!.path.join("/")} ${issue!.message}`, where: file });
}
