import { formatCanonical, isJsonObject, toJson } from "../../../core/canonical/index.ts";
import { type CaseWords, FINDINGS, type Finding, VerbatimError } from "../../../core/errors/index.ts";
import { type ChainProblem, type Checkpoint, StreamVerifier } from "../../../core/ledger/index.ts";
import type { StreamHead, SyncCrypto } from "../../../core/ports.ts";
import type { WorldPorts, WorldReadTransaction, WorldWriteTransaction } from "../operations/ports.ts";
import { type Lines, toLines } from "../people/audience.ts";
import type { EntryRow, PostingRow, VisibleRow, WorldReader } from "../ports.ts";
import { type OpenWorld, openRow } from "../projection/reading.ts";
import { toPostings } from "../retrieval/postings.ts";
import { indexEntries, TermsIndex } from "../retrieval/terms-index.ts";
import { findCheckpoint, judgeCheckpoint, type KnownCheckpoint } from "./checkpoint.ts";
import { formatImage, type Image, replay, toImage } from "./image.ts";
import { type LineageRecord, readAncestors, readRecords, toPlaced } from "./lineage.ts";
import { type MadeRows, makeRows } from "./make-rows.ts";
import { compareMarks } from "./marks.ts";
import type { Effects } from "./reduce.ts";
import { shareRows } from "./shared-rows.ts";
import { formatState, streamOf } from "./state.ts";

interface VerifyFinding {
  readonly code: string;
  readonly where: string;
  readonly message: string;
  readonly fix: string | CaseWords;
}

interface ComparedCheckpoint {
  readonly tree_size: number;
  readonly root_hash: string;
  readonly source: "ledger" | "file";
  readonly time: string | null;
}

interface VerifyReport {
  readonly world_id: string;
  readonly ok: boolean;
  readonly checked: { readonly records: number; readonly entries: number; readonly outcomes: number };
  readonly head: StreamHead | null;
  /** What the ledger was compared with; null when nobody ever made a checkpoint. */
  readonly checkpoint: ComparedCheckpoint | null;
  readonly findings: readonly VerifyFinding[];
}

const RESTORE = "Restore a backup; the records up to the first finding are good.";
const AHEAD =
  "An older backup was restored, so later request ids may run again. Restore a newer backup, or create a new checkpoint.";
const REBUILD = {
  cli: "Rebuild it: verbatim world verify --rebuild-index",
  others: "Rebuild it: verify again with rebuild_index.",
};
const WARNINGS: ReadonlySet<string> = new Set(["WORLD_INDEX_STALE"]);
const PAGE = 1000;

type Ports = Pick<WorldPorts, "store" | "content" | "crypto">;

/** Compares every row of a world with what its records say, and checks the chain of the records. */
export async function verifyWorld(
  ports: Ports,
  worldId: string,
  external: Checkpoint | null = null,
): Promise<VerifyReport> {
  const first = await ports.store.read(async (tx) => tx.ledger.readStream(streamOf(worldId), 0, 1));
  const own = first[0] === undefined ? undefined : (await ports.store.read((d) => readRecords(d.ledger, worldId)))[0];
  const ancestors = await readAncestors(ports, own);
  return ports.store.read(async (tx) => {
    const row = await tx.world.find(worldId);
    if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
    const records = await readRecords(tx.ledger, worldId);
    const findings: VerifyFinding[] = [...verifyChain(ports.crypto, ancestors), ...verifyChain(ports.crypto, records)];
    const head = await tx.ledger.head(streamOf(worldId));
    let checked = { records: records.length + ancestors.length, entries: 0, outcomes: 0 };
    // Records that do not verify say nothing about the tables.
    if (findings.length === 0) {
      const rows = makeRows(ports.crypto, null, toPlaced([...ancestors, ...records]));
      const world = openRow(row);
      // A world that was imported under its own id brought its answers along; a fork has none of its parent's.
      const answered = [...ancestors.filter((record) => record.world_id === worldId), ...records];
      const entries = await verifyEntries(tx.world, world, rows, findings);
      await verifyRows(tx.world, world, rows.effects, findings);
      findings.push(...(await verifyShared(tx, world, ancestors, records)));
      const outcomes = await verifyOutcomes(ports.crypto, tx.world, world, answered, findings);
      if (!(await isIndexed(tx.world, world, rows.lines))) {
        findings.push(finding("WORLD_INDEX_STALE", worldId, FINDINGS.world.WORLD_INDEX_STALE, REBUILD));
      }
      checked = { ...checked, entries, outcomes };
    }
    for (const guard of await tx.world.missingGuards()) findings.push(finding("WORLD_GUARD_MISSING", guard));
    const checkpoint: KnownCheckpoint | null =
      external === null ? await findCheckpoint(tx.ledger) : { ...external, source: "file", time: null };
    const problem = checkpoint === null ? null : await judgeCheckpoint(ports.crypto, tx.ledger, checkpoint);
    if (problem !== null) {
      const fix = problem === "WORLD_CHECKPOINT_AHEAD" ? AHEAD : RESTORE;
      findings.push(finding(problem, `checkpoint ${checkpoint!.tree_size}`, FINDINGS.world[problem], fix));
    }
    const ok = findings.every(({ code }) => WARNINGS.has(code));
    return { world_id: worldId, ok, checked, head, checkpoint: toCompared(checkpoint), findings };
  });
}

