import { sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { CATALYTIC_RECORDS } from "../contracts/records.ts";
import type { CatalyticPorts } from "../ports.ts";
import { readArtifact } from "../record/record-files.ts";
import { listLocks, releaseLocks } from "../run/lock-files.ts";
import { placeOf, worksOf } from "../run/places.ts";
import { diffTrees } from "../tree/diff.ts";
import { repairDomains } from "../tree/snapshots.ts";
import { readTrees, type Tree } from "../tree/tree.ts";
import type { RecoveredRun } from "./recover.ts";

/** The runs that wait for a person, by id. */
export function listHalted({ disk, host }: CatalyticPorts, state: string): string[] {
  const halted = listLocks(disk, host, state).filter(({ lock }) => lock.halted === true);
  return sortedUnique(halted.map(({ lock }) => lock.run_id));
}

/** A halted run as recovery finds it: only a person can go on. */
export function tellHalted(runId: string, condition: string | null): RecoveredRun {
  return { run_id: runId, action: "halt", code: "RESTORE_FAILED", steps: [], final_status: "halted", condition };
}

/** A person's decision about a halted run: accept the domain as it is now. Recorded in the product ledger only. */
export async function acceptCurrent(
  ports: CatalyticPorts,
  state: string,
  decision: { readonly run_id: string; readonly by: string; readonly reason: string },
): Promise<void> {
  if (!listHalted(ports, state).includes(decision.run_id)) {
    throw new VerbatimError("RUN_NOT_FOUND", {
      message: `there is no halted run ${decision.run_id}`,
      where: decision.run_id,
    });
  }
  await ports.records.append(
    `catalytic/${decision.run_id}`,
    CATALYTIC_RECORDS.draft("HALT_ACCEPTED", {
      by: decision.by,
      reason: decision.reason,
    }),
  );
  await forget(ports, state, decision.run_id);
}

/** What the run left is not needed any more, and its domains are free again. */
async function forget(ports: CatalyticPorts, state: string, runId: string): Promise<void> {
  for (const works of [worksOf(state), ports.user_work]) await ports.disk.discard(`${works}/${runId}`);
  releaseLocks(ports, state, runId);
}

/**
 * Looks again at the domains of a halted run: modes, links and empty folders are put back once more, and when everything
 * equals PRE_TREE the domains are free again. Content is never overwritten.
 */
export async function retryHalted(
  ports: CatalyticPorts,
  state: string,
  record: string,
  runId: string,
): Promise<RecoveredRun> {
  const { disk, host, crypto } = ports;
  const lock = listLocks(disk, host, state).find(
    (seen) => seen.lock.run_id === runId && seen.lock.halted === true,
  )?.lock;
  const pre = readTrees(readArtifact(disk, record, "PRE_TREE.json") ?? undefined);
  if (lock === undefined || pre === null) {
    throw new VerbatimError("RUN_NOT_FOUND", { message: `there is no halted run ${runId}`, where: runId });
  }
  const strict = readArtifact(disk, record, "JOBSPEC.json")?.["strict_mtime"] === true;
  const read = async () => {
    const post = new Map<string, Tree>();
    for (const domain of pre.keys()) {
      const options = { strict_mtime: strict, max_entries: Number.MAX_SAFE_INTEGER };
      post.set(domain, (await disk.snapshot(placeOf(lock.root, domain), options)).entries as Tree);
    }
    return post;
  };
  repairDomains(disk, lock.root, pre, await read());
  const { condition } = diffTrees(crypto, pre, await read());
  if (condition !== null) {
    return { ...tellHalted(runId, condition), steps: ["COMPARE"] };
  }
  await ports.records.append(
    `catalytic/${runId}`,
    CATALYTIC_RECORDS.draft("HALT_RESOLVED", { domains: [...pre.keys()] }),
  );
  await forget(ports, state, runId);
  const steps = ["COMPARE", "RELEASE_LOCKS"];
  return { run_id: runId, action: "recover", code: null, steps, final_status: "unchanged", condition: null };
}
