import { z } from "zod";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { parseTime } from "../../../core/time.ts";
import { listOwnPieces } from "../../../rooms/catalytic/index.ts";
import {
  AgentRecord,
  type AgentState,
  AT_WORK,
  appendToRun,
  Run,
  WORKFLOW_RECORDS,
  type WorkflowPorts,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { withAgentRun } from "../request/session.ts";
import { findOwnAgentRun } from "../runs/find-agent-run.ts";
import { listOwnRuns } from "../runs/list.ts";
import { requireSecond } from "../runs/work-tree.ts";
import { listNamed, listRecords, recordsRoot, slimEndedRuns, withPieces } from "./pieces.ts";

export const pruned = z.strictObject({
  dry_run: z.boolean(),
  runs: z.array(
    z.strictObject({
      run_id: z.string(),
      outcome: z.string(),
      bytes: z.int().describe("What its logs, transcripts and proofs took."),
    }),
  ),
  bytes: z.int().describe("What all of that took."),
  pieces: z.int().describe("Pieces of records that nobody else uses; they are gone as well."),
  slimmed: z.int().describe("Bytes of records that are kept in shared pieces now."),
});

export const pinned = z.strictObject({ run_id: z.string(), pinned: z.boolean() });

/** How much is kept. */
export interface Retention {
  readonly keep_runs: number;
  readonly keep_ms: number;
  readonly max_bytes: number;
}

const DAY = 24 * 60 * 60 * 1000;

export function retentionOf(outside: AgentPorts): Retention {
  const { keep_runs, keep_days, max_bytes } = outside.config().agent.retention;
  return { keep_runs, keep_ms: keep_days * DAY, max_bytes };
}

/** Keeps a run from pruning, or no longer. */
export async function pinAgentRun(
  outside: AgentPorts,
  name: string,
  isPinned: boolean,
): Promise<z.infer<typeof pinned>> {
  const run = await findOwnAgentRun(outside, await outside.workflow("mutate"), name);
  requireSecond(run);
  return await withAgentRun(outside, run, "agent pin", async ({ record }) => {
    record.save({ pinned: isPinned });
    return { run_id: run.id, pinned: isPinned };
  });
}

/**
 * Takes logs, transcripts, layers and proofs of runs that are beyond what is kept, and pieces that nobody else uses.
 * Candidates, reports and attestations stay. Never of a run that is pinned, at work, or verified and young.
 */
export async function pruneAgentRuns(
  outside: AgentPorts,
  retention: Retention,
  dry_run: boolean,
): Promise<z.infer<typeof pruned>> {
  const ports = await outside.workflow("mutate");
  const slimmed = dry_run ? 0 : await slimEndedRuns(outside);
  const chosen = await choose(outside, ports, retention);
  const facts = chosen.map(({ run_id, outcome, bytes }) => ({ run_id, outcome, bytes }));
  if (dry_run) return { dry_run, runs: facts, bytes: sum(facts), pieces: 0, slimmed };
  const gone: z.infer<typeof pruned>["runs"] = [];
  const pieces = await withPieces(outside, ports, async () => {
    const dropped = new Set<string>();
    for (const one of chosen) {
      if (!(await prune(outside, one, dropped))) continue;
      gone.push({ run_id: one.run_id, outcome: one.outcome, bytes: one.bytes });
    }
    return await dropPieces(outside, dropped);
  });
  return { dry_run, runs: gone, bytes: sum(gone), pieces: pieces ?? 0, slimmed };
}

const sum = (all: readonly { readonly bytes: number }[]) => all.reduce((total, { bytes }) => total + bytes, 0);

interface Chosen {
  readonly run_id: string;
  readonly outcome: AgentState;
  readonly run: Run;
  readonly bytes: number;
  /** Names of the records that go with it: those of its views that no other run names. */
  readonly records: readonly string[];
}

async function choose(outside: AgentPorts, ports: WorkflowPorts, retention: Retention): Promise<Chosen[]> {
  const now = ports.clock.now();
  const rows = [...(await listOwnRuns(outside))].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const chosen: Chosen[] = [];
  const kept: Chosen[] = [];
  const loaded = rows.flatMap(({ run_id, created_at }) => {
    const folder = ports.runs.open(run_id);
    const record = folder === null ? null : AgentRecord.load(Run.load(ports, folder));
    return record === null ? [] : [{ run_id, created_at, record, names: listRecords(record) }];
  });
  const claims = new Map<string, number>();
  for (const name of loaded.flatMap(({ names }) => names)) claims.set(name, (claims.get(name) ?? 0) + 1);
  let place = 0;
  for (const { run_id, created_at, record, names } of loaded) {
    if (AT_WORK.includes(record.now.state)) continue;
    place += 1;
    const { state, pinned: isPinned = false, pruned_at = null } = record.now;
    const age = now - parseTime(created_at);
    const isYoung = ["verified", "unverified"].includes(state) && age < retention.keep_ms;
    if (isPinned || isYoung || pruned_at !== null) continue;
    const records = names.filter((name) => claims.get(name) === 1);
    const one = { run_id, outcome: state, run: record.run, records, bytes: measure(outside, record, records) };
    (place > retention.keep_runs || age >= retention.keep_ms ? chosen : kept).push(one);
  }
  // What is left is the newest; the oldest of it go until the rest fits.
  let total = sum(kept);
  while (total > retention.max_bytes && kept.length > 0) {
    const oldest = kept.pop()!;
    chosen.push(oldest);
    total -= oldest.bytes;
  }
  return chosen;
}

/** Files of a run that nobody needs to land it, as their paths begin or end. */
const DROPPED: readonly RegExp[] = [
  /^agent\/attempts\/[0-9]+\/(?:(?:output|errors)(?:\.[0-9]+)?\.log|network\.jsonl|stdin|transcript\/.*|home\/.*)$/,
  /^agent\/verifications\/[0-9]+\/(?:stdout|stderr)\.log$/,
  /^agent\/layer\//,
  /^agent\/supervisor\.log$/,
  /^(?:logs|hooks)\//,
];
/** What a run that was thrown away has besides its reports. */
const DISCARDED: readonly RegExp[] = [
  /^agent\/candidates\/[0-9]+\/(?:diff\.patch|carried\.json|choice\.json)$/,
  /^agent\/feedback\//,
  /^artifacts\/diff\.patch$/,
  /^snapshot\//,
];

function listDropped({ run, now }: AgentRecord): string[] {
  const rules = now.state === "discarded" ? [...DROPPED, ...DISCARDED] : DROPPED;
  return run.folder.list().filter((path) => rules.some((rule) => rule.test(path)));
}

function measure(outside: AgentPorts, record: AgentRecord, records: readonly string[]): number {
  const { disk } = outside.catalytic();
  const folder = recordsRoot(outside);
  const own = listDropped(record).reduce((total, path) => total + (record.run.folder.size(path) ?? 0), 0);
  const proofs = records.flatMap((name) =>
    (disk.list(`${folder}/${name}`) ?? []).map((file) => disk.stat(`${folder}/${name}/${file}`)?.size ?? 0),
  );
  return proofs.reduce((total, bytes) => total + bytes, own);
}

/** False: somebody is at work on it after all. */
async function prune(
  outside: AgentPorts,
  { run, bytes, records: named }: Chosen,
  dropped: Set<string>,
): Promise<boolean> {
  const catalytic = outside.catalytic();
  const folder = recordsRoot(outside);
  try {
    await withAgentRun(outside, run, "agent prune", async ({ record }) => {
      const files = listDropped(record);
      const records: string[] = [];
      for (const name of named) {
        const own = await listOwnPieces(catalytic, `${folder}/${name}`);
        if (own === null) continue;
        records.push(name);
        for (const hash of own) dropped.add(hash);
      }
      // The entry comes first: what is gone is never unexplained.
      const body = { files: files.length, records: records.length, bytes };
      const { store, actor } = run.ports;
      await appendToRun(store, run.id, [WORKFLOW_RECORDS.make("AGENT_PRUNED", actor, body)]);
      for (const name of records) await catalytic.disk.discard(`${folder}/${name}`);
      for (const path of files) record.run.folder.remove(path);
      record.save({ pruned_at: record.run.now() });
    });
    return true;
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "RUN_AT_WORK") return false;
    throw thrown;
  }
}

