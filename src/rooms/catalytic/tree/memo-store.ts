import { isJsonObject, type JsonValue, parseJson, toCanonicalFile } from "../../../core/canonical/index.ts";
import type { GuardClass } from "../../../core/contracts/guards.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { NewCatalyticRecord } from "../contracts/records.ts";
import { type Declared, hashEnv } from "../declare/declare.ts";
import type { OutputItem } from "../outputs/outputs.ts";
import type { CatalyticPorts } from "../ports.ts";
import type { MemoRecord, Proof } from "../record/proof.ts";
import { memosOf, type Places, parentOf } from "../run/places.ts";
import { type MemoEntry, memoEntryHash, memoKeyOf } from "./memo.ts";
import { type Entry, stateOf, type Trees } from "./tree.ts";

/** What memory has for a run. */
export interface MemoFound {
  /** Null when the run may not be remembered. */
  readonly key: string | null;
  readonly hit: MemoEntry | null;
  /** The body of the ledger entry. */
  readonly note: NewCatalyticRecord<"MEMO_HIT">;
  stage(folder: string): Promise<ReadonlyMap<string, Entry>>;
  toRecord(): MemoRecord;
}

const NOTHING = { hit: null, stage: () => Promise.resolve(new Map()), toRecord: () => unreachable() };

function unreachable(): never {
  throw new VerbatimError("INTERNAL", { message: "only a run that was remembered is recorded as one" });
}

/** Looks for an earlier run with the same key (CMP-01, Phase 1.5). Everything remembered is hashed again. */
export async function findMemo(
  ports: CatalyticPorts,
  places: Places,
  declared: Declared,
  pre: Trees,
  inputRoots: ReadonlyMap<string, string>,
  guardClass: GuardClass,
): Promise<MemoFound> {
  const { jobspec, policy } = declared;
  if (!jobspec.memo || jobspec.view) return { ...NOTHING, key: null, note: {} };
  const executable = ports.disk.hashProgram(declared.executable);
  if (executable === null) return { ...NOTHING, key: null, note: { reason: "EXECUTABLE_UNREADABLE" } };
  if (jobspec.network === "inherit") ports.notify("memo: the network is not part of the key");
  const { crypto, host, validator } = ports;
  const key = memoKeyOf(crypto, {
    jobspec,
    domain_roots: Object.fromEntries([...pre].map(([domain, tree]) => [domain, stateOf(crypto, tree).tree_root])),
    input_roots: Object.fromEntries(inputRoots),
    env_sha256: hashEnv(crypto, declared.env),
    executable_sha256: executable,
    guard_class: guardClass,
    platform: `${host.platform}-${host.arch}`,
    validator,
    policy_sha256: crypto.sha256(toCanonicalFile(policy)),
  });
  const folder = `${memosOf(places.state)}/${key.slice(0, 2)}/${key}`;
  const entry = readMemo(ports, folder, key);
  if (entry === null) return { ...NOTHING, key, note: { key, reason: "ABSENT" } };
  const blobs = await loadBlobs(ports, entry.outputs);
  if (blobs === null || memoEntryHash(crypto, entry) !== entry.entry_hash) {
    await ports.disk.discard(folder);
    return { ...NOTHING, key, note: { key, reason: "DAMAGED" } };
  }
  const { source_run_id, source_proof_hash } = entry;
  return {
    key,
    hit: entry,
    note: { key, source_run_id, source_proof_hash },
    stage: async (target) => writeStage(ports, target, entry.outputs, blobs),
    toRecord: () => ({ hit: true, key, source_run_id, source_proof_hash }),
  };
}

function readMemo({ disk }: CatalyticPorts, folder: string, key: string): MemoEntry | null {
  const bytes = disk.read(`${folder}/ENTRY.json`);
  if (bytes === null) return null;
  let value: JsonValue;
  try {
    value = parseJson(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
  // Its hash is compared before anything of it is used.
  return isJsonObject(value) && value["key"] === key && Array.isArray(value["outputs"])
    ? (value as unknown as MemoEntry)
    : null;
}

async function loadBlobs(
  ports: CatalyticPorts,
  outputs: readonly OutputItem[],
): Promise<Map<string, Uint8Array> | null> {
  const content = await ports.content();
  const blobs = new Map<string, Uint8Array>();
  for (const output of outputs) {
    if (output.type !== "file") continue;
    try {
      blobs.set(output.sha256, await content.get(output.sha256));
    } catch (thrown) {
      if (isVerbatimError(thrown) && thrown.code === "CONTENT_STORE_CORRUPT") return null;
      throw thrown;
    }
  }
  return blobs;
}

function writeStage(
  { disk }: CatalyticPorts,
  stage: string,
  outputs: readonly OutputItem[],
  blobs: ReadonlyMap<string, Uint8Array>,
): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { path, ...entry } of outputs) {
    const place = `${stage}/${path}`;
    disk.makeFolders(parentOf(place));
    if (entry.type === "dir") disk.makeFolders(place);
    else if (entry.type === "symlink") disk.link(entry.target, place);
    else {
      disk.replaceFile(place, blobs.get(entry.sha256)!, "no");
      disk.setMode(place, Number.parseInt(entry.mode, 8));
    }
    entries.set(path, entry as Entry);
  }
  for (const { path, ...entry } of outputs.toReversed()) {
    if (entry.type === "dir") disk.setMode(`${stage}/${path}`, Number.parseInt(entry.mode, 8));
  }
  return entries;
}

/** Remembers the outputs of a verified run: contents in the content store, then the entry as a whole. */
export async function rememberRun(
  ports: CatalyticPorts,
  places: Places,
  key: string,
  proof: Proof,
  outputs: readonly OutputItem[],
  exitCode: number,
): Promise<void> {
  const { disk, crypto } = ports;
  const content = await ports.content();
  for (const output of outputs) {
    if (output.type !== "file") continue;
    const bytes = disk.read(`${places.root}/${output.path}`);
    if (bytes === null || (await content.put(bytes)) !== output.sha256) return;
  }
  const entry = { key, outputs, exit_code: exitCode, source_run_id: proof.run_id, source_proof_hash: proof.proof_hash };
  const folder = `${memosOf(places.state)}/${key.slice(0, 2)}/${key}`;
  const fresh = `${memosOf(places.state)}/.tmp-${proof.run_id}`;
  disk.makeFolders(parentOf(folder));
  disk.makeFolders(fresh);
  disk.replaceFile(
    `${fresh}/ENTRY.json`,
    toCanonicalFile({ ...entry, entry_hash: memoEntryHash(crypto, entry) }),
    "folder",
  );
  if (disk.stat(folder) === null) disk.rename(fresh, folder);
  else await disk.discard(fresh);
}
