import type { Awaitable } from "../../core/ports.ts";
import type { WriterDown } from "./writer/failures.ts";

/** Time zone data, because neither core nor rooms may use `Intl`. */
export interface Zones {
  /** Whether an IANA name is known here. */
  isKnown(zone: string): boolean;
  /** Offset of a zone at an instant in whole minutes, truncated toward zero. */
  offsetMinutes(zone: string, ms: number): number;
}

/** Splits a text into what a reader sees as characters (UAX #29 extended grapheme clusters). */
export interface Graphemes {
  /** The clusters in order; joined they are the text. */
  split(text: string): Iterable<string>;
}

/** Unpacks what a file brought along, to at most so many bytes; null when it is damaged or larger. */
export interface Inflater {
  /** Bare deflate, as in zip archives. */
  raw(bytes: Uint8Array, maxBytes: number): Uint8Array | null;
  /** Deflate with a header and a checksum, as in PNG. */
  zlib(bytes: Uint8Array, maxBytes: number): Uint8Array | null;
}

/** A name below a folder. Links are named and never followed. */
export interface FolderEntry {
  /** Relative, with slashes. */
  readonly path: string;
  readonly kind: "file" | "link" | "other";
  readonly bytes: number;
}

/** Folders of the caller's machine. */
export interface Folders {
  /** Everything below a folder but folders, at most so many names; FILE_NOT_FOUND, FILE_UNREADABLE or FILE_TOO_LARGE. */
  list(folder: string, most: number): Promise<readonly FolderEntry[]>;
  /** A regular file below a folder, reached without a link: FILE_NOT_FOUND, FILE_UNREADABLE or FILE_TOO_LARGE. */
  read(folder: string, path: string, maxBytes: number): Promise<Uint8Array>;
  /** Whether it is a folder. */
  isFolder(path: string): Promise<boolean>;
}

/** Counts what a model would count. */
export interface Tokenizer {
  readonly name: string;
  count(text: string): number;
}

/** Real time as the room needs it: for elapsed time and for waiting, never for the time of a world. */
/** This process among those that work on the same store. */
export interface Worker {
  /** Its name, by which it can be looked for on the same machine. */
  readonly name: string;
  /** Whether the process that a name begins with ran on this machine and runs no more. In doubt it is taken to run. */
  isGone(holder: string): boolean;
}