function toCompared(checkpoint: KnownCheckpoint | null): ComparedCheckpoint | null {
  if (checkpoint === null) return null;
  const { tree_size, root_hash, source, time } = checkpoint;
  return { tree_size, root_hash, source, time };
}

function finding(
  code: Finding<"world">,
  where: string,
  message: string = FINDINGS.world[code],
  fix: VerifyFinding["fix"] = RESTORE,
): VerifyFinding {
  return { code, where, message, fix };
}

function verifyChain(crypto: SyncCrypto, records: readonly LineageRecord[]): VerifyFinding[] {
  const findings: VerifyFinding[] = [];
  const streams = new Map<string, LineageRecord[]>();
  for (const record of records) {
    const known = streams.get(record.world_id) ?? [];
    streams.set(record.world_id, known);
    known.push(record);
  }
  for (const [worldId, entries] of streams) {
    const verifier = new StreamVerifier(crypto, streamOf(worldId));
    const problem: ChainProblem | null = verifier.acceptRecords(entries.map(({ entry }) => entry));
    if (problem === null) continue;
    const message = `expected ${problem.expected}, found ${problem.actual}`;
    findings.push({ code: problem.code, where: `${problem.stream}@${problem.position}`, message, fix: RESTORE });
  }
  return findings;
}

async function verifyEntries(
  tables: WorldReader,
  world: OpenWorld,
  { effects, lines }: MadeRows,
  findings: VerifyFinding[],
): Promise<number> {
  const expected = new Map(effects.entries.map((entry) => [entry.wseq, entry]));
  const people = byEntry(lines.visible);
  let last = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  for (;;) {
    const page = await tables.scan(world.number, last, PAGE);
    const audiences = byEntry(await tables.scanVisible(world.number, last, page.at(-1)?.wseq ?? last));
    for (const row of page) {
      const where = `wseq ${row.wseq}`;
      if (row.wseq !== last + 1) findings.push(finding("WORLD_SEQ_GAP", where));
      if (row.created_ms < lastMs) findings.push(finding("WORLD_TIME_BACKWARDS", where));
      last = row.wseq;
      lastMs = row.created_ms;
      count++;
      const wanted = expected.get(row.wseq);
      expected.delete(row.wseq);
      if (wanted === undefined) findings.push(finding("WORLD_ENTRY_EXTRA", where));
      else if (!isSameEntry(row, wanted)) findings.push(finding("WORLD_ENTRY_MISMATCH", where));
      else if (!isSameSet(people.get(row.wseq) ?? [], audiences.get(row.wseq) ?? []))
        findings.push(finding("WORLD_VISIBILITY_MISMATCH", where));
    }
    if (page.length < PAGE) break;
  }
  for (const wseq of expected.keys()) findings.push(finding("WORLD_ENTRY_MISSING", `wseq ${wseq}`));
  return count;
}

/** Who may see each entry. */
function byEntry(visible: readonly VisibleRow[]): Map<number, number[]> {
  const people = new Map<number, number[]>();
  for (const { wseq, person } of visible) {
    const known = people.get(wseq);
    if (known === undefined) people.set(wseq, [person]);
    else known.push(person);
  }
  return people;
}

function isSameEntry(a: EntryRow, b: EntryRow): boolean {
  return formatCanonical({ ...a }) === formatCanonical({ ...b });
}

function isSameSet(a: readonly number[], b: readonly number[]): boolean {
  const wanted = new Set(a);
  return wanted.size === b.length && b.every((one) => wanted.has(one));
}

