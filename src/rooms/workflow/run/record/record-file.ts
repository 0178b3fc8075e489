import type { z } from "zod";
import { parseJson } from "../../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../../core/errors/index.ts";
import type { Run } from "../run.ts";

/** What a run wrote down for itself, or null; RUN_CORRUPT where a file is not what a run writes. */
export function readRecordFile<S extends z.ZodType>(schema: S, run: Run, file: string): z.output<S> | null {
  const bytes = run.read(file);
  if (bytes === null) return null;
  const read = schema.safeParse(parseRecord(run, file, bytes));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const pointer = `/${issue!.path.join("/")}`;
  throw corruptRun(run, file, `${pointer} ${issue!.message}`, `#${pointer}`);
}

function parseRecord(run: Run, file: string, bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes, { file });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw corruptRun(run, file, `is not JSON: ${thrown.message}`);
  }
}

/** The refusal of a run whose files are not what was written. */
export function corruptRun({ folder }: Run, file: string, what: string, place = ""): VerbatimError {
  return new VerbatimError("RUN_CORRUPT", { message: `${file} ${what}`, where: `${folder.dir}/${file}${place}` });
}
