import { VerbatimError } from "../../../core/errors/index.ts";
import type { CandidatePick } from "../contracts/candidate.ts";
import { applyEdits, type Edit, type Hunk } from "./hunks.ts";

/** The edits of a file that were picked. SELECTION_INVALID: a number that the file does not have. */
export function listPickedEdits(hunks: readonly Hunk[], picked: CandidatePick): readonly Edit[] {
  if (picked.hunks === "all") return hunks.flatMap(({ edits }) => edits);
  return picked.hunks.flatMap((name) => {
    const [n, part] = String(name).split(".").map(Number);
    const hunk = hunks.find(({ facts }) => facts.n === n);
    const edits = part === undefined ? hunk?.edits : hunk?.edits.slice(part - 1, part);
    if (edits === undefined || edits.length === 0) {
      throw new VerbatimError("SELECTION_INVALID", { message: `there is no hunk ${name} in ${picked.path}` });
    }
    return edits;
  });
}

/** A file's text with the picked hunks, at their exact lines, and nothing else of the change. */
export function buildSelectedImage(base: Uint8Array, hunks: readonly Hunk[], picked: CandidatePick): Uint8Array {
  return applyEdits(base, listPickedEdits(hunks, picked));
}
