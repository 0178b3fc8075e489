import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import { DETECTS } from "../guard/guard-choice.ts";
import { quarantine } from "../outputs/publish.ts";
import type { CatalyticPorts } from "../ports.ts";
import type { BeginRecord } from "../record/journal.ts";
import type { GuardRecord } from "../record/proof.ts";
import { readArtifact } from "../record/record-files.ts";
import { readWholeEntries } from "../record/run-ledger.ts";
import { RunRecord } from "../record/run-record.ts";
import { closeRun } from "../run/closing.ts";
import { type Places, placeOf } from "../run/places.ts";
import { diffTrees } from "../tree/diff.ts";
import { repairDomains } from "../tree/snapshots.ts";
import { type Entry, type OtherEntry, readTrees, type Tree, type Trees } from "../tree/tree.ts";
import { type CommandResult, decideVerdict, type Violation } from "../verify/verdict.ts";
import type { JournalRecord } from "./recovery.ts";

const UNKNOWN_END: CommandResult = {
  executed: true,
  exit_code: null,
  signal: null,
  timed_out: false,
  interrupted: false,
  orphans_killed: 0,
};

/** Compares the domains with PRE_TREE and completes the record of a run that died; without a snapshot only its status. */
export async function proveRecovered(
  ports: CatalyticPorts,
  places: Places,
  runId: string,
  begin: BeginRecord,
  journal: readonly JournalRecord[],
): Promise<{ readonly identical: boolean; readonly condition: string }> {
  const { disk, crypto } = ports;
  const ledger = decodeUtf8(disk.read(`${places.record}/LEDGER.jsonl`) ?? new Uint8Array());
  const whole = readWholeEntries(crypto, runId, ledger ?? "");
  const closing = whole.findIndex(({ kind }) => kind === "RUN");
  const entries = closing === -1 ? whole : whole.slice(0, closing);
  const record = new RunRecord(ports, places, runId, entries);
  // Written by the run itself before it changed anything; whether someone edited it since is for `verify` to say.
  const jobspec = readArtifact(disk, places.record, "JOBSPEC.json") as unknown as JobSpec | null;
  const pre = journal.some(({ op }) => op === "SNAPSHOT_DONE")
    ? readTrees(readArtifact(disk, places.record, "PRE_TREE.json") ?? undefined)
    : null;
  if (pre === null || jobspec === null) {
    if (disk.stat(places.record) !== null) {
      const message = "the tool died before the snapshot; nothing had been changed";
      record.setStatus({ status: "failed", phase: 1, condition: "RECOVERED_AFTER_CRASH", message });
    }
    return { identical: true, condition: "RECOVERED_AFTER_CRASH" };
  }
  rewriteLedger(ports, places, record, ledger);
  for (const name of ["JOBSPEC.json", "POLICY.json", "PRE_TREE.json", "VIEW_CHANGES.json"]) {
    const bytes = disk.read(`${places.record}/${name}`);
    if (bytes !== null) record.adopt(name, bytes);
  }
  for (const name of disk.list(places.record) ?? []) {
    if (!["JOBSPEC.json", "POLICY.json", "PRE_TREE.json", "VIEW_CHANGES.json", "LEDGER.jsonl"].includes(name))
      await disk.discard(`${places.record}/${name}`);
  }
  const seen = await lookAtDomains(ports, places, jobspec, pre);
  const staged = await readStage(ports, places);
  const kept = await quarantine(disk, places, staged);
  if (kept !== null) record.write("QUARANTINE.json", kept.text);
  const command = journal.some(({ op }) => op === "EXEC_STARTED") ? UNKNOWN_END : { ...UNKNOWN_END, executed: false };
  const violations = entries
    .filter(({ kind }) => kind === "VIOLATION")
    .map(({ body }) => JSON.parse(body) as Violation);
  const facts = {
    mismatches: seen.mismatches,
    unreachable: seen.unreachable.size > 0,
    violations,
    command_result: command,
  };
  const verdict = decideVerdict({ ...facts, expected_exit_codes: jobspec.expected_exit_codes, recovered: true });
  record.log("RECOVERED", { condition: verdict.condition, domains_identical: verdict.domains_identical });
  const status = verdict.domains_identical ? "failed" : "halted";
  await closeRun(ports, record, {
    jobspec,
    started: entries[0]?.time ?? "1970-01-01T00:00:00.000Z",
    pre,
    post: seen.mismatches.length === 0 ? pre : seen.post,
    unreachable: seen.unreachable,
    inputs: new Map(),
    guard: toGuardRecord(begin, jobspec),
    command_result: command,
    violations,
    outputs: [],
    memo: null,
    recovered: true,
    verdict,
    mismatches: seen.mismatches,
    connections: null,
    logs: { stdout: new Uint8Array(), stderr: new Uint8Array() },
    status: {
      status,
      violations,
      condition: verdict.condition,
      message: "the tool died; the domains were put back afterwards",
      next_step:
        status === "halted" ? `verbatim catalytic recover ${runId} --retry` : `verbatim catalytic show ${runId}`,
    },
    sign: null,
  });
  await ports.records.appendRun(record.entries);
  return { identical: verdict.domains_identical, condition: verdict.condition };
}

