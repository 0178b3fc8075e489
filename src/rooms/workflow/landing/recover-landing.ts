import { VerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { LandingFiles } from "../ports.ts";
import { LandingRecord } from "./landing-record.ts";
import { isAt, isBlockedByOthers, putBack } from "./put-back.ts";
import type { LandingPlace } from "./write-landing.ts";

/** What putting back needs from outside. */
export interface RecoverPorts {
  readonly files: LandingFiles;
  readonly crypto: SyncCrypto;
}

/**
 * What a landing is found to be after a kill. `restored`: the tree is as before it. `completed`: everything was written, and
 * only its result is missing. `undone`: an undo that was begun is finished. Null: nothing was left open.
 */
export interface Recovered {
  readonly state: "restored" | "completed" | "undone" | null;
  /** Paths that someone wrote since and that stay as they are. */
  readonly kept: readonly string[];
}

/** Finishes or takes back a landing whose process is gone; the tree lock is held by the caller. */
export function recoverLanding({ files, crypto }: RecoverPorts, { folder, l }: LandingPlace): Recovered {
  const record = new LandingRecord(folder, l);
  const journal = record.journal();
  switch (journal?.state) {
    case "writing": {
      const { kept } = putBack(files, crypto, record, journal.token);
      record.note("restored", journal.token);
      return { state: "restored", kept };
    }
    case "undoing": {
      const { kept } = putBack(files, crypto, record, journal.token);
      record.note("undone", journal.token);
      return { state: "undone", kept };
    }
    case "written":
      return { state: "completed", kept: [] };
    default:
      return { state: null, kept: [] };
  }
}

/**
 * Puts every file back to what it was before a landing, and says which. ROLLBACK_CONFLICT when one was edited since: then
 * nothing is changed. The tree lock is held by the caller.
 */
export function undoLanding({ files, crypto }: RecoverPorts, { folder, l }: LandingPlace): string[] {
  const record = new LandingRecord(folder, l);
  const [journal, snapshot] = [record.journal(), record.snapshot()];
  const isDone = journal?.state === "written" || journal?.state === "closed";
  if (!isDone || snapshot === null) throw new VerbatimError("RUN_NOT_PASSED");
  const own = new Set(snapshot.files.map(({ path }) => path));
  const edited = snapshot.files
    .filter(({ path, post }) => !isAt(files, crypto, path, post) || isBlockedByOthers(files, path, own))
    .map(({ path }) => path);
  if (edited.length > 0) {
    throw new VerbatimError("ROLLBACK_CONFLICT", {
      message: `edited since: ${edited.join(", ")}`,
      details: { paths: edited },
    });
  }
  record.note("undoing", journal.token);
  putBack(files, crypto, record, journal.token);
  record.note("undone", journal.token);
  return [...own];
}
