import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import type { RestoreMethod } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isInside } from "../declare/path-rules.ts";
import type { Layer, RunDisk } from "../ports.ts";
import type { Journal, JournalDomain } from "../record/journal.ts";
import { type Places, parentOf, placeOf } from "../run/places.ts";

const OWNER_WRITES = 0o200;
const OWNER_ALL = 0o700;

/** A folder the tool made because a domain or an anchor was missing. */
interface MadeFolder {
  readonly path: string;
  readonly dev: string;
  readonly ino: string;
}

/** What stands between the command and the originals. */
export class Layers {
  readonly #disk: RunDisk;
  readonly #journal: Journal;
  readonly #places: Places;
  readonly #method: RestoreMethod;
  readonly domains: readonly JournalDomain[];
  readonly anchors: readonly string[];
  /** Every folder that must be there for the command, those inside anchors too. */
  readonly #folders: readonly string[];
  readonly #made: MadeFolder[] = [];
  readonly #everMade = new Set<string>();
  /** Modes of the anchors that the command writes in place. */
  readonly #modes = new Map<string, number>();

  constructor(
    disk: RunDisk,
    journal: Journal,
    places: Places,
    parts: {
      readonly method: RestoreMethod;
      readonly domains: readonly JournalDomain[];
      readonly anchors: readonly string[];
      readonly folders: readonly string[];
    },
  ) {
    this.#disk = disk;
    this.#journal = journal;
    this.#places = places;
    this.#method = parts.method;
    this.domains = parts.domains;
    this.anchors = parts.anchors;
    this.#folders = parts.folders;
  }

