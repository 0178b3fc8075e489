import type { JsonObject } from "../../../core/canonical/index.ts";
import type { CatalyticPorts } from "../ports.ts";
import { type BeginRecord, readJournal } from "../record/journal.ts";
import { listLocks, releaseLocks } from "../run/lock-files.ts";
import { type LockState, lockState } from "../run/lock-state.ts";
import { journalOf, type Places, worksOf } from "../run/places.ts";
import type { JournalRecord } from "./recovery.ts";

/** A run whose work directory is still there. */
export interface Unfinished {
  readonly run_id: string;
  readonly places: Places;
  readonly begin: BeginRecord;
  readonly journal: readonly (JournalRecord & JsonObject)[];
  readonly owner: "alive" | "dead" | "unknown";
}

const OWNERS: Readonly<Record<LockState, Unfinished["owner"]>> = { held: "alive", stale: "dead", unknown: "unknown" };

/** A finished run whose work directory someone asked to keep. */
export function isKept(journal: readonly JournalRecord[]): boolean {
  return journal.some(({ op }) => op === "CLEANED");
}

/** Every run that has a journal, by id. */
export function listUnfinished(ports: CatalyticPorts, state: string, known?: Places): Unfinished[] {
  const { disk, host } = ports;
  const works = new Set(
    (disk.list(worksOf(state)) ?? [])
      .filter((name) => !name.startsWith("_"))
      .map((name) => `${worksOf(state)}/${name}`),
  );
  for (const { lock } of listLocks(disk, host, state)) works.add(`${ports.user_work}/${lock.run_id}`);
  if (known !== undefined) works.add(known.work);
  return [...works].flatMap((work) => {
    const journal = readJournal(disk, journalOf({ work }));
    // The journal is our own and is outside every domain; its first line is the one this type describes.
    const begin = journal[0] as unknown as BeginRecord | undefined;
    if (begin?.op !== "BEGIN") return [];
    const record_path = begin.record.startsWith(`${begin.root}/`) ? begin.record.slice(begin.root.length + 1) : null;
    const places = { root: begin.root, record: begin.record, record_path, work, state };
    return [
      {
        run_id: begin.run_id,
        places,
        begin,
        journal,
        owner: journal.some(({ op }) => op === "LEFT") ? "dead" : OWNERS[lockState(begin, host)],
      },
    ];
  });
}

/**
 * Forgets runs that died before their journal began: they had changed nothing, so there is nothing to put back. Locks
 * come before the work directory, so a work directory without a living lock belongs to nobody.
 */
export async function sweepOrphans(ports: CatalyticPorts, state: string): Promise<void> {
  const { disk, host } = ports;
  const begun = new Set(listUnfinished(ports, state).map(({ run_id }) => run_id));
  const locks = listLocks(disk, host, state);
  const owned = new Set(
    locks.filter((seen) => seen.state !== "stale" || seen.lock.halted === true).map(({ lock }) => lock.run_id),
  );
  for (const { lock } of locks) {
    if (owned.has(lock.run_id) || begun.has(lock.run_id)) continue;
    await disk.discard(`${ports.user_work}/${lock.run_id}`);
    releaseLocks(ports, state, lock.run_id);
  }
  for (const name of disk.list(worksOf(state)) ?? []) {
    if (!name.startsWith("_") && !begun.has(name) && !owned.has(name)) await disk.discard(`${worksOf(state)}/${name}`);
  }
}
