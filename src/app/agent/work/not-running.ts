import { VerbatimError } from "../../../core/errors/index.ts";
import type { Run } from "../../../rooms/workflow/index.ts";

/** Nobody is at work on the run who could be asked for anything. */
export function notRunning({ id, folder }: Run, outcome: string | undefined): VerbatimError {
  const stands = outcome === undefined ? "" : `: ${outcome.replaceAll("_", " ")}`;
  return new VerbatimError("RUN_NOT_RUNNING", {
    message: `the run is not at work${stands}`,
    where: folder.dir,
    fix: { cli: `Look at it: verbatim agent show ${id}`, others: "Open the run to see how it ended." },
  });
}
