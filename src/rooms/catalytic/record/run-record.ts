import { encodeUtf8, formatCanonical, sortedByCodePoint, toCanonicalFile } from "../../../core/canonical/index.ts";
import { formatEntry } from "../../../core/ledger/index.ts";
import type { BodyPiece, EntryRecord } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { PROOF_FILE, SIGNATURE_FILE } from "../contracts/constants.ts";
import { CATALYTIC_RECORDS, type CatalyticRecordKind, type NewCatalyticRecord } from "../contracts/records.ts";
import type { CatalyticPorts, ReadyFile } from "../ports.ts";
import type { Places } from "../run/places.ts";
import type { Condition, Violation } from "../verify/verdict.ts";
import { type RunEntry, RunLedger } from "./run-ledger.ts";

/** What STATUS.json may say, in the order of a run. */
export const RUN_STATUSES = [
  "declared",
  "snapshotted",
  "executing",
  "sealed",
  "restored",
  "succeeded",
  "failed",
  "halted",
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

const PHASES: Readonly<Record<RunStatus, number>> = {
  declared: 0,
  snapshotted: 1,
  executing: 2,
  sealed: 3,
  restored: 4,
  succeeded: 5,
  failed: 5,
  halted: 5,
};

export interface StatusFacts {
  readonly status: RunStatus;
  readonly phase?: number;
  readonly restoration_verified?: boolean;
  readonly exit_code?: number | null;
  readonly condition?: Condition | null;
  readonly violations?: readonly Violation[];
  readonly message?: string;
  readonly next_step?: string;
}

type RecordPorts = Pick<CatalyticPorts, "disk" | "crypto" | "clock" | "actor">;

/** The run directory, written by the tool alone. It remembers what it wrote, so that a stranger's hand shows. */
export class RunRecord {
  readonly #ports: RecordPorts;
  readonly #places: Places;
  readonly #runId: string;
  readonly #ledger: RunLedger;
  readonly #lines: Uint8Array[] = [];
  readonly #hashes = new Map<string, string>();
  readonly #contents = new Map<string, Uint8Array | ReadyFile>();
  /** Texts that are parts of others, by the hash of their artifact. */
  readonly #pieces = new Map<string, Uint8Array>();

  constructor(ports: RecordPorts, places: Places, runId: string, earlier: readonly EntryRecord[] = []) {
    this.#ports = ports;
    this.#places = places;
    this.#runId = runId;
    this.#ledger = new RunLedger(ports.crypto, ports.clock, runId, earlier[0]?.actor ?? ports.actor, earlier);
    this.#lines = earlier.map((entry) => encodeUtf8(`${formatEntry(entry)}\n`));
  }

  get entries(): readonly RunEntry[] {
    return this.#ledger.entries;
  }

  /** LEDGER.jsonl as it must be on disk. */
  ledgerBytes(): Uint8Array {
    return concat(this.#lines);
  }

  /** Hash of every artifact written so far, by name. */
  artifacts(): Record<string, string> {
    const ledger = this.#ports.crypto.hasher();
    for (const part of this.#lines) ledger.update(part);
    const all = new Map(this.#hashes).set("LEDGER.jsonl", ledger.digest());
    return Object.fromEntries(sortedByCodePoint(all.keys()).map((name) => [name, all.get(name)!]));
  }

  /** Writes an artifact; given canonical text, it adds the line feed. Returns its hash. */
  write(name: string, content: string | Uint8Array | ReadyFile, durable: "folder" | "file" | "no" = "file"): string {
    const made = typeof content === "string" ? encodeUtf8(`${content}\n`) : content;
    const hash = made instanceof Uint8Array ? this.#ports.crypto.sha256(made) : made.sha256;
    this.#put(name, made, hash, durable);
    return hash;
  }

  /** Writes an artifact that has the bytes of another. */
  writeSame(name: string, as: string): void {
    this.#put(name, this.#contents.get(as)!, this.#hashes.get(as)!, "file");
  }

  #put(name: string, content: Uint8Array | ReadyFile, hash: string, durable: "folder" | "file" | "no"): void {
    const { disk } = this.#ports;
    const { record } = this.#places;
    if (content instanceof Uint8Array) disk.replaceFile(`${record}/${name}`, content, durable);
    else {
      content.putAt(`${record}/${name}`);
      if (durable === "folder") disk.syncFolder(record);
    }
    this.#hashes.set(name, hash);
    this.#contents.set(name, content);
  }

  /** The text of an artifact, without its line feed, as a part of something longer. */
  pieceOf(name: string): BodyPiece {
    return this.#toPiece(this.#contents.get(name)!, this.#hashes.get(name)!);
  }

  #toPiece(content: Uint8Array | ReadyFile, sha256: string): BodyPiece {
    const size = content instanceof Uint8Array ? content.length : content.size;
    const bytes = () => {
      const known = this.#pieces.get(sha256) ?? toBytes(content).subarray(0, -1);
      this.#pieces.set(sha256, known);
      return known;
    };
    return { sha256, size: size - 1, bytes };
  }

  /** Prepares the closing entry of a run that leaves the tree as it is and has no outputs. */
  foresee(manifests: ReadyFile): void {
    const piece = this.#toPiece(manifests, manifests.sha256);
    this.#ledger.foresee(formatClosing("[]", piece, piece, ""));
  }

  /** Hash of an artifact that was written. */
  hashOf(name: string): string {
    return this.#hashes.get(name)!;
  }

  /** Remembers an artifact that was written before a crash. */
  adopt(name: string, bytes: Uint8Array): void {
    this.#hashes.set(name, this.#ports.crypto.sha256(bytes));
    this.#contents.set(name, bytes);
  }

  log<K extends CatalyticRecordKind>(kind: K, body: NewCatalyticRecord<K>): void {
    this.#append([encodeUtf8(this.#ledger.add(kind, CATALYTIC_RECORDS.draft(kind, body).body))]);
  }

  /** The closing entry, whose body is canonical and comes in parts. It is durable when the promise is kept. */
  logClosing(kind: string, body: readonly (string | BodyPiece)[]): Promise<void> {
    const line = this.#ledger.addParted(kind, body);
    this.#lines.push(...line);
    return this.#ports.disk.appendMuch(`${this.#places.record}/LEDGER.jsonl`, line);
  }

  #append(line: readonly Uint8Array[]): void {
    this.#lines.push(...line);
    this.#ports.disk.append(`${this.#places.record}/LEDGER.jsonl`, line);
  }

  /** STATUS.json as a value. */
  toStatus(facts: StatusFacts): Readonly<Record<string, unknown>> {
    const codes = sortedByCodePoint(new Set((facts.violations ?? []).map(({ code }) => code)));
    return {
      schema_version: "cmp01-status-1",
      run_id: this.#runId,
      status: facts.status,
      phase: facts.phase ?? PHASES[facts.status],
      restoration_verified: facts.restoration_verified ?? false,
      exit_code: facts.exit_code ?? null,
      validation_passed: codes.length === 0,
      condition: facts.condition ?? null,
      codes,
      message: facts.message ?? "",
      next_step: facts.next_step ?? "",
      updated_at: formatTime(this.#ports.clock.now()),
    };
  }

  setStatus(facts: StatusFacts): void {
    this.write("STATUS.json", formatCanonical(this.toStatus(facts)), "no");
  }

  /**
   * What someone else did to the run directory while the command ran: every file must be as it was written, and there
   * must be no other. What was touched is put back, what was planted is removed: nothing of it is trusted.
   */
  async inspect(): Promise<string[]> {
    const { disk, crypto } = this.#ports;
    const ledger = this.ledgerBytes();
    const expected = new Map(this.#contents).set("LEDGER.jsonl", ledger);
    const hashes = new Map(this.#hashes).set("LEDGER.jsonl", crypto.sha256(ledger));
    const touched: string[] = [];
    const names = new Set([...expected.keys(), ...(disk.list(this.#places.record) ?? [])]);
    for (const name of sortedByCodePoint(names)) {
      const place = `${this.#places.record}/${name}`;
      const content = expected.get(name);
      if (content !== undefined && !(content instanceof Uint8Array) && content.isAt(place)) continue;
      const isFile = disk.stat(place)?.kind === "file";
      const now = isFile ? disk.read(place) : null;
      if (now !== null && crypto.sha256(now) === hashes.get(name)) continue;
      touched.push(name);
      await disk.discard(place);
      if (content !== undefined) disk.replaceFile(place, toBytes(content), "file");
    }
    return touched;
  }

  /** Writes the proof, last: signature first, then the proof next to its name, then its name. */
  finish(proof: Uint8Array, signature: object | null): void {
    const { disk } = this.#ports;
    if (signature !== null)
      disk.replaceFile(`${this.#places.record}/${SIGNATURE_FILE}`, toCanonicalFile(signature), "file");
    disk.syncFolder(this.#places.record);
    disk.replaceFile(`${this.#places.record}/${PROOF_FILE}`, proof, "folder");
  }
}

/** The body of the closing entry: the fields CMP-01 requires, in the order of their names. */
export function formatClosing(outputs: string, post: BodyPiece, pre: BodyPiece, rest: string): (string | BodyPiece)[] {
  const parts = [`{"OUTPUTS":${outputs},"POST_MANIFEST":`, post, ',"PRE_MANIFEST":', pre];
  return rest === "" ? parts : [...parts, rest];
}

function toBytes(content: Uint8Array | ReadyFile): Uint8Array {
  return content instanceof Uint8Array ? content : content.read();
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
