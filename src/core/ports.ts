import type { JsonValue } from "./canonical/value.ts";

/** A value that may come later: browsers answer with promises where Node answers at once. */
export type Awaitable<T> = T | Promise<T>;

/** Where time comes from. Milliseconds since 1970, UTC. */
export interface Clock {
  now(): number;
}

/** Where fresh identifiers come from: lower-case UUIDs. */
export interface Ids {
  uuid(): string;
}

/** Where randomness comes from. */
export interface Random {
  bytes(count: number): Uint8Array;
}

/** Hashing and signatures, as every platform has them. Code that must run in a browser awaits the results. */
export interface Crypto {
  /** Lower-case hex; a string is hashed as UTF-8. */
  sha256(data: Uint8Array | string): Awaitable<string>;
  sha256Bytes(data: Uint8Array): Awaitable<Uint8Array>;
  /** A string is taken as UTF-8. */
  hmacSha256(key: Uint8Array, data: Uint8Array | string): Awaitable<Uint8Array>;
  /** Raw 32-byte public key of a raw 32-byte seed. */
  ed25519PublicKey(seed: Uint8Array): Awaitable<Uint8Array>;
  ed25519Sign(seed: Uint8Array, message: Uint8Array): Awaitable<Uint8Array>;
  /** False for anything that is not a valid signature, malformed keys included. Never throws. */
  ed25519Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Awaitable<boolean>;
}

/** A running hash. */
export interface Hasher {
  update(data: Uint8Array | string): void;
  /** Lower-case hex; the hasher is spent afterwards. */
  digest(): string;
}

/** The same, answered at once, plus streaming. */
export interface SyncCrypto extends Crypto {
  sha256(data: Uint8Array | string): string;
  sha256Bytes(data: Uint8Array): Uint8Array;
  hmacSha256(key: Uint8Array, data: Uint8Array | string): Uint8Array;
  ed25519PublicKey(seed: Uint8Array): Uint8Array;
  ed25519Sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
  ed25519Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  hasher(): Hasher;
}

/** A ledger entry as the store keeps it: the body is canonical JSON text. */
export interface EntryRecord {
  readonly stream: string;
  readonly position: number;
  readonly previous: string;
  readonly kind: string;
  readonly time: string;
  readonly actor: string;
  readonly body: string;
  readonly body_hash: string;
  readonly hash: string;
}

/** A long part of a body that other bodies have too: the store keeps it once. */
export interface BodyPiece {
  /** SHA-256 of the piece and a line feed, as of the file that holds it. */
  readonly sha256: string;
  readonly size: number;
  /** UTF-8; asked for only where the store does not have it. */
  bytes(): Uint8Array;
}

/** A canonical body in parts, with the hash of the whole. */
export interface PartedBody {
  readonly parts: readonly (string | BodyPiece)[];
  readonly sha256: string;
}

/** What a room asks to append; the store adds position, time and hashes. */
export interface NewEntry {
  readonly kind: string;
  readonly actor: string;
  readonly body: JsonValue;
  /** The body as canonical JSON that its caller has just made; it spares large bodies a second making. */
  readonly body_text?: string;
  /** The same in parts, for bodies of which long parts come again and again. */
  readonly body_parts?: PartedBody;
  /** When it happened, for entries that were written down before they reach the store; else the store's clock. */
  readonly time?: string;
}

export interface StreamHead {
  /** Position of the last entry. */
  readonly position: number;
  readonly hash: string;
}

export interface IndexedEntry {
  /** Global index over all streams, from 0. */
  readonly index: number;
  readonly entry: EntryRecord;
}