async function verifyRows(
  tables: WorldReader,
  world: OpenWorld,
  image: Effects,
  findings: VerifyFinding[],
): Promise<void> {
  const compare = (what: string, rows: readonly object[], wanted: readonly object[]): void => {
    for (let i = 0; i < Math.max(rows.length, wanted.length); i++) {
      const [row, want] = [rows[i], wanted[i]];
      const same =
        row !== undefined && want !== undefined && formatCanonical({ ...row }) === formatCanonical({ ...want });
      if (!same) findings.push(finding("WORLD_ROW_MISMATCH", `${what} ${i + 1}`));
    }
  };
  compare("person", await tables.people(world.number), image.people);
  compare("calendar item", await tables.calendar(world.number), image.calendar);
  compare("message", await tables.messages(world.number), image.messages);
  const marks = [...image.marks].sort(compareMarks);
  compare("mark", await tables.marks(world.number), marks);
  if (world.row.state !== formatState(image.state)) findings.push(finding("WORLD_ROW_MISMATCH", "state"));
}

async function verifyOutcomes(
  crypto: SyncCrypto,
  tables: WorldReader,
  world: OpenWorld,
  records: readonly LineageRecord[],
  findings: VerifyFinding[],
): Promise<number> {
  const beats = records.filter(({ kind }) => kind === "WORLD_BEAT");
  const stored = new Map((await tables.scanInvocations(world.number)).map((row) => [row.request_id, row]));
  for (const { body, position } of beats) {
    const row = isJsonObject(body) ? stored.get(String(body["request_id"])) : undefined;
    const hash = row?.outcome === null || row?.outcome === undefined ? null : crypto.sha256(row.outcome);
    if (hash !== body["outcome_sha256"]) findings.push(finding("WORLD_OUTCOME_MISMATCH", `position ${position}`));
  }
  return beats.length;
}

async function isIndexed(tables: WorldReader, world: OpenWorld, { indexed }: Lines): Promise<boolean> {
  const wanted = new Map(toPostings(indexed).map((row) => [keyOf(row), row.lows]));
  const rows = await (await TermsIndex.open(tables, world.number)).all();
  return rows.length === wanted.size && rows.every((row) => isSameBytes(row.lows, wanted.get(keyOf(row))));
}

function keyOf({ key, block }: PostingRow): string {
  return `${block} ${key}`;
}

function isSameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Whose rows a fork reads, and what a world is said to have been, against the records. */
async function verifyShared(
  tx: WorldReadTransaction,
  world: OpenWorld,
  ancestors: readonly LineageRecord[],
  records: readonly LineageRecord[],
): Promise<VerifyFinding[]> {
  const findings: VerifyFinding[] = [];
  const mismatch = (where: string): number => findings.push(finding("WORLD_ROW_MISMATCH", where));
  const lineage = await tx.world.lineage(world.number);
  const kept = await tx.world.statesAt(world.number);
  if (lineage.length === 0 && kept.length === 0) return findings;
  if (lineage.length > 0) {
    const { state } = toImage([...ancestors, records[0]!]);
    const parent = state.parent === null ? null : await tx.world.find(state.parent.world_id);
    const point = { wseq: state.next_wseq - 1, message: state.next_message - 1 };
    const wanted = parent === null ? [] : shareRows(parent.number, await tx.world.lineage(parent.number), point);
    if (formatCanonical(toJson(lineage)) !== formatCanonical(toJson(wanted))) mismatch("lineage");
  }
  let [image, next]: [Image | null, number] = [null, 0];
  for (const { position, body } of kept) {
    if (position > records.length) {
      mismatch(`state at ${position}`);
      continue;
    }
    image = replay(image, [...(image === null ? ancestors : []), ...records.slice(next, position)]);
    next = position;
    if (formatImage(image) !== body) mismatch(`state at ${position}`);
  }
  return findings;
}

/** Makes the search index of a world and of those whose lines it shares again from the rows of their lines. */
export async function rebuildIndex(ports: Ports, worldId: string): Promise<void> {
  await ports.store.transact(async (tx) => {
    const row = await tx.world.hold(worldId);
    if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
    for (const { ancestor } of await tx.world.lineage(row.number)) {
      const ancestorRow = await tx.world.hold((await tx.world.idOf(ancestor))!);
      await rebuildOwn(ports, tx, openRow(ancestorRow!));
    }
    await rebuildOwn(ports, tx, openRow(row));
  });
}

/** The same from the rows of one world, with what `makeRows` makes it with. */
async function rebuildOwn(
  { crypto }: Ports,
  { world: tables }: WorldWriteTransaction,
  world: OpenWorld,
): Promise<void> {
  await tables.clearPostings(world.number);
  const shared = (await tables.lineage(world.number)).at(-1)?.upto_wseq ?? 0;
  for (let after = shared; ; ) {
    const page = await tables.scan(world.number, after, PAGE);
    const { indexed } = toLines(crypto, world.numbers, page);
    const recent = await indexEntries(tables, world.number, indexed);
    if (recent !== null) await tables.addRecentTerms(world.number, recent);
    if (page.length < PAGE) return;
    after = page.at(-1)!.wseq;
  }
}