  get made(): ReadonlySet<string> {
    return new Set(this.#made.map(({ path }) => path));
  }

  /** Every folder the tool made in the course of the run, whether it is still there or not. */
  get everMade(): ReadonlySet<string> {
    return this.#everMade;
  }

  /** Layers for a namespace guard, numbered domains first. */
  toLayers(): Layer[] {
    const kind = this.#method === "discard-upper" ? "overlay" : "copy";
    const paths = [...this.domains.map(({ path }) => path), ...this.anchors];
    return paths.map((path, index) => ({ index, kind, path: placeOf(this.#places.root, path) }));
  }

  /** Folders a swap-back guard lets the command write. */
  toWritable(): string[] {
    return [...this.domains.map(({ path }) => path), ...this.anchors].map((path) => placeOf(this.#places.root, path));
  }

  copyOf(index: number): string {
    return `${this.#places.work}/cp${index}`;
  }

  /** Makes what is missing, copies, and swaps, each announced before it is done. */
  async prepare(skip: (path: string) => boolean): Promise<void> {
    for (const { path } of this.domains) this.makeFolders(path);
    for (const path of this.#folders) this.makeFolders(path);
    if (this.#method === "discard-upper") return;
    const paths = [...this.domains.map(({ path }) => path), ...this.anchors];
    for (const [i, path] of paths.entries()) await this.#copy(path, this.copyOf(i), skip);
    if (this.#method !== "swap-back") return;
    for (const path of this.anchors) this.#modes.set(path, this.#disk.stat(placeOf(this.#places.root, path))!.mode);
    for (const [i, domain] of this.domains.entries()) await this.#swap(domain, this.copyOf(i));
  }

  /** After the command: where it left no folder in the place of an anchor there is one again, so that no link is followed. */
  async holdAnchors(): Promise<void> {
    for (const [path, mode] of this.#modes) await holdAnchor(this.#disk, this.#places, path, mode);
  }

  /** Makes a folder and those above it that are missing. Its inode is journalled before it appears. */
  makeFolders(path: string): void {
    const missing: string[] = [];
    for (
      let at = path;
      at !== "" && at !== "." && this.#disk.stat(placeOf(this.#places.root, at)) === null;
      at = parentOf(at)
    ) {
      missing.unshift(at);
    }
    for (const one of missing) this.#makeFolder(one);
  }

  #makeFolder(path: string): void {
    const fresh = `${this.#places.work}/new`;
    this.#everMade.add(path);
    const target = placeOf(this.#places.root, path);
    this.#disk.createFolder(fresh, 0o755);
    const { dev, ino } = this.#disk.stat(fresh)!;
    if (this.#disk.stat(parentOf(target))?.dev === dev) {
      this.#journal.record("MKDIR", { path, dev, ino });
      this.#disk.rename(fresh, target);
      this.#made.push({ path, dev, ino });
      return;
    }
    this.#disk.removeEmptyFolder(fresh);
    this.#journal.record("MKDIR", { path });
    this.#disk.createFolder(target, 0o755);
    const facts = this.#disk.stat(target)!;
    this.#made.push({ path, dev: facts.dev, ino: facts.ino });
  }

  async #copy(path: string, to: string, skip: (path: string) => boolean): Promise<void> {
    const from = placeOf(this.#places.root, path);
    const names = this.#disk.list(from) ?? [];
    const left = names.filter((name) => !skip(`${path}/${name}`));
    if (left.length === names.length) {
      await this.#disk.copy(from, to);
      return;
    }
    this.#disk.createFolder(to, 0o755);
    for (const name of sortedByCodePoint(left)) await this.#disk.copy(`${from}/${name}`, `${to}/${name}`);
  }

  async #swap(domain: JournalDomain, copy: string): Promise<void> {
    const place = placeOf(this.#places.root, domain.path);
    this.#journal.record("SWAP_INTENT", { path: domain.path });
    this.#disk.rename(place, domain.aside);
    await moveBeside(this.#disk, copy, place);
    this.#journal.record("SWAPPED", { path: domain.path });
  }

  /** Puts the originals back and removes what the tool made. Doing it again changes nothing. */
  async restore(): Promise<void> {
    if (this.#method === "swap-back") {
      for (const domain of this.domains) await swapBack(this.#disk, this.#places, domain);
      for (const [path, mode] of this.#modes) {
        const place = placeOf(this.#places.root, path);
        const facts = this.#disk.stat(place);
        if (facts?.kind === "dir" && facts.mode !== mode) this.#disk.setMode(place, mode);
      }
    }
    this.removeMade();
  }

  removeMade(): void {
    for (const { path, dev, ino } of this.#made.toReversed()) removeMade(this.#disk, this.#places.root, path, dev, ino);
    this.#made.length = 0;
  }
}

/** Removes a folder the tool made, if it is still that folder and empty. */
export function removeMade(disk: RunDisk, root: string, path: string, dev: string | null, ino: string | null): void {
  const place = placeOf(root, path);
  const facts = disk.stat(place);
  if (facts?.kind !== "dir" || (ino !== null && (facts.ino !== ino || facts.dev !== dev))) return;
  disk.removeEmptyFolder(place);
}

/** Where the original of a domain is, by device and inode. */
export function findOriginal(disk: RunDisk, root: string, domain: JournalDomain): "home" | "aside" | "nowhere" {
  const home = disk.stat(placeOf(root, domain.path));
  const aside = disk.stat(domain.aside);
  if (domain.ino === null) {
    // An absent domain has no original but the empty folder the tool made.
    if (aside !== null) return "aside";
    return "home";
  }
  if (aside !== null && aside.ino === domain.ino && aside.dev === domain.dev) return "aside";
  return home !== null && home.ino === domain.ino && home.dev === domain.dev ? "home" : "nowhere";
}

/** Brings one original home; whatever the command left in its place goes to the work directory, links never followed. */
export async function swapBack(
  disk: RunDisk,
  places: Pick<Places, "root" | "work">,
  domain: JournalDomain,
): Promise<void> {
  const where = findOriginal(disk, places.root, domain);
  if (where === "home") return;
  if (where === "nowhere") {
    throw new VerbatimError("DOMAIN_ORIGINAL_LOST", {
      where: domain.path,
      details: { path: domain.path, aside: domain.aside },
    });
  }
  const place = placeOf(places.root, domain.path);
  if (disk.stat(place) !== null) await moveBeside(disk, place, uniqueName(disk, `${places.work}/done`));
  disk.rename(domain.aside, place);
  disk.syncFolder(parentOf(place));
}

/** Puts a folder in the place of an anchor that is no longer a folder; whatever was there goes to the work directory. */
export async function holdAnchor(
  disk: RunDisk,
  places: Pick<Places, "root" | "work">,
  path: string,
  mode: number,
): Promise<void> {
  const place = placeOf(places.root, path);
  const facts = disk.stat(place);
  if (facts?.kind === "dir") return;
  if (facts !== null) await moveBeside(disk, place, uniqueName(disk, `${places.work}/done`));
  disk.createFolder(place, mode);
  disk.setMode(place, mode);
}

function uniqueName(disk: RunDisk, base: string): string {
  for (let i = 0; ; i++) if (disk.stat(`${base}${i}`) === null) return `${base}${i}`;
}

async function moveBeside(disk: RunDisk, from: string, to: string): Promise<void> {
  const facts = disk.stat(from);
  if (facts?.dev === disk.stat(parentOf(to))?.dev) {
    // A folder that changes its parent must be writable itself, for everyone but root.
    const closed = facts?.kind === "dir" && (facts.mode & OWNER_WRITES) === 0;
    if (closed) disk.setMode(from, facts.mode | OWNER_ALL);
    disk.rename(from, to);
    if (closed) disk.setMode(to, facts.mode);
  } else {
    await disk.copy(from, to);
    await disk.discard(from);
  }
}

/**
 * Where an original waits: in the work directory, or next to the domain when that is on another device or when the
 * domain is closed: such a folder can be renamed but not moved, and its mode is not ours to change.
 */
export function asideOf(disk: RunDisk, places: Places, runId: string, path: string, index: number): string {
  const place = placeOf(places.root, path);
  const facts = disk.stat(place);
  const device = facts?.dev ?? nearestDevice(disk, place);
  const isOpen = facts === null || (facts.mode & OWNER_WRITES) !== 0;
  if (isOpen && device === disk.stat(places.work)?.dev) return `${places.work}/orig${index}`;
  return `${parentOf(place)}/.verbatim-${runId}-${index}`;
}

function nearestDevice(disk: RunDisk, place: string): string | undefined {
  for (let at = place; at !== ""; at = parentOf(at)) {
    const facts = disk.stat(at);
    if (facts !== null) return facts.dev;
  }
  return undefined;
}

/** Paths that belong to nobody's anchor: domains and the record, which are looked after elsewhere. */
export function isLookedAfter(path: string, domains: readonly string[], records: readonly string[]): boolean {
  return [...domains, ...records].some((one) => isInside(path, one));
}