/** What somebody looks for in the ledger; what is absent does not matter. */
export interface LedgerQuery {
  /** Only below this global index; the newest of those come first. */
  readonly before?: number | undefined;
  readonly streams?: readonly string[] | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly actor?: string | undefined;
  /** Written at this time or later, and before that one. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
}

/** Reading the ledger. Lists are pages: at most `limit` items. */
export interface LedgerReader {
  /** The UUID made with the store. */
  ledgerId(): Promise<string>;
  /** Number of entries in the whole ledger. */
  size(): Promise<number>;
  head(stream: string): Promise<StreamHead | null>;
  /** Names and lengths of all streams, by code point. */
  streams(): Promise<{ readonly stream: string; readonly length: number }[]>;
  /** Entries of one stream from a position on, ascending. */
  readStream(stream: string, from: number, limit: number): Promise<EntryRecord[]>;
  /** Entries of all streams from a global index on, ascending. */
  readAll(from: number, limit: number): Promise<IndexedEntry[]>;
  /** Entry hashes in global order from an index on. */
  readHashes(from: number, limit: number): Promise<string[]>;
  findByHash(hash: string): Promise<IndexedEntry | null>;
  /** Entries of all streams that fit, newest first. */
  browse(query: LedgerQuery): Promise<IndexedEntry[]>;
  /** How many entries each stream has between two global indexes, the second one excluded. */
  tally(from: number, to: number): Promise<{ readonly stream: string; readonly entries: number }[]>;
}

/** Where an append expects to land: a position, or explicitly whatever comes next. */
export type ExpectedPosition = number | "next";

/** Inside a transaction `head` and `append` hold the stream until its end: what is decided on the head stays true. */
export interface LedgerWriter extends LedgerReader {
  /** Appends in order; another position than expected is LEDGER_POSITION_CONFLICT and nothing is written. */
  append(stream: string, expected: ExpectedPosition, entries: readonly NewEntry[]): Promise<EntryRecord[]>;
}

export interface ReadTransaction {
  readonly ledger: LedgerReader;
}

export interface WriteTransaction {
  readonly ledger: LedgerWriter;
}

/**
 * The store is reached by two kinds of transaction. Rooms add their own tables to both; a reader cannot write.
 * `transact` commits everything `fn` did, or nothing when it throws. No slow work inside, and no effect outside the
 * transaction: when two block each other the database ends one, and its `fn` runs again. Transactions do not nest.
 */
export interface Store<R extends ReadTransaction = ReadTransaction, W extends WriteTransaction = WriteTransaction> {
  read<T>(fn: (tx: R) => Promise<T>): Promise<T>;
  transact<T>(fn: (tx: W) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Payloads by their SHA-256. Every read is verified; a missing or changed payload is CONTENT_STORE_CORRUPT. */
export interface ContentStore {
  /** Stores the bytes durably and returns their hash; storing them again changes nothing. */
  put(bytes: Uint8Array): Promise<string>;
  /** The same for what comes in parts, which is never held as a whole where the store can do without. */
  putStream(parts: Iterable<Uint8Array>): Promise<string>;
  get(hash: string): Promise<Uint8Array>;
  has(hash: string): Promise<boolean>;
  /** Hashes of everything stored, by code point. */
  list(): AsyncIterable<string>;
  /**
   * Forgets a payload that was last stored before an instant (milliseconds since 1970) and says whether it did.
   * Only garbage collection calls it, for what no ledger entry references; storing again meanwhile saves the payload.
   */
  remove(hash: string, storedBefore: number): Promise<boolean>;
}

/** How far some work is; `done` 0 without a total says only that it has begun. */
export interface ProgressStep {
  readonly label: string;
  readonly done: number;
  readonly total?: number;
  /** What is counted, such as files. */
  readonly unit?: string;
  /** It is done, and its line stays with the time it took. */
  readonly ended?: true;
}

/** Progress of long work. Surfaces draw it; rooms only report. */
export interface Progress {
  report(step: ProgressStep): void;
}

/** Files the caller named, on the caller's machine. `-` is standard input. */
export interface LocalFiles {
  /** Reads a regular file: FILE_NOT_FOUND, FILE_UNREADABLE or FILE_TOO_LARGE. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Writes a new file atomically; an existing one is FILE_EXISTS. */
  create(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes a file atomically, in place of one that may be there. Bytes may come in chunks. */
  replace(path: string, bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>;
}