/** Pieces go only when no list names them any more. */
async function dropPieces(outside: AgentPorts, dropped: ReadonlySet<string>): Promise<number> {
  const named = listNamed(outside.catalytic(), recordsRoot(outside));
  if (named === null) return 0;
  const content = await outside.content("mutate");
  const before = outside.clock.now() + 1;
  let count = 0;
  for (const hash of dropped) if (!named.has(hash) && (await content.remove(hash, before))) count += 1;
  return count;
}

/** The file that says when retention was applied last. */
const STAMP = "pieces/retention.json";

/** What is beyond retention goes, at most once a day. */
export async function applyRetention(outside: AgentPorts): Promise<void> {
  const { disk } = outside.catalytic();
  const place = `${outside.places().state}/${STAMP}`;
  const text = new TextDecoder().decode(disk.read(place) ?? new Uint8Array());
  const last = Number(/"at":([0-9]+)/.exec(text)?.[1] ?? 0);
  const now = outside.clock.now();
  // A clock that was set back does not stop it for good.
  if (now - last < DAY && now >= last) return;
  disk.makeFolders(place.slice(0, place.lastIndexOf("/")));
  disk.replaceFile(place, new TextEncoder().encode(`{"at":${now}}\n`), "no");
  await pruneAgentRuns(outside, retentionOf(outside), false);
}
