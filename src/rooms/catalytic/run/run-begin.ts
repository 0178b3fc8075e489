import { formatCanonical, sortedUnique } from "../../../core/canonical/index.ts";
import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { writeIndex } from "../guard/watch.ts";
import { asideOf, Layers } from "../tree/layers.ts";
import { ownerOf } from "./lock-files.ts";
import { anchorOf, anchorsOf, journalOf, parentOf, placeOf, reserveOf } from "./places.ts";
import type { RunContext } from "./run-context.ts";

/** Enough for journal, status and a proof; filled, because a file system may not store nothing at all. */
const RESERVE_BYTES = 256 * 1024;
const RESERVE_FILL = 0x2e;

/**
 * Phase 0: work directory, journal, run directory, the declaration. `onBegun` is told when the journal says that the
 * run exists, and when a run of that name turns out to be already there.
 */
export function beginRun(context: RunContext, onBegun: (begun: boolean) => void): Layers {
  const { ports, declared, places, guard, record, journal, view } = context;
  const { disk, host } = ports;
  const { jobspec, policy } = declared;
  const { work, root } = places;
  disk.makeFolders(parentOf(work));
  if (!disk.createFolder(work, 0o700)) throw runIdExists(jobspec.run_id);
  const anchors = anchorsOf(jobspec.outputs.durable_paths);
  const domains = (view === null ? jobspec.catalytic_domains : []).map((path, i) => {
    const facts = disk.stat(placeOf(root, path));
    const aside = asideOf(disk, places, jobspec.run_id, path, i);
    return { path, dev: facts?.dev ?? null, ino: facts?.ino ?? null, aside, copy: `${work}/cp${i}` };
  });
  const method = GUARD_FACTS[guard].restore_method;
  const folders = sortedUnique(jobspec.outputs.durable_paths.map(anchorOf));
  const layers = new Layers(disk, journal, places, { method, domains, anchors, folders });
  journal.record("BEGIN", {
    run_id: jobspec.run_id,
    root,
    record: places.record,
    guard,
    method,
    domains,
    anchors: anchors.map((path, i) => ({ path, copy: `${work}/cp${domains.length + i}` })),
    ...ownerOf(host),
  });
  disk.replaceFile(reserveOf(places), new Uint8Array(RESERVE_BYTES).fill(RESERVE_FILL), "no");
  disk.syncFolder(work);
  onBegun(true);
  disk.makeFolders(parentOf(places.record));
  if (!disk.createFolder(places.record, 0o700)) {
    onBegun(false);
    disk.removeFile(journalOf(places));
    disk.removeEmptyFolder(work);
    throw runIdExists(jobspec.run_id);
  }
  writeIndex(disk, places, jobspec, false);
  const jobspecHash = record.write("JOBSPEC.json", formatCanonical(jobspec));
  const policyHash = record.write("POLICY.json", formatCanonical(policy));
  record.setStatus({ status: "declared" });
  record.log("DECLARED", { jobspec_sha256: jobspecHash, policy_sha256: policyHash });
  return layers;
}

function runIdExists(runId: string): VerbatimError {
  const errors = [{ code: "RUN_ID_EXISTS", pointer: "/run_id" }];
  return new VerbatimError("PREFLIGHT_REJECTED", {
    message: `a run ${runId} already exists`,
    where: "/run_id",
    fix: "Choose another run id.",
    details: { errors },
  });
}
