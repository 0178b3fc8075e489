import {
  isJsonObject,
  parseJson,
  sortedByCodePoint,
  sortedUnique,
  toCanonicalFile,
} from "../../../core/canonical/index.ts";
import type { GuardClass } from "../../../core/contracts/guards.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import { isInside } from "../declare/path-rules.ts";
import type { Policy } from "../declare/policy.ts";
import type { TripwireSettings } from "../declare/settings.ts";
import type { CatalyticPorts, FingerprintScan, ScanOptions, TreeScan } from "../ports.ts";
import { claimedPaths, indexOf, isOwnState, type Places, parentOf, placeOf } from "../run/places.ts";
import type { Violation } from "../verify/verdict.ts";
import { compareTripwire, type Fingerprint } from "./tripwire.ts";

interface WatchSetting {
  readonly places: Places;
  readonly policy: Policy;
  readonly settings: TripwireSettings;
  readonly jobspec: JobSpec;
  readonly guard_class: GuardClass;
  /** Paths that something else looks after. */
  readonly skip: readonly string[];
}

export interface WatchResult {
  readonly violations: readonly Violation[];
  readonly noise: readonly string[];
}

/** What the tool itself did in the tree between the two looks. */
interface OwnWork {
  /** Folders it made, whether they are still there or not. */
  readonly made: ReadonlySet<string>;
  /** Paths it moved away and back; only the folders around them show it. */
  readonly moved: readonly string[];
}

const NO_WORK: OwnWork = { made: new Set(), moved: [] };

/** The tripwire of one run: everything outside the domains, before and after. */
export class Watch {
  readonly #ports: Pick<CatalyticPorts, "disk" | "git">;
  readonly #setting: WatchSetting;
  #before: FingerprintScan | null = null;
  #options: ScanOptions | null = null;
  #look: TreeScan | null = null;
  #known: ReadonlyMap<string, IndexEntry> = new Map();
  /** Contents of what a stat does not vouch for, where nothing kept the command from writing it. */
  #hashes: ReadonlyMap<string, string | null> = new Map();
  /** Which thing is at each path that something else looks after. */
  #roots: ReadonlyMap<string, string> = new Map();
  /** The repository of a linked work tree or a submodule is outside the root, where nothing else is looked at. */
  #elsewhere: ReadonlyMap<string, FingerprintScan> = new Map();
  scope: "full" | "forbidden" = "full";

  constructor(ports: Pick<CatalyticPorts, "disk" | "git">, setting: WatchSetting) {
    this.#ports = ports;
    this.#setting = setting;
  }

  /** The first look, where all of it was taken here. */
  get before(): FingerprintScan | null {
    return this.#look === null && this.scope === "full" ? this.#before : null;
  }

