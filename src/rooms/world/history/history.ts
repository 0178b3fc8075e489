import { encodeUtf8, type JsonShape } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { formatTime } from "../../../core/time.ts";
import { decodeBase64, encodeBase64 } from "../../../core/trust/base64.ts";
import type { TrustPolicy } from "../../../core/trust/index.ts";
import { type NewWorldRecord, WORLD_RECORDS } from "../contracts/records.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { WorldWriter } from "../ports.ts";
import { loadWorld } from "../projection/reading.ts";
import { writeRows } from "./commit.ts";
import { judgeSignature } from "./export-signature.ts";
import { checkWorldFile } from "./exported-file.ts";
import { storeImage } from "./image.ts";
import { type LineageRecord, readAncestors, readRecords, toPlaced, toRecord } from "./lineage.ts";
import { makeRows } from "./make-rows.ts";
import { makeOnce, type OnceKey } from "./once.ts";
import { formatState, streamOf, type VersionOf, type WorldState } from "./state.ts";
import { type FileOutcome, formatWorldFile, WORLD_FORMAT } from "./world-file.ts";
import { exists, requireWorldId } from "./worlds.ts";

/** Where a new world begins: at a record of another one. */
interface Origin {
  readonly records: readonly LineageRecord[];
  readonly parent: LineageRecord;
  readonly source_sha256: string | null;
}

export interface Target {
  readonly world_id: string;
  readonly title: string;
  /** The same key keeps ids and cursors valid. */
  readonly world_key: string;
  readonly outcomes: readonly FileOutcome[];
  /** Which beat the world lives again. */
  readonly version?: Omit<VersionOf, "version_no">;
}

/** What the first record of a version says of it; its number is the next of that beat. */
export async function numberVersion(
  tables: WorldWriter,
  version: Target["version"],
): Promise<Partial<NewWorldRecord<"WORLD_FORKED">>> {
  if (version === undefined) return {};
  const { story_id, of, request_id } = version;
  // Others who make one wait here, so that no number is given twice.
  await tables.hold(story_id);
  const last = (await tables.versions(story_id, of)).at(-1)?.version_no ?? 1;
  return { purpose: "VERSION", story_id, of_request_id: of, version_no: last + 1, request_id };
}

/** Lists a version with those of its beat. */
export async function listVersion(tables: WorldWriter, world: number, { story }: WorldState): Promise<void> {
  if (story === undefined) return;
  const { story_id, of, version_no, request_id } = story;
  await tables.addVersion({ world, story_id, of_request_id: of, version_no, request_id });
}

/** Writes a world that begins with the records of another one, with rows of its own for all of them. */
export async function plantCopy<T extends object>(
  ports: WorldPorts,
  origin: Origin,
  target: Target,
  once: OnceKey | null,
  value: T & JsonShape<T>,
): Promise<T> {
  const { parent, records, source_sha256 } = origin;
  const body = {
    world_id: target.world_id,
    title: target.title,
    world_key: target.world_key,
    parent_world_id: parent.world_id,
    parent_position: parent.position,
    parent_hash: parent.hash,
    source_sha256,
  };
  return makeOnce<T>(ports, once, async (tx) => {
    const stream = streamOf(target.world_id);
    if ((await tx.ledger.head(stream)) !== null) throw exists(target.world_id);
    const planted = { ...body, ...(await numberVersion(tx.world, target.version)) };
    const entry = WORLD_RECORDS.make("WORLD_FORKED", ports.actor, planted);
    const [sealed] = await tx.ledger.append(stream, 0, [entry]);
    const rows = makeRows(ports.crypto, null, toPlaced([...records, toRecord(sealed!, target.world_id, null)]));
    const number = await tx.world.addWorld(target.world_id, formatState(rows.effects.state));
    await writeRows(tx.world, { number }, rows);
    await listVersion(tx.world, number, rows.effects.state);
    await storeImage(tx.world, number, rows.effects, 1);
    for (const { request_id, body_sha256, outcome, headers } of target.outcomes) {
      const row = { request_id, body_sha256, status: "DONE", fence: 1, lease_until: 0, outcome, headers } as const;
      await tx.world.putInvocation(number, row);
    }
    return { world: number, value };
  });
}

/** All of a world as lines that verify offline. */
export async function exportWorld(ports: WorldPorts, worldId: string): Promise<readonly string[]> {
  const { own, rows, title } = await ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const stored = await tx.world.scanInvocations(world.number);
    return { own: await readRecords(tx.ledger, worldId), rows: stored, title: world.state.settings.title };
  });
  const lineage = [...(await readAncestors(ports, own[0])), ...own];
  const sources = lineage.flatMap(({ kind, body }) => {
    const named =
      kind === "WORLD_IMPORTED" ? body["source_sha256"] : kind === "WORLD_AVATAR_SET" ? body["sha256"] : null;
    return typeof named === "string" ? [named] : [];
  });
  const blobs: { sha256: string; base64: string }[] = [];
  for (const sha256 of new Set(sources)) blobs.push({ sha256, base64: encodeBase64(await ports.content.get(sha256)) });
  const outcomes = rows
    .filter(({ status }) => status === "DONE")
    .map(({ request_id, body_sha256, outcome, headers }) => ({
      request_id,
      body_sha256,
      outcome: outcome!,
      headers: headers!,
    }));
  return formatWorldFile(ports.crypto, {
    header: {
      format: WORLD_FORMAT,
      version: 1,
      world_id: worldId,
      title,
      exported_at: formatTime(ports.clock.now()),
    },
    records: lineage.map(({ entry }) => entry),
    outcomes,
    blobs,
  });
}

/** Brings an exported world into this store, after all of the file and its signature were verified. */
export async function importWorld(
  ports: WorldPorts,
  text: string,
  as: string | null,
  preview = false,
  policy: TrustPolicy | null = null,
  key: string | null = null,
): Promise<{
  readonly preview: boolean;
  readonly world_id: string;
  readonly records: number;
  readonly entries: number;
  readonly head_hash: string;
}> {
  const { file, image, records, findings: found } = checkWorldFile(ports, text);
  const signed = file === null ? null : await judgeSignature(ports.crypto, policy, file, text);
  const findings = [...found, ...(signed?.findings ?? [])];
  const [first] = findings;
  if (file === null || image === null || first !== undefined) {
    throw new VerbatimError("IMPORT_VERIFY_FAILED", {
      message: first === undefined ? "the file cannot be read" : `${first.code} at ${first.where}: ${first.message}`,
      details: { findings },
    });
  }
  const parent = records.at(-1)!;
  const original = image.state.world_id;
  const worldId = requireWorldId(as ?? original);
  const isSpent = await ports.store.read(async (tx) => (await tx.ledger.head(streamOf(worldId))) !== null);
  if (isSpent && key === null)
    throw exists(worldId, { cli: "Import it under another id: --as NEW_ID", others: "Import it under another id." });
  const done = {
    world_id: worldId,
    records: records.length,
    entries: image.entries.length,
    head_hash: parent.hash,
    preview,
  };
  if (preview) return done;
  const source = await ports.content.put(encodeUtf8(text));
  for (const { base64 } of file.blobs) await ports.content.put(decodeBase64(base64)!);
  return plantCopy(
    ports,
    { records, parent, source_sha256: source },
    {
      world_id: worldId,
      title: image.state.settings.title,
      world_key: worldId === original ? image.state.world_key : toHex(ports.random.bytes(32)),
      outcomes: worldId === original ? file.outcomes : [],
    },
    { key, body: { import: source, as } },
    done,
  );
}
