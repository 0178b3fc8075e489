import {
  type AgentSession,
  type AgentUsage,
  type Call,
  countUsage,
  MOST_SESSION_BYTES,
  mergeCalls,
  placeSessions,
  type Run,
  readPrices,
  readSession,
  redactBytes,
  type SecretFinder,
  type SessionGlob,
  type SessionPlace,
  toName,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";

/** An agent that leaves more than that is not counted: nobody could say what it cost. */
const MOST_FILES = 200;
const MOST_NAMES = 20_000;
const MOST_TRANSCRIPT_BYTES = 256 * 1024 * 1024;

/** A folder in which sessions are looked for while an agent works. */
interface Source {
  /** Where it is read: inside the agent's own home layer, or the real folder. */
  readonly base: string;
  readonly place: SessionGlob;
  /** What of its files the agent made: everything in a layer, else what is new or longer. */
  readonly isOwn: (path: string, size: number) => boolean;
}

interface Session {
  readonly place: string;
  readonly source: Source;
  readonly path: string;
  readonly size: number;
  readonly changed_ms: number;
  readonly id: string | null;
  readonly calls: readonly Call[];
  readonly truncated: boolean;
}

/** The session files of one attempt: those that are new, or longer than when it began. */
export class SessionFiles {
  readonly #user: AgentPorts["user"];
  readonly #run: Run;
  readonly #n: number;
  readonly #globs: readonly SessionGlob[];
  readonly #prices: ReturnType<typeof readPrices>;
  readonly #sizes = new Map<string, number>();
  readonly #known = new Map<string, Session>();
  #sources: readonly Source[] = [];
  #isTooMuch = false;
  #usage: AgentUsage | null = null;

  constructor(user: AgentPorts["user"], run: Run, n: number, places: readonly SessionPlace[]) {
    this.#user = user;
    this.#run = run;
    this.#n = n;
    this.#globs = user.home === null ? [] : placeSessions(places, user.env, user.home);
    this.#prices = readPrices(user.prices());
  }

  /** Whether there is anything that could be read. */
  get isRead(): boolean {
    return this.#globs.length > 0;
  }

  /** What the attempt used so far; null: nobody has looked, or there is nothing to be read. */
  get usage(): AgentUsage | null {
    return this.#usage;
  }

  /** Before the command starts: what is there already is not its own. */
  remember(): void {
    for (const place of this.#globs) {
      for (const { path, size } of this.#list(place.folder, place)) this.#sizes.set(`${place.folder}/${path}`, size);
    }
  }

  /** Once it runs: its home layer, and the real folders that it can write all the same. */
  begin(layer: { readonly path: string; readonly upper: string } | null, kept: readonly string[]): void {
    this.#sources = this.#globs.flatMap((place): Source[] => {
      const inLayer = layer !== null && `${place.folder}/`.startsWith(`${layer.path}/`);
      const isKept = kept.some((path) => isInside(place.folder, path) || isInside(path, place.folder));
      const own = inLayer
        ? { base: `${layer.upper}${place.folder.slice(layer.path.length)}`, isOwn: () => true }
        : null;
      const real = { base: place.folder, isOwn: (path: string, size: number) => this.#isLonger(place, path, size) };
      return [...(own === null ? [] : [{ place, ...own }]), ...(own === null || isKept ? [{ place, ...real }] : [])];
    });
  }

  /** Reads what has changed since the last look, and writes usage.json where that says something new. */
  look(write: (usage: AgentUsage) => void): void {
    const found = new Set<string>();
    for (const source of this.#sources) {
      for (const file of this.#list(source.base, source.place)) {
        const place = `${source.place.folder}/${file.path}`;
        if (!source.isOwn(file.path, file.size)) continue;
        found.add(place);
        const known = this.#known.get(place);
        if (known?.size === file.size && known.changed_ms === file.changed_ms) continue;
        if (known === undefined && this.#known.size === MOST_FILES) this.#isTooMuch = true;
        else this.#read(source, place, file);
      }
    }
    // Calls of a file that is gone were made all the same.
    if (found.size === 0 && this.#known.size === 0) return;
    const usage = this.#toUsage();
    if (JSON.stringify(usage) === JSON.stringify(this.#usage)) return;
    this.#usage = usage;
    write(usage);
  }

  /** Once the command has ended and its layer can still be read: redacted copies, and as long as the run is open the raw ones. */
  keep(finder: SecretFinder, toHome: boolean): void {
    let left = MOST_TRANSCRIPT_BYTES;
    const sessions = this.#all().map((session, at): AgentSession => {
      const bytes = left > 0 ? this.#user.readStart(session.source.base, session.path, MOST_SESSION_BYTES) : null;
      const facts = this.#toFacts(session);
      if (bytes === null) return facts;
      left -= bytes.length;
      const name = `${toName(at + 1)}.${session.path.endsWith(".json") ? "json" : "jsonl"}`;
      const folder = `agent/attempts/${toName(this.#n)}`;
      const redacted = redactBytes(finder, bytes);
      this.#run.folder.write(`${folder}/home/${name}`, bytes);
      this.#run.folder.write(`${folder}/transcript/${name}`, redacted);
      if (toHome && !session.truncated) this.#giveBack(session, bytes);
      return { ...facts, file: `transcript/${name}`, sha256: this.#run.ports.crypto.sha256(redacted) };
    });
    if (this.#usage !== null) this.#usage = { ...this.#usage, sessions };
  }

  /** Into the user's own history, where nobody has written there meanwhile. */
  #giveBack({ place, source, path, size }: Session, bytes: Uint8Array): void {
    if (source.base === source.place.folder) return;
    const before = this.#sizes.get(place);
    if (before === undefined) {
      this.#user.createFile(place, bytes);
      return;
    }
    const real = this.#user.readStart(source.place.folder, path, MOST_SESSION_BYTES);
    const isSame = real !== null && real.length === before && size >= before && isBeginning(real, bytes);
    if (isSame) this.#user.replaceFile(place, bytes);
  }

  #read(source: Source, place: string, { path, size, changed_ms }: { path: string; size: number; changed_ms: number }) {
    const bytes = this.#user.readStart(source.base, path, MOST_SESSION_BYTES + 1);
    if (bytes === null) return;
    const { session, calls, truncated } = readSession(source.place.format, bytes);
    const own = mergeCalls(calls, this.#readBefore(source, place, path));
    this.#known.set(place, { place, source, path, size, changed_ms, id: session, calls: own, truncated });
  }

  /** The calls of what was there when the attempt began. */
  #readBefore(source: Source, place: string, path: string): readonly Call[] {
    const size = this.#sizes.get(place) ?? 0;
    const bytes =
      size === 0 ? null : this.#user.readStart(source.place.folder, path, Math.min(size, MOST_SESSION_BYTES));
    return bytes === null ? [] : readSession(source.place.format, bytes).calls;
  }

  #all(): Session[] {
    return [...this.#known.values()].sort((a, b) => (a.place < b.place ? -1 : 1));
  }

  #toFacts({ place, source, id, size, truncated }: Session): AgentSession {
    const { home } = this.#user;
    const path = home !== null && place.startsWith(`${home}/`) ? `~${place.slice(home.length)}` : place;
    const { format } = source.place;
    const facts = { path, format, session: id, file: null, sha256: null, bytes: size };
    return truncated ? { ...facts, truncated } : facts;
  }

  #toUsage(): AgentUsage {
    const all = this.#all();
    const usage = countUsage(mergeCalls(all.flatMap(({ calls }) => calls)), this.#prices);
    // What was not read to its end may have cost anything.
    const isWhole = !this.#isTooMuch && all.every(({ truncated }) => !truncated);
    return {
      schema_version: "verbatim-agent-usage-v1",
      n: this.#n,
      sessions: all.map((one) => this.#toFacts(one)),
      usage: isWhole ? usage : { ...usage, usd: null },
    };
  }

  #list(base: string, { glob }: SessionGlob) {
    return this.#user.listInside(base, MOST_NAMES, (path, kind) =>
      kind === "file" ? glob.matches(path) : glob.couldMatchBelow(path),
    );
  }

  #isLonger({ folder }: SessionGlob, path: string, size: number): boolean {
    const before = this.#sizes.get(`${folder}/${path}`);
    return before === undefined || size > before;
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isBeginning(part: Uint8Array, whole: Uint8Array): boolean {
  return part.every((byte, at) => byte === whole[at]);
}
