import type { z } from "zod";
import { isJsonObject, parseJson, toCanonicalFile } from "../../../core/canonical/index.ts";
import { acceptContract } from "../../../core/contracts/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { PROOF_FILE } from "../contracts/constants.ts";
import { PIECES, PIECES_VERSION } from "../contracts/pieces.ts";
import type { CatalyticPorts } from "../ports.ts";
import { readArtifact, readRecord } from "../record/record-files.ts";
import { cutByContent } from "./cut.ts";

const PIECES_FILE = "PIECES.json";
/** Smaller ones cost less than a list of theirs. */
const SMALL = 256 * 1024;
/** Read by their position, or by lists of runs. */
const WHOLE: readonly string[] = [
  "JOBSPEC.json",
  "STATUS.json",
  "RUN_INFO.json",
  PROOF_FILE,
  "STDOUT.log",
  "STDERR.log",
];
const LARGEST_PIECE = 1024 * 1024;

export type PiecesList = z.infer<(typeof PIECES)["schema"]>;
type PiecePorts = Pick<CatalyticPorts, "disk" | "content" | "crypto" | "packer">;

/** What became of a record; `list` is the SHA-256 of PIECES.json. */
export interface Slimmed {
  readonly files: number;
  readonly bytes: number;
  readonly list: string;
}

/** Lists of records that were slimmed before, by the hash of the whole: the same file again needs no cutting. */
export type KnownPieces = Map<string, PiecesList["files"][number]>;

/** The list of a record, or null. */
export function readPieces({ disk }: Pick<PiecePorts, "disk">, record: string): PiecesList | null {
  const bytes = disk.read(`${record}/${PIECES_FILE}`);
  if (bytes === null) return null;
  try {
    return acceptContract(PIECES, parseJson(bytes));
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

/** Whether a record has a list of pieces, readable or not. */
export function hasPieces({ disk }: Pick<PiecePorts, "disk">, record: string): boolean {
  return disk.stat(`${record}/${PIECES_FILE}`) !== null;
}

/**
 * The pieces of the record of a view that make what its proof states, and so are nothing else. Whoever can write a list can
 * write any hash into it; null: it is no record of a view.
 */
export async function listOwnPieces(ports: PiecePorts, record: string): Promise<string[] | null> {
  const { disk } = ports;
  // Without a jobspec it is what a killed pruning left.
  const isLeft = disk.stat(`${record}/JOBSPEC.json`) === null;
  if (!isLeft && readArtifact(disk, record, "JOBSPEC.json")?.["view"] !== true) return null;
  const stated = readArtifact(disk, record, PROOF_FILE)?.["artifacts"];
  const own: string[] = [];
  for (const file of readPieces(ports, record)?.files ?? []) {
    const isStated = isJsonObject(stated) && Object.hasOwn(stated, file.name) && stated[file.name] === file.sha256;
    if (isStated && (await join(ports, file)) !== null) own.push(...file.pieces);
  }
  return own;
}

/**
 * Puts the large files of the record of a view into the content store and keeps a list of their pieces. The list is written
 * once all pieces are stored, and only then the files go: there is always the whole file, or the list and every piece.
 * Null: there is nothing to do. A file that is not what the proof says stays as it is.
 */
export async function slimRecord(ports: PiecePorts, record: string, known: KnownPieces): Promise<Slimmed | null> {
  const { disk, crypto } = ports;
  const proof = readArtifact(disk, record, PROOF_FILE);
  const stated = (proof?.["artifacts"] ?? null) as Readonly<Record<string, unknown>> | null;
  if (stated === null || readArtifact(disk, record, "JOBSPEC.json")?.["view"] !== true) return null;
  const list = readPieces(ports, record);
  if (list !== null) {
    // A kill may have come between the list and the end of the files.
    for (const file of list.files) {
      const place = `${record}/${file.name}`;
      const left = disk.stat(place)?.kind === "file" ? disk.read(place) : null;
      if (left === null || crypto.sha256(left) !== file.sha256) continue;
      if ((await join(ports, file)) !== null) disk.removeFile(place);
    }
    for (const file of list.files) known.set(file.sha256, file);
    return null;
  }
  const files: PiecesList["files"] = [];
  for (const name of Object.keys(stated).filter((one) => !WHOLE.includes(one))) {
    const facts = disk.stat(`${record}/${name}`);
    if (facts?.kind !== "file" || facts.size <= SMALL) continue;
    const bytes = disk.read(`${record}/${name}`);
    const sha256 = bytes === null ? null : crypto.sha256(bytes);
    if (bytes === null || sha256 === null || sha256 !== stated[name]) continue;
    const same = known.get(sha256);
    const pieces = same !== undefined && (await hasAll(ports, same.pieces)) ? same.pieces : await store(ports, bytes);
    const file = { name, sha256, bytes: bytes.length, pieces };
    known.set(sha256, file);
    files.push(file);
  }
  if (files.length === 0) return null;
  const text = toCanonicalFile({ schema_version: PIECES_VERSION, files });
  disk.replaceFile(`${record}/${PIECES_FILE}`, text, "folder");
  for (const { name } of files) disk.removeFile(`${record}/${name}`);
  return { files: files.length, bytes: files.reduce((sum, one) => sum + one.bytes, 0), list: crypto.sha256(text) };
}

async function hasAll({ content }: PiecePorts, pieces: readonly string[]): Promise<boolean> {
  const store = await content();
  for (const hash of pieces) if (!(await store.has(hash))) return false;
  return true;
}

async function store({ content, packer }: PiecePorts, bytes: Uint8Array): Promise<string[]> {
  const kept = await content();
  const hashes: string[] = [];
  for (const piece of cutByContent(bytes)) hashes.push(await kept.put(packer.pack(piece)));
  return hashes;
}

/** The files of a record, those in pieces put together again. What cannot be is missing. */
export async function readWholeRecord(ports: PiecePorts, record: string): Promise<Map<string, Uint8Array>> {
  const files = readRecord(ports.disk, record);
  const list = readPieces(ports, record);
  if (list === null) return files;
  files.delete(PIECES_FILE);
  for (const file of list.files) {
    const bytes = files.has(file.name) ? null : await join(ports, file);
    if (bytes !== null) files.set(file.name, bytes);
  }
  return files;
}

/** A file of a record, put together again where it is in pieces; null where it is neither there nor can be. */
export async function readWholeFile(ports: PiecePorts, record: string, name: string): Promise<Uint8Array | null> {
  const place = `${record}/${name}`;
  if (ports.disk.stat(place)?.kind === "file") return ports.disk.read(place);
  const file = readPieces(ports, record)?.files.find((one) => one.name === name);
  return file === undefined ? null : await join(ports, file);
}

/** A whole file out of its pieces; null where one is gone, or where they are another file. */
async function join(
  { content, crypto, packer }: PiecePorts,
  { sha256, bytes, pieces }: PiecesList["files"][number],
): Promise<Uint8Array | null> {
  const kept = await content();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const hash of pieces) {
    const part = (await kept.has(hash)) ? packer.unpack(await kept.get(hash), LARGEST_PIECE) : null;
    length += part?.length ?? 0;
    if (part === null || length > bytes) return null;
    parts.push(part);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return crypto.sha256(whole) === sha256 ? whole : null;
}