  get entries(): number {
    const elsewhere = [...this.#elsewhere.values()].reduce((sum, { packed }) => sum + packed.size, 0);
    return (this.#before?.packed.size ?? 0) + (this.#look?.entries ?? 0) + elsewhere;
  }

  /**
   * For each of some paths a text that changes when the stat of anything at or below it does, as the first look saw it;
   * null where that look did not see everything.
   */
  fingerprint(crypto: SyncCrypto, paths: readonly string[]): ReadonlyMap<string, string> | null {
    if (this.before === null) return null;
    const owners = new Set(paths);
    const lines = new Map<string, string[]>();
    for (const [path, packed] of this.before.packed) {
      for (let at = path; at !== ""; at = parentOf(at)) {
        if (owners.has(at)) (lines.get(at) ?? lines.set(at, []).get(at)!).push(`${path}\0${packed}\n`);
      }
    }
    return new Map([...lines].map(([path, all]) => [path, crypto.sha256(sortedByCodePoint(all).join(""))]));
  }

  /**
   * Looks at everything once. Too much of it: a namespace guard watches less, any other guard refuses. A look at the
   * whole tree that was taken already is kept, and only what it hides is read here.
   */
  async begin(look: TreeScan | null = null): Promise<void> {
    const { places, settings, guard_class, policy } = this.#setting;
    const from = look === null ? [""] : hiddenPaths(policy);
    const full = { from, skip: (path: string) => this.#isSkipped(path), max_entries: settings.max_entries };
    this.#look = look;
    this.#known = new Map(this.#listIndex().map((entry) => [entry.run_id, entry]));
    this.#roots = this.#identify();
    try {
      this.#options = full;
      this.#before = await this.#ports.disk.scan(places.root, full);
    } catch (thrown) {
      if (!isVerbatimError(thrown) || thrown.code !== "TRIPWIRE_TOO_LARGE" || guard_class !== "namespace") throw thrown;
      this.scope = "forbidden";
      this.#options = this.#narrow();
      this.#before = await this.#ports.disk.scan(places.root, this.#options);
    }
    // Under a namespace guard the kernel keeps the command from it.
    const folders = guard_class === "namespace" ? [] : this.#ports.git.outsideRoot(places.root);
    this.#elsewhere = await this.#scanElsewhere(folders);
    if (guard_class === "audit" && !this.#ports.disk.isStatTrusted(places.root))
      this.#hashes = this.#hash(this.#before);
  }

  /** Looks again and says what differs, what the tool itself did aside. May be asked more than once. */
  async end({ made, moved: aside }: OwnWork = NO_WORK): Promise<WatchResult> {
    const { disk } = this.#ports;
    const { places, policy, settings, guard_class } = this.#setting;
    const moved = await this.#look?.again();
    const after = await disk.scan(places.root, this.#options!);
    const before = this.#before!;
    const [was, is] = [new Map<string, Fingerprint>(), new Map<string, Fingerprint>()];
    for (const [path, packed] of moved?.was ?? []) was.set(path, disk.unpack(packed));
    for (const [path, packed] of moved?.is ?? []) is.set(path, disk.unpack(packed));
    for (const [path, packed] of before.packed) {
      if (after.packed.get(path) !== packed) was.set(path, disk.unpack(packed));
    }
    for (const [path, packed] of after.packed) {
      if (before.packed.get(path) !== packed) is.set(path, disk.unpack(packed));
    }
    for (const [folder, { packed }] of await this.#scanElsewhere([...this.#elsewhere.keys()])) {
      const old = this.#elsewhere.get(folder)!.packed;
      for (const path of new Set([...old.keys(), ...packed.keys()])) {
        const [then, now] = [old.get(path), packed.get(path)];
        if (then === now) continue;
        if (then !== undefined) was.set(placeOf(folder, path), disk.unpack(then));
        if (now !== undefined) is.set(placeOf(folder, path), disk.unpack(now));
      }
    }
    for (const [path, sha256] of this.#hashes) {
      const packed = before.packed.get(path)!;
      const now = after.packed.get(path) === packed ? this.#hashAt(path) : sha256;
      if (now === sha256) continue;
      was.set(path, { ...disk.unpack(packed), ...(sha256 === null ? {} : { sha256 }) });
      is.set(path, { ...disk.unpack(packed), ...(now === null ? {} : { sha256: now }) });
    }
    for (const path of made) for (const side of [was, is]) side.delete(path);
    const others = this.#readOthers();
    const roots = this.#identify();
    const replaced = [...this.#roots].filter(([path, one]) => roots.get(path) !== one).map(([path]) => path);
    const facts = {
      policy,
      settings,
      guard_class,
      before: was,
      after: is,
      // A domain that is another folder now, or none, left its traces in the folder around it.
      tool_touched: [...others, ...aside, ...made, ...replaced].map(parentOrRoot),
      others,
    };
    return compareTripwire(facts);
  }

  async #scanElsewhere(folders: readonly string[]): Promise<Map<string, FingerprintScan>> {
    const { max_entries } = this.#setting.settings;
    const scans = new Map<string, FingerprintScan>();
    for (const folder of folders) {
      scans.set(folder, await this.#ports.disk.scan(folder, { from: [""], skip: () => false, max_entries }));
    }
    return scans;
  }

  /** A view in a namespace cannot reach the records of other runs, and there are more of them with every run that is kept. */
  get #areRecordsClosed(): boolean {
    const { jobspec, guard_class } = this.#setting;
    return jobspec.view === true && guard_class === "namespace";
  }

  #isSkipped(path: string): boolean {
    const { places, policy, skip } = this.#setting;
    if (places.record_path !== null && isInside(path, places.record_path)) return true;
    if (this.#areRecordsClosed && path !== policy.runs_root && isInside(path, policy.runs_root)) return true;
    return skip.some((one) => isInside(path, one)) || isOwnState(path, policy);
  }

  /** Forbidden roots, inputs, and the folders above the domains. */
  #narrow(): ScanOptions {
    const { jobspec, policy } = this.#setting;
    const deep = [...policy.forbidden_roots, ...jobspec.inputs.map((path) => (path === "." ? "" : path))];
    const above = jobspec.catalytic_domains.flatMap(ancestorsOf);
    return {
      from: sortedUnique([...deep, ...above]).filter((path) => !this.#isSkipped(path)),
      skip: (path) => this.#isSkipped(path) || !deep.some((root) => isInside(path, root)),
      max_entries: Number.MAX_SAFE_INTEGER,
    };
  }

  /** Files only, and none of those whose names cannot be told apart. */
  #hash({ packed, not_utf8 }: FingerprintScan): Map<string, string | null> {
    const files = [...packed].filter(([path, text]) => text.startsWith("file|") && !not_utf8.has(path));
    return new Map(files.map(([path]) => [path, this.#hashAt(path)]));
  }

  #hashAt(path: string): string | null {
    return this.#ports.disk.hashFile(placeOf(this.#setting.places.root, path));
  }

  #identify(): Map<string, string> {
    const { places, skip } = this.#setting;
    return new Map(
      skip.map((path) => {
        const facts = this.#ports.disk.stat(placeOf(places.root, path));
        return [path, facts === null ? "" : `${facts.kind} ${facts.dev} ${facts.ino}`];
      }),
    );
  }

  /** A run can claim only what its policy lets it write, so a made-up entry excuses nothing elsewhere. */
  #readOthers(): string[] {
    const { jobspec, policy } = this.#setting;
    const { runs_root, durable_roots, catalytic_roots } = policy;
    const isClaimable = (path: string) =>
      path !== runs_root && [runs_root, ...durable_roots, ...catalytic_roots].some((root) => isInside(path, root));
    // The runs that had ended are most of those that are kept, and nothing that is said of them now counts.
    const hadEnded = (name: string) => this.#known.get(name.replace(/\.json$/, ""))?.ended === true;
    return this.#listIndex(hadEnded)
      .filter(({ run_id }) => run_id !== jobspec.run_id && this.#known.get(run_id)?.ended !== true)
      .flatMap(({ paths }) => paths.filter(isClaimable));
  }

  #listIndex(isLeftOut: (name: string) => boolean = () => false): IndexEntry[] {
    const folder = indexOf(this.#setting.places.state);
    return (this.#ports.disk.list(folder) ?? []).flatMap((name) => {
      if (isLeftOut(name)) return [];
      const bytes = this.#ports.disk.read(`${folder}/${name}`);
      const value = bytes === null ? null : readIndexEntry(bytes);
      return value === null ? [] : [value];
    });
  }
}

interface IndexEntry {
  readonly run_id: string;
  readonly ended: boolean;
  readonly paths: readonly string[];
}

function readIndexEntry(bytes: Uint8Array): IndexEntry | null {
  try {
    const value = parseJson(bytes);
    if (!isJsonObject(value) || !Array.isArray(value["paths"])) return null;
    return { run_id: String(value["run_id"]), ended: value["ended"] === true, paths: value["paths"] as string[] };
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

/** What a look at the whole tree leaves to the tripwire, because it changes with every run. */
export function hiddenPaths({ runs_root }: Pick<Policy, "runs_root">): string[] {
  return isInside(runs_root, ".verbatim") ? [".verbatim"] : sortedUnique([".verbatim", runs_root]);
}

const parentOrRoot = (path: string) => parentOf(path) || ".";

function ancestorsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, i) => parts.slice(0, i).join("/"));
}

/** Tells other runs which paths this one works on, so that their tripwires leave them alone. */
export function writeIndex(disk: CatalyticPorts["disk"], places: Places, jobspec: JobSpec, ended: boolean): void {
  const folder = indexOf(places.state);
  disk.makeFolders(folder);
  const record = places.record_path === null ? [] : [places.record_path];
  const outputs = jobspec.outputs.durable_paths.map((path) => path.replace(/\/$/, ""));
  const claimed = jobspec.view ? [] : claimedPaths(jobspec);
  const paths = sortedUnique([...claimed, ...outputs, ...record]);
  const entry = { run_id: jobspec.run_id, ended, paths };
  disk.replaceFile(`${folder}/${jobspec.run_id}.json`, toCanonicalFile(entry), "no");
}