/** A torn last line, the closing entries of an attempt that did not get to its proof, and what is not text are left out. */
function rewriteLedger(ports: CatalyticPorts, places: Places, record: RunRecord, text: string | null): void {
  const whole = record.ledgerBytes();
  if (decodeUtf8(whole) !== text) ports.disk.replaceFile(`${places.record}/LEDGER.jsonl`, whole, "folder");
}

async function lookAtDomains(ports: CatalyticPorts, places: Places, jobspec: JobSpec, pre: Trees) {
  const first = await readDomains(ports, places, jobspec, pre);
  const diff = diffTrees(ports.crypto, pre, first.post);
  if (diff.mismatches.length === 0 || jobspec.view)
    return { ...first, mismatches: jobspec.view ? [] : diff.mismatches };
  repairDomains(ports.disk, places.root, pre, first.post);
  const second = await readDomains(ports, places, jobspec, pre);
  return { ...second, mismatches: diffTrees(ports.crypto, pre, second.post).mismatches };
}

async function readDomains(ports: CatalyticPorts, places: Places, jobspec: JobSpec, pre: Trees) {
  const post = new Map<string, Tree>();
  const unreachable = new Map<string, string>();
  for (const [domain, tree] of pre) {
    // A view never reaches the real tree; what people did to it since is theirs.
    if (jobspec.view) {
      post.set(domain, tree);
      continue;
    }
    try {
      const options = { strict_mtime: jobspec.strict_mtime, max_entries: Number.MAX_SAFE_INTEGER };
      post.set(domain, (await ports.disk.snapshot(placeOf(places.root, domain), options)).entries as Tree);
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      post.set(domain, new Map());
      unreachable.set(domain, `${thrown.code} ${String(thrown.details?.["path"] ?? "")}`);
    }
  }
  return { post, unreachable };
}

async function readStage({ disk }: CatalyticPorts, places: Places): Promise<Map<string, Entry | OtherEntry>> {
  const options = { strict_mtime: false, max_entries: Number.MAX_SAFE_INTEGER, lenient: true };
  const { entries } = await disk.snapshot(`${places.work}/stage`, options);
  return new Map([...entries].filter(([path]) => path !== "."));
}

function toGuardRecord(begin: BeginRecord, jobspec: JobSpec): GuardRecord {
  const { class: kind, restore_method, blocks } = GUARD_FACTS[begin.guard];
  const { guard: requested, network } = jobspec;
  const tripwire = { scope: "full", entries: 0 } as const;
  return { name: begin.guard, class: kind, requested, network, restore_method, blocks, detects: DETECTS, tripwire };
}
