import { sortedUnique } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import {
  type CatalyticPorts,
  hasPieces,
  isRunId,
  type KnownPieces,
  readPieces,
  readPolicy,
  slimRecord,
} from "../../../rooms/catalytic/index.ts";
import {
  AgentRecord,
  AT_WORK,
  appendToRun,
  Run,
  WORKFLOW_RECORDS,
  type WorkflowPorts,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { listOwnRuns } from "../runs/list.ts";

/** Files of the record of a view that are large where the tree is. */
const LARGE = ["LEDGER.jsonl", "PRE_TREE.json", "POST_TREE.json", "INPUT_HASHES.json", "VIEW_CHANGES.json"] as const;
const SMALL = 256 * 1024;

/** Where the records of views are. */
export function recordsRoot(outside: AgentPorts): string {
  const { root, config } = outside.places();
  return `${root}/${readPolicy(config).policy.runs_root}`;
}

/**
 * Slims the records of every run that nobody is at work on: their large files become pieces that records share. Gives back
 * how many bytes were taken apart; 0 where another process does it already.
 */
export async function slimEndedRuns(outside: AgentPorts): Promise<number> {
  const catalytic = outside.catalytic();
  const folder = recordsRoot(outside);
  const names = (catalytic.disk.list(folder) ?? []).filter((name) => isLarge(catalytic, `${folder}/${name}`));
  if (names.length === 0) return 0;
  const ports = await outside.workflow("mutate");
  const done = await withPieces(outside, ports, async () => {
    const known = readKnown(catalytic, folder);
    let bytes = 0;
    for (const [name, run] of await findOwners(outside, ports, new Set(names))) {
      const slimmed = await slimRecord(catalytic, `${folder}/${name}`, known);
      if (slimmed === null) continue;
      bytes += slimmed.bytes;
      const body = { catalytic_run: name, files: slimmed.files, bytes: slimmed.bytes, list_sha256: slimmed.list };
      await appendToRun(ports.store, run, [WORKFLOW_RECORDS.make("AGENT_SLIMMED", ports.actor, body)]);
    }
    return bytes;
  });
  return done ?? 0;
}

/** One process at a time adds pieces or takes some away. Null: another one does. */
export async function withPieces<T>(
  outside: AgentPorts,
  { runs, clock }: WorkflowPorts,
  work: () => Promise<T>,
): Promise<T | null> {
  const dir = `${outside.places().state}/pieces`;
  outside.catalytic().disk.makeFolders(dir);
  const started_at = new Date(clock.now()).toISOString();
  const lock = await runs
    .lock({ dir }, { command: "agent prune", started_at, steal: false })
    .catch((thrown: unknown) => {
      if (isVerbatimError(thrown) && thrown.code === "RUN_LOCKED") return null;
      throw thrown;
    });
  if (lock === null) return null;
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function isLarge({ disk }: CatalyticPorts, record: string): boolean {
  if (disk.stat(`${record}/PROOF.json`)?.kind !== "file") return false;
  return LARGE.some((name) => (disk.stat(`${record}/${name}`)?.size ?? 0) > SMALL);
}

/** What records that are slim already have in common with others. */
function readKnown(catalytic: CatalyticPorts, folder: string): KnownPieces {
  const known: KnownPieces = new Map();
  for (const name of catalytic.disk.list(folder) ?? []) {
    for (const file of readPieces(catalytic, `${folder}/${name}`)?.files ?? []) known.set(file.sha256, file);
  }
  return known;
}

/** Every piece that a list of some record names. Null: a list cannot be read, so nobody knows what it names. */
export function listNamed(catalytic: CatalyticPorts, folder: string): Set<string> | null {
  const named = new Set<string>();
  for (const name of catalytic.disk.list(folder) ?? []) {
    const record = `${folder}/${name}`;
    const list = readPieces(catalytic, record);
    if (list === null && hasPieces(catalytic, record)) return null;
    for (const { pieces } of list?.files ?? []) for (const hash of pieces) named.add(hash);
  }
  return named;
}

/** Views of agents and of verifications, with their runs; those of runs at work, and those of nobody, are left alone. */
async function findOwners(
  outside: AgentPorts,
  ports: WorkflowPorts,
  wanted: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { run_id, outcome } of await listOwnRuns(outside)) {
    if (AT_WORK.includes(outcome)) continue;
    const folder = ports.runs.open(run_id);
    const record = folder === null ? null : AgentRecord.load(Run.load(ports, folder));
    if (record === null) continue;
    for (const name of listRecords(record)) if (wanted.has(name)) found.set(name, run_id);
    if (found.size === wanted.size) break;
  }
  return found;
}

/**
 * Names of the records of a run's views: its attempts, and what verified them. A run may have come from another machine, so
 * only names count: a path leads nowhere.
 */
export function listRecords(record: AgentRecord): string[] {
  const { attempts, verifications } = record.now;
  const names = [
    ...Array.from({ length: attempts }, (_, i) => record.attempt(i + 1)?.catalytic_run ?? null),
    ...Array.from({ length: verifications }, (_, i) => record.verification(i + 1)?.catalytic_run ?? null),
  ];
  return sortedUnique(names.filter((name): name is string => name !== null && isRunId(name)));
}