export interface Timer {
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Ends early when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fn` again and again until the result is called. */
  every(ms: number, fn: () => void): () => void;
}

export interface ChatMessage {
  readonly role: "system" | "user";
  readonly content: string;
}

export interface ChatRequest {
  readonly kind: "ollama" | "openai-compatible";
  readonly base_url: string;
  readonly model: string;
  readonly timeout_ms: number;
  /** Name of the environment variable that holds the key. */
  readonly api_key_env: string | null;
  readonly messages: readonly ChatMessage[];
  /** What a provider may hold the answer to, the strictest first; null: to nothing. */
  readonly held: { readonly strict: object; readonly plain: object } | null;
  readonly thinking: boolean;
  readonly dialect: "openai" | "llama.cpp" | "vllm" | "openrouter";
  readonly sampling: Readonly<Record<string, unknown>> | null;
  readonly window_tokens: number;
  readonly most_tokens: number;
  /** Who the provider is told it works for. */
  readonly user: string;
}

/** What was true of a call besides its answer, for the inspector. */
export interface ChatFacts {
  /** What the answer was held to: strict, schema, json_object or none. */
  readonly held: string;
  /** Settings that this provider does not take. */
  readonly not_sent: readonly string[];
  /** Characters that a model thought; they are not kept. */
  readonly thinking: number;
  /** Beginning of what was answered instead, its key masked. */
  readonly excerpt?: string;
}

export type ChatAnswer =
  | {
      readonly text: string;
      readonly input_tokens: number | null;
      readonly output_tokens: number | null;
      /** The answer ends where its limit is. */
      readonly cut?: boolean;
      readonly facts?: ChatFacts;
    }
  | { readonly refused: WriterDown; readonly facts?: ChatFacts }
  /** Down, refused or timed out, after one retry. */
  | { readonly down: WriterDown; readonly facts?: ChatFacts };

/** Where models are asked for. */
export interface ModelPlace {
  readonly kind: "ollama" | "openai-compatible";
  readonly base_url: string;
  readonly api_key_env: string | null;
}

/** Chat models behind an address. */
export interface Models {
  chat(request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer>;
  /** Whether anything answers at an address; no model is called. */
  isReachable(base_url: string): Promise<boolean>;
  /** The models that a provider has, 500 at most. */
  list(
    place: ModelPlace,
  ): Promise<
    readonly { readonly name: string; readonly window_tokens: number | null }[] | { readonly down: WriterDown }
  >;
}

/** A world as the store keeps it: `state` is canonical JSON that the room writes and reads. */
export interface WorldRow {
  /** Small number under which the world's other rows are kept. */
  readonly number: number;
  readonly world_id: string;
  readonly state: string;
  /** JSON array of everyone: number, person_id and display_name, by number. */
  readonly people: string;
  /** JSON array of whose rows it shares, oldest first: ancestor, upto_wseq and upto_message. */
  readonly lineage: string;
  /** Who works on a beat of this world, and until when without a sign of life. */
  readonly lock_holder: string | null;
  readonly lock_until: number;
}

/** Numbers of audiences that are not people. */
export const EVERYBODY = 0;
export const THE_WORLD = 1;
export const THE_OPERATOR = 2;
export const FIRST_PERSON = 3;

export interface PersonRow {
  readonly number: number;
  readonly person_id: string;
  readonly display_name: string;
}

/** Rows that a world shares: those of an ancestor, from where the one before it ends. */
export interface LineageRow {
  /** Number of the world whose rows they are. */
  readonly ancestor: number;
  /** Number of the last line and of the last message that are shared. */
  readonly upto_wseq: number;
  readonly upto_message: number;
}

/** What a world was before a record of its own stream. */
export interface StateAtRow {
  readonly position: number;
  /** Canonical JSON of the state, the people and the calendar. */
  readonly body: string;
}

export interface EntryRow {
  readonly wseq: number;
  readonly entry_id: string;
  readonly bundle_id: string;
  /** Position of its record in the stream of the world, or of the ancestor it comes from. */
  readonly position: number;
  readonly request_id: string;
  readonly created_ms: number;
  readonly created_at: string;
  readonly author_id: string;
  readonly author_class: string;
  readonly channel: string;
  readonly scope: string;
  /** JSON array of the listed ids. */
  readonly audience: string;
  readonly text: string;
}

/** What a reader is shown of an entry: everything but its place in the ledger. */
export type ShownRow = Omit<EntryRow, "position" | "created_ms">;

export interface VisibleRow {
  readonly wseq: number;
  readonly person: number;
}

/** Part of a posting list: the low bytes of the wseqs of one block of 256, in order. */
export interface PostingRow {
  readonly key: string;
  readonly block: number;
  readonly lows: Uint8Array;
}

/** Keys of consecutive entries, the first of them by its number, that are not in posting lists yet. */
export interface RecentTermsRow {
  readonly wseq: number;
  /** A space after each key, a line feed after each entry. */
  readonly keys: string;
}

export interface CalendarRow {
  readonly number: number;
  readonly item_id: string;
  readonly state: "SCHEDULED" | "DUE" | "CLOSED" | "PAST";
  /** Null for an undated item. */
  readonly time_ms: number | null;
  /** Canonical JSON of title, time, location, notes and visible_to. */
  readonly body: string;
}

export interface MessageRow {
  readonly number: number;
  readonly time_ms: number;
  /** Canonical JSON of from, text, time and visible_to. */
  readonly body: string;
}

/** What is known about a line that may be background, without its text. */
export type BackgroundRow = Pick<EntryRow, "wseq" | "request_id" | "author_id" | "scope" | "audience">;

/** Something that points at a line or is kept beside the lines; a later one of its kind and id takes its place. */
export interface MarkRow {
  readonly kind: "lore" | "pin" | "persona" | "avatar" | "swipes" | "correction";
  readonly id: string;
  /** Counts what was set in a world, so that the newest is known. */
  readonly number: number;
  /** Canonical JSON of what its kind says. */
  readonly body: string;
}

/** A version of a beat of a story. */
export interface VersionRow {
  readonly world: number;
  readonly world_id: string;
  readonly story_id: string;
  readonly of_request_id: string;
  readonly version_no: number;
  readonly request_id: string;
}

/** A mark that is set, or taken away where there is no body. */
export type MarkChange = Omit<MarkRow, "body"> & { readonly body: string | null };

export interface StoredInvocation {
  readonly request_id: string;
  readonly body_sha256: string;
  readonly status: "PENDING" | "RELEASED" | "DONE";
  readonly fence: number;
  readonly lease_until: number;
  /** Exact bytes of the answer, as text; null until DONE. */
  readonly outcome: string | null;
  /** JSON object of headers; null until DONE. */
  readonly headers: string | null;
}

/** What was answered to a request that made a world. */
export interface StoredOnce {
  readonly body_sha256: string;
  readonly outcome: string;
  readonly headers: string;
}

export interface CallRow {
  readonly number: number;
  readonly call_id: string;
  readonly request_id: string;
  /** JSON of everything the inspector shows. */
  readonly body: string;
}

export interface TokenRow {
  readonly sha256: string;
  readonly role: string;
  /** Null: every world. */
  readonly world_id: string | null;
  readonly viewer: string | null;
  readonly token_id: string | null;
  readonly label: string | null;
  readonly made_ms: number | null;
  /** Day on which it was last used. */
  readonly used_on: string | null;
  readonly expires_ms: number | null;
  readonly revoked_ms: number | null;
}

/** Entries seen by anyone of `any`, or by all of `all` (when it is not empty). */
export interface AudienceFilter {
  readonly any: readonly number[];
  readonly all: readonly number[];
}

export interface EntryRange {
  /** Only entries with a larger wseq. */
  readonly after: number;
  /** Only entries with a smaller wseq; at most one past the last. */
  readonly before: number;
  readonly limit: number;
  readonly newest: boolean;
}

/**
 * The room's tables for a reader. Lines, who may see them, the index and messages are read through the lineage of a world,
 * so that those it shares are as good as its own. Lists of entries are in ascending order of wseq.
 */
export interface WorldReader {
  list(): Promise<Omit<WorldRow, "people" | "lineage">[]>;
  find(worldId: string): Awaitable<WorldRow | null>;
  /** When something was last recorded in each world. */
  lastRecords(): Promise<{ readonly world_id: string; readonly time: string }[]>;
  /** The id of a world by its number. */
  idOf(world: number): Promise<string | null>;
  /** Whose rows a world shares, oldest first; none for one whose rows are all its own. */
  lineage(world: number): Promise<readonly LineageRow[]>;
  /** What a world was before records of its own, oldest first. */
  statesAt(world: number): Promise<StateAtRow[]>;
  people(world: number): Promise<PersonRow[]>;
  visible(world: number, audience: AudienceFilter, range: EntryRange): Promise<ShownRow[]>;
  /** Entries of a range whatever their audience: the gate must be asked about each. */
  range(world: number, range: EntryRange): Promise<ShownRow[]>;
  entries(world: number, wseqs: readonly number[]): Promise<ShownRow[]>;
  entriesById(world: number, ids: readonly string[]): Promise<ShownRow[]>;
  /** Entries whatever their audience: for verification and export only. */
  scan(world: number, after: number, limit: number): Promise<EntryRow[]>;
  /** Lines after one that may be background, whatever their audience: the gate must be asked about each. */
  background(world: number, after: number): Promise<BackgroundRow[]>;
  /** By kind and id, whatever line they point at: the gate must be asked about each. */
  marks(world: number): Promise<MarkRow[]>;
  /** The versions of a beat, or all of a story, by their numbers. */
  versions(storyId: string, ofRequestId: string | null): Promise<VersionRow[]>;
  scanVisible(world: number, after: number, upTo: number): Promise<VisibleRow[]>;
  scanPostings(world: number): Promise<PostingRow[]>;
  /** What is not in posting lists yet, in ascending order. */
  recentTerms(world: number): Promise<RecentTermsRow[]>;
  /** The same without what the world shares. */
  ownRecentTerms(world: number): Promise<RecentTermsRow[]>;
  scanInvocations(world: number): Promise<StoredInvocation[]>;
  /** The smallest wseq created at or after an instant, or one past the last. */
  firstAt(world: number, ms: number): Promise<number>;
  postings(world: number, keys: readonly string[], fromBlock: number, toBlock: number): Promise<PostingRow[]>;
  /** Parts of one posting list, from the newest block below a block backwards. */
  newestPostings(world: number, key: string, below: number, limit: number): Promise<PostingRow[]>;
  calendar(world: number): Promise<CalendarRow[]>;
  messages(world: number): Promise<MessageRow[]>;
  invocation(world: number, requestId: string): Promise<StoredInvocation | null>;
  /** Newest first; all of a request when one is named. */
  calls(world: number, requestId: string | null, limit: number): Promise<CallRow[]>;
  call(world: number, callId: string): Promise<CallRow | null>;
  /** Number of the newest call; 0 without one. */
  lastCall(world: number): Promise<number>;
  token(sha256: string): Promise<TokenRow | null>;
  /** Tokens of a story, the oldest first. */
  tokens(storyId: string): Promise<TokenRow[]>;
  /** People of a story whom somebody plays at a moment. */
  players(storyId: string, now: number): Promise<string[]>;
  /** Names of the triggers that should guard history and do not. */
  missingGuards(): Promise<string[]>;
}

/** The room's tables for a writer. */
export interface WorldWriter extends WorldReader {
  /** The world, held against other writers until the transaction ends. */
  hold(worldId: string): Awaitable<WorldRow | null>;
  /** Adds a world and gives its number. */
  addWorld(worldId: string, state: string): Promise<number>;
  /** Nothing to wait for where the database answers at once, as in the other methods of a commit. */
  saveState(world: number, state: string): Promise<void> | undefined;
  setLock(world: number, holder: string | null, until: number): Promise<void>;
  /** Says whose rows a new world shares. */
  addLineage(world: number, rows: readonly LineageRow[]): Promise<void>;
  /** Keeps what a world was before a record; besides it the first one kept and the newest ones stay. */
  addStateAt(world: number, row: StateAtRow, keep: number): Promise<void>;
  addVersion(row: Omit<VersionRow, "world_id">): Promise<void>;
  addPeople(world: number, people: readonly PersonRow[]): Promise<void>;
  renamePerson(world: number, personId: string, displayName: string): Promise<void>;
  addEntries(
    world: number,
    rows: readonly EntryRow[],
    visible: readonly VisibleRow[],
    recent: RecentTermsRow | null,
  ): Promise<void> | undefined;
  addPostings(world: number, rows: readonly PostingRow[]): Promise<void>;
  addRecentTerms(world: number, row: RecentTermsRow): Promise<void>;
  clearRecentTerms(world: number): Promise<void>;
  /** Takes the whole index of a world away, what is recent included. */
  clearPostings(world: number): Promise<void>;
  addCalendar(world: number, rows: readonly CalendarRow[]): Promise<void>;
  setCalendarState(world: number, itemId: string, state: CalendarRow["state"]): Promise<void>;
  addMessages(world: number, rows: readonly MessageRow[]): Promise<void>;
  setMarks(world: number, changes: readonly MarkChange[]): Promise<void>;
  putInvocation(world: number, row: StoredInvocation): Promise<void> | undefined;
  addCalls(world: number, rows: readonly CallRow[], keep: number): Promise<void>;
  addToken(row: TokenRow): Promise<void>;
  revokeToken(sha256: string, at: number): Promise<void>;
  useToken(sha256: string, day: string): Promise<void>;
  /** What was answered under a key, held against others who come with the same until the transaction ends. */
  once(key: string): Promise<StoredOnce | null>;
  addOnce(world: number, key: string, row: StoredOnce): Promise<void>;
  /**
   * Takes a world out: every row of it, and the bodies of the records of its stream below a position. Only for the
   * maintenance of a store, where the caller has appended the record that vouches for it.
   */
  erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Promise<void>;
}
