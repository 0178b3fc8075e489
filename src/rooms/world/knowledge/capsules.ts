import type { LedgerEntry } from "../contracts/context.ts";
import type { CapsulePack } from "../contracts/packs.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { WorldReader } from "../ports.ts";
import { gated, type OpenWorld, readVisible } from "../projection/reading.ts";
import { TermsIndex } from "../retrieval/terms-index.ts";
import { findByAuthor } from "../retrieval/world-search.ts";
import { isBackground } from "./background.ts";
import { buildCapsule, CAPSULE_BYTES } from "./capsule.ts";
import { type View, viewKey } from "./gate.ts";

type Ports = Pick<WorldPorts, "crypto" | "graphemes">;

/** Whose lines, for whom and how many of them. */
interface Wanted {
  readonly person: string;
  readonly view: View;
  readonly max_bytes: number;
}

/** The capsule of a person for a view. */
export async function makeCapsule(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  person: string,
  maxBytes: number,
  worldTime: string,
): Promise<CapsulePack> {
  const index = await TermsIndex.open(tables, world.number);
  const wanted: Wanted = { person, view, max_bytes: maxBytes };
  const newest = await readNewest(tables, index, world, wanted, 0);
  return buildCapsule(ports.crypto, ports.graphemes, { ...wanted, created_at_world: worldTime, newest });
}

const CAPSULE_PAGE = 64;

/** The newest visible lines of a person that are not older than an entry, newest first, and hardly more than fit. */
async function readNewest(
  tables: WorldReader,
  index: TermsIndex,
  world: OpenWorld,
  { person, view, max_bytes }: Wanted,
  from: number,
): Promise<LedgerEntry[]> {
  const newest: LedgerEntry[] = [];
  let bytes = 0;
  for await (const wseqs of findByAuthor(index, world, view, person, from)) {
    for (let at = 0; at < wseqs.length && bytes <= max_bytes; at += CAPSULE_PAGE) {
      const page = gated(world, view, await tables.entries(world.number, wseqs.slice(at, at + CAPSULE_PAGE)));
      const lived = page.filter((entry) => entry.author.author_id === person && !isBackground(entry));
      newest.push(...lived.reverse());
      for (const { text } of lived) bytes += Math.min(text.length, 800);
    }
    if (bytes > max_bytes) break;
  }
  return newest;
}

/** What a capsule was made of, and up to which entry its world had been looked at. */
interface Kept {
  readonly end: number;
  readonly used: readonly LedgerEntry[];
  readonly pack: CapsulePack;
}

const KEEP = 256;
/** So many new entries are read as they are; behind more of them the index finds the lines of a person. */
const FEW = 64;

/**
 * Capsules of one store that were made lately. Entries and who may see them never change, so a capsule stays as it is
 * until its person says something new; then only that is read, and what no longer fits falls away at the old end.
 */
export class Capsules {
  readonly #kept = new Map<string, Kept>();

  /** Capsules of the people present, as a view may see them. */
  async ofPresent(
    ports: Ports,
    tables: WorldReader,
    world: OpenWorld,
    view: View,
    usable: number,
    created_at_world: string,
  ): Promise<CapsulePack[]> {
    const present = world.cast.present.filter((id) => world.cast.people.has(id));
    const max_bytes = Math.min(CAPSULE_BYTES, Math.floor((3 * usable) / (5 * present.length)));
    const fresh = new FreshLines(tables, world, view);
    const capsules: CapsulePack[] = [];
    for (const person of present) {
      const wanted: Wanted = { person, view, max_bytes };
      const { pack } = await this.#find(ports, world, fresh, wanted, created_at_world);
      capsules.push({ ...pack, created_at_world });
    }
    return capsules;
  }

  async #find(
    ports: Ports,
    world: OpenWorld,
    lines: FreshLines,
    wanted: Wanted,
    created_at_world: string,
  ): Promise<Kept> {
    const key = `${world.state.world_key} ${wanted.max_bytes} ${wanted.person} ${viewKey(wanted.view)}`;
    const end = world.state.next_wseq;
    const kept = this.#kept.get(key);
    // A store that lost entries may give their numbers to others.
    const known = kept !== undefined && kept.end <= end ? kept : null;
    const fresh = await lines.read(wanted, known?.end ?? 0);
    let made: Kept;
    if (known !== null && fresh.length === 0) made = { ...known, end };
    else {
      const newest = [...fresh, ...(known?.used ?? [])];
      const pack = buildCapsule(ports.crypto, ports.graphemes, { ...wanted, created_at_world, newest });
      const count = pack.sections[0]!.provenance.used_entry_ids.length;
      made = { end, used: newest.slice(0, count), pack };
    }
    this.#kept.delete(key);
    this.#kept.set(key, made);
    if (this.#kept.size > KEEP) this.#kept.delete(this.#kept.keys().next().value!);
    return made;
  }
}

/** New lines of several people, as one transaction sees them; what they share is read once. */
class FreshLines {
  readonly #tables: WorldReader;
  readonly #world: OpenWorld;
  readonly #view: View;
  readonly #few = new Map<number, readonly LedgerEntry[]>();
  #index: TermsIndex | undefined;

  constructor(tables: WorldReader, world: OpenWorld, view: View) {
    this.#tables = tables;
    this.#world = world;
    this.#view = view;
  }

  /** The visible lines of a person that are not older than an entry, newest first. */
  async read(wanted: Wanted, from: number): Promise<readonly LedgerEntry[]> {
    const before = this.#world.state.next_wseq;
    if (before - from > FEW) {
      this.#index ??= await TermsIndex.open(this.#tables, this.#world.number);
      return readNewest(this.#tables, this.#index, this.#world, wanted, from);
    }
    let few = this.#few.get(from);
    if (few === undefined) {
      few = await readVisible(this.#tables, this.#world, this.#view, { after: from - 1, limit: FEW, newest: true });
      this.#few.set(from, few);
    }
    return few.filter((entry) => entry.author.author_id === wanted.person && !isBackground(entry)).reverse();
  }
}
