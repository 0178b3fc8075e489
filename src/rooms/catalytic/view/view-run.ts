import { formatCanonical, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { GUARD_FACTS, type GuardName } from "../../../core/contracts/guards.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { Declared, RunRequest } from "../declare/declare.ts";
import { isInside } from "../declare/path-rules.ts";
import { isOwnTrace } from "../guard/own-traces.ts";
import type { Watch, WatchResult } from "../guard/watch.ts";
import type {
  CatalyticPorts,
  FingerprintScan,
  KeptTree,
  LaunchRequest,
  Layer,
  RunningCommand,
  TreeScan,
} from "../ports.ts";
import type { RunRecord } from "../record/run-record.ts";
import { type Places, placeOf } from "../run/places.ts";
import type { Entry, OtherEntry, Tree, Trees } from "../tree/tree.ts";
import { keepTexts } from "../tree/tree-texts.ts";
import { makeTexts, recallTree } from "../tree/written-tree.ts";
import type { Violation } from "../verify/verdict.ts";
import { LOOKING, lookAt } from "./look.ts";
import { isIgnoredSame, updateTree, withIgnored } from "./tree-update.ts";
import { formatViewChanges, NO_CHANGES, type ViewChanges } from "./view-changes.ts";
import { ViewCollector } from "./view-collector.ts";
import { ViewScope } from "./view-scope.ts";
import { stageWrites, writeIntoCopy } from "./view-writes.ts";

/** What a view needs to know of its run, alive or dead. */
type ViewDeclared = Pick<Declared, "policy" | "settings" | "jobspec">;

type ViewLaunch = Pick<
  LaunchRequest,
  "layers" | "writable" | "holes" | "keeps" | "visible" | "hidden" | "masked" | "replaced" | "written" | "shown" | "cwd"
>;

/** Where what a command left can be read. */
export type ViewReader = Pick<RunningCommand, "merged" | "upper">;

const IGNORED_NOTE = "ignored";
/** Why nothing of a view can be taken over. */
const UNREAD: readonly string[] = ["VIEW_TOO_LARGE", "VIEW_READ_TIMED_OUT"];

/** The parts of a run that differ for a view of the whole repository (section 16 of the room's document). */
export class ViewRun {
  readonly #ports: CatalyticPorts;
  readonly #request: RunRequest;
  readonly #declared: ViewDeclared;
  readonly #places: Places;
  readonly #guard: GuardName;
  readonly #scope: ViewScope;
  #tree: Tree = new Map();
  #watch: Watch | null = null;
  #isCollected = false;
  #look: TreeScan | null = null;
  /** The copy as the command finds it: by stat, and by hash where stat is not trusted. */
  #copied: FingerprintScan | null = null;
  #copiedTree: ReadonlyMap<string, Entry | OtherEntry> = new Map();
  #index: string | null = null;
  #written: NonNullable<LaunchRequest["written"]> = [];
  #concurrent: string[] = [];
  readonly #unsteady: string[] = [];
  changes: ViewChanges = NO_CHANGES;
  /** The state of what git ignores when the view began; null where it is not known. */
  ignoredState: ReadonlyMap<string, string> | null = null;

  constructor(ports: CatalyticPorts, request: RunRequest, declared: ViewDeclared, places: Places, guard: GuardName) {
    this.#ports = ports;
    this.#request = request;
    this.#declared = declared;
    this.#places = places;
    this.#guard = guard;
    this.#scope = new ViewScope(declared.policy);
    this.#scope.masked = request.view?.masked ?? [];
  }

  /** Paths of the tree that did not stand still when the view began: people and servers write while someone looks. */
  get busy(): readonly string[] {
    return sortedByCodePoint(new Set([...this.#unsteady, ...(this.#look?.busy ?? [])]));
  }

  get #isNamespace(): boolean {
    return GUARD_FACTS[this.#guard].class === "namespace";
  }

  get #hashAll(): boolean {
    return this.#request.view?.hash_all === true || !this.#isNamespace || !this.#isTrusted;
  }

  get #isTrusted(): boolean {
    return this.#ports.disk.isStatTrusted(this.#places.root);
  }

  /** Roots of which only the stat is known, because their hashes come from the cache or are not taken. */
  statOnlyRoots(): string[] {
    if (!this.#hashAll) return ["."];
    return this.#request.view?.hash_all === true
      ? []
      : sortedByCodePoint(this.#scope.ignored.map((path) => path.replace(/\/$/, "")));
  }

  launcherOf(launcher: string): string {
    return this.#isNamespace ? launcher : "copy-view";
  }

  /** What the journal says of the view, so that it can be read although this process is gone. */
  toJournal(): { readonly collects: boolean; readonly ignored: readonly string[]; readonly masked: readonly string[] } {
    const { ignored, masked } = this.#scope;
    return { collects: this.#request.view?.collect !== false, ignored, masked };
  }

  /** Takes the place of a view whose process is gone. */
  recall(tree: Tree, ignored: readonly string[], masked: readonly string[]): void {
    this.#tree = tree;
    this.#scope.ignored = ignored;
    this.#scope.masked = masked;
  }

  /** The tripwire of the run, which sees the real tree. */
  watchWith(watch: Watch): void {
    this.#watch = watch;
  }

  /** One look at the whole tree, for the tripwire and the snapshot alike; null where everything is read. */
  async look(): Promise<TreeScan | null> {
    const given = this.#request.view?.look ?? null;
    if (this.#hashAll || this.#declared.jobspec.strict_mtime) given?.close();
    else this.#look = given ?? (await lookAt(this.#ports, this.#places.root, this.#declared));
    return this.#look;
  }

  close(): void {
    this.#look?.close();
  }

  /** Everything but the holes, the private repository and what git ignores. */
  async snapshot(): Promise<Trees> {
    const { git, crypto } = this.#ports;
    const { root } = this.#places;
    const key = crypto.sha256(formatCanonical({ holes: this.#scope.holes, policy: this.#declared.policy }));
    const kept = this.#look?.recall(key) ?? null;
    if (kept !== null) {
      this.#scope.ignored = kept.ignored;
      return this.#recallTree(key, kept);
    }
    const before = this.#look?.recallBefore(key) ?? null;
    if (this.#request.view?.hash_all !== true) {
      const known = before !== null && isIgnoredSame(before) ? before.kept.ignored : null;
      this.#scope.ignored = this.#request.view?.ignored ?? known ?? (await git.ignored(root)) ?? [];
    }
    if (this.#look !== null && before !== null) {
      const updated = await updateTree(crypto, this.#look, before, this.#scope.ignored, (path) =>
        this.#scope.isInView(path),
      );
      if (updated !== null) return this.#recallTree(key, updated);
    }
    this.#tree = await this.#read();
    this.ignoredState = this.#readIgnored();
    if (this.#look !== null) {
      const made = withIgnored(makeTexts(crypto, this.#tree), this.#scope.ignored);
      keepTexts(this.#tree, this.#look.keep(key, made));
    }
    return new Map([[".", this.#tree]]);
  }

  /** A tree whose texts are there already. */
  #recallTree(key: string, texts: KeptTree): Trees {
    this.ignoredState = this.#readIgnored();
    this.#tree = recallTree(this.#look!.keep(key, texts));
    return new Map([[".", this.#tree]]);
  }

  /** Known from the look at the tree, which remembers it as long as nothing changes, or from the tripwire. */
  #readIgnored(): ReadonlyMap<string, string> | null {
    const paths = this.#scope.ignored
      .map((path) => path.replace(/\/$/, ""))
      .filter((path) => !this.#scope.isHole(path));
    if (this.#look === null) return this.#watch?.fingerprint(this.#ports.crypto, paths) ?? null;
    const note = this.#look.note(IGNORED_NOTE);
    if (note !== null) return new Map(JSON.parse(note) as [string, string][]);
    const state = this.#look.fingerprint(paths);
    this.#look.setNote(IGNORED_NOTE, JSON.stringify([...state]));
    return state;
  }

  async #read(): Promise<Tree> {
    const { disk, progress } = this.#ports;
    const { root } = this.#places;
    const { settings, jobspec } = this.#declared;
    const of = this.#look === null ? {} : { total: this.#look.files };
    const onProgress = (files: number, bytes: number) =>
      progress.report({ label: LOOKING, done: files, ...of, unit: `files, ${(bytes / 1e6).toFixed(1)} MB` });
    if (this.#look !== null) return this.#look.read((path) => this.#scope.isInView(path), onProgress);
    const taken = await disk.snapshot(root, {
      strict_mtime: jobspec.strict_mtime,
      max_entries: settings.limits.max_entries,
      lenient: true,
      busy: this.#unsteady,
      skip: (path) => !this.#scope.isInView(path),
      onProgress,
    });
    return new Map([...taken.entries].filter(([, entry]) => entry.type !== "other")) as Tree;
  }

  /** Makes the copy that takes the place of a layer where there is none, and an index that knows of hidden files. */
  async prepare(): Promise<void> {
    const { disk, git } = this.#ports;
    const { root, work } = this.#places;
    const { masked } = this.#scope;
    const index = masked.length === 0 ? null : await git.writeHiddenIndex(root, masked, `${work}/index`);
    // Only where the command has an index of its own.
    const isOwn = index !== null && [root, ...this.#discarded()].some((folder) => isInside(index, folder));
    this.#index = isOwn ? index : null;
    const writes = this.#request.view?.writes ?? [];
    if (GUARD_FACTS[this.#guard].restore_method === "discard-upper") {
      if (writes.length > 0) this.#written = await stageWrites(disk, await this.#ports.content(), work, writes);
      return;
    }
    disk.createFolder(`${work}/cp0`, 0o755);
    for (const name of sortedByCodePoint(disk.list(root) ?? [])) {
      const isState = name === ".verbatim";
      if (isState) disk.createFolder(`${work}/cp0/${name}`, 0o755);
      else await disk.copy(`${root}/${name}`, `${work}/cp0/${name}`);
    }
    for (const path of masked) this.#empty(`${work}/cp0/${path}`);
    if (this.#index !== null && isInside(this.#index, root)) {
      disk.replaceFile(`${work}/cp0/${this.#index.slice(root.length + 1)}`, disk.read(`${work}/index`)!, "no");
    }
    // Somebody may have written since the snapshot, and that is not the command's. It starts several processes later, when
    // the clock of the file system has moved on: whatever it writes has another time.
    const options = { skip: (path: string) => this.#scope.isUncarried(path), max_entries: Number.MAX_SAFE_INTEGER };
    if (disk.isStatTrusted(work)) this.#copied = await disk.scan(`${work}/cp0`, { ...options, from: [""] });
    else
      this.#copiedTree = (
        await disk.snapshot(`${work}/cp0`, { ...options, strict_mtime: false, lenient: true })
      ).entries;
    // After that reading, so that it counts as what the command did: the copy is compared with the real tree.
    if (writes.length > 0) await writeIntoCopy(disk, await this.#ports.content(), `${work}/cp0`, writes);
  }

  /** A file of the copy that the command finds empty: made anew, so that no other name leads to it. */
  #empty(place: string): void {
    const { disk } = this.#ports;
    const now = disk.stat(place);
    if (now?.kind !== "file") return;
    disk.removeFile(place);
    disk.createFile(place, new Uint8Array());
    disk.setMode(place, now.mode & 0o777);
  }

  /** How the command is started: the root is a layer, holes are read-only, the home folder is one more layer. */
  launch(): ViewLaunch {
    const { root, work } = this.#places;
    const { jobspec } = this.#declared;
    if (!this.#isNamespace) {
      const copy = `${work}/cp0`;
      return { layers: [], writable: [copy, ...this.#keeps()], holes: [], keeps: [], cwd: placeOf(copy, jobspec.cwd) };
    }
    const kind = this.#guard === "ns-overlay" ? "overlay" : "copy";
    const layers: Layer[] = [{ index: 0, kind, path: root }];
    const home = this.#ports.host.home;
    const withHome =
      kind === "overlay" &&
      home !== null &&
      home !== "/" &&
      !isInside(home, root) &&
      this.#ports.disk.stat(home) !== null;
    if (withHome) layers.push({ index: 1, kind: "home", path: home });
    for (const path of kind === "overlay" ? this.#discarded() : []) {
      layers.push({ index: layers.length + 1, kind: "overlay", path });
    }
    return {
      layers,
      writable: [],
      holes: this.#scope.holes.map((path) => ({ from: `lo0/${path}`, to: placeOf(root, path) })),
      keeps: this.#keeps().map((path) => ({
        from: withHome && isInside(path, home) ? `lo1/${path.slice(home.length + 1)}` : path,
        to: path,
      })),
      visible: this.#request.view?.visible ?? [],
      ...(kind === "overlay" && this.#scope.masked.length > 0
        ? { masked: this.#scope.masked.map((path) => placeOf(root, path)) }
        : {}),
      ...(kind === "overlay" && this.#written.length > 0 ? { written: this.#written } : {}),
      ...(kind === "overlay" && this.#index !== null ? { replaced: { from: `${work}/index`, to: this.#index } } : {}),
      ...this.#toHidden(),
      cwd: placeOf(root, jobspec.cwd),
    };
  }

  /** The work directory holds both sides of the layers, so it is hidden too; the private temporary folder stays. */
  #toHidden(): Pick<ViewLaunch, "hidden" | "shown"> {
    const { view } = this.#request;
    if (view?.hidden === undefined || view.hidden.length === 0) return {};
    const { root, work } = this.#places;
    const shown = [root, `${work}/tmp`, ...this.#keeps(), ...(view.visible ?? []), ...(view.shown ?? [])];
    return { hidden: [...view.hidden, work], shown };
  }

  #discarded(): readonly string[] {
    return this.#request.view?.discard ?? [];
  }

  #keeps(): string[] {
    return (this.#request.view?.keep ?? []).filter((path) => this.#ports.disk.stat(path) !== null);
  }

  /**
   * Looks at the real tree as it is now. Under a namespace guard nobody but someone else can have changed it: that is
   * listed, and is not a violation.
   */
  async lookOutside(): Promise<WatchResult> {
    const { violations, noise } = await this.#watch!.end();
    if (!this.#isNamespace) return { violations, noise };
    const { runs_root } = this.#declared.policy;
    const others = violations.filter((violation) => !isOwnTrace(violation, runs_root));
    this.#concurrent = sortedByCodePoint(others.map(({ path }) => path));
    return { violations: [], noise };
  }

  /**
   * Compares the view with what it was before it is dropped, and keeps what changed. Where that is more than is read,
   * nothing is kept and the violation says so.
   */
  async collect(running: ViewReader): Promise<readonly Violation[]> {
    if (this.#request.view?.collect === false) return [];
    try {
      this.changes = await new ViewCollector(this.#ports, this.#toLeft(running)).collect();
    } catch (thrown) {
      if (!isVerbatimError(thrown) || !UNREAD.includes(thrown.code)) throw thrown;
      this.#ports.notify(`${thrown.code}: ${thrown.message}. ${thrown.fix}`);
      return [{ code: thrown.code, path: "." }];
    } finally {
      this.#isCollected = true;
    }
    return [];
  }

  #toLeft(running: ViewReader): ConstructorParameters<typeof ViewCollector>[1] {
    const { root, work } = this.#places;
    const layer: Layer = { index: 0, kind: this.#guard === "ns-overlay" ? "overlay" : "copy", path: root };
    return {
      root,
      merged: this.#isNamespace ? running.merged(layer) : `${work}/cp0`,
      upper: running.upper?.(layer) ?? null,
      scope: this.#scope,
      is_namespace: this.#isNamespace,
      max_entries: this.#declared.settings.limits.max_entries,
      tree: this.#tree,
      seen: this.#copied ?? this.#watch?.before ?? null,
      found: this.#copiedTree,
    };
  }

  /** Records what changed, in the view and by others, once the real tree was looked at for the last time. */
  writeChanges(record: RunRecord): void {
    this.changes = { ...this.changes, concurrent: this.#concurrent };
    if (!this.#isCollected) return;
    record.write("VIEW_CHANGES.json", formatViewChanges(this.changes));
  }

  /** The real tree afterwards. What the kernel protected and whose stat is unchanged keeps its hash. */
  async lookAgain(pre: Trees): Promise<{ readonly post: Trees; readonly unreachable: ReadonlyMap<string, string> }> {
    const unreachable = new Map<string, string>();
    if (!this.#hashAll) return { post: pre, unreachable };
    // What someone else changed meanwhile is theirs, and is not put back.
    if (this.#isNamespace) await this.lookOutside();
    const now = new Map(await this.#read());
    for (const path of this.#concurrent) {
      const was = this.#tree.get(path);
      if (was === undefined) now.delete(path);
      else now.set(path, was);
    }
    const sorted = new Map(sortedByCodePoint(now.keys()).map((path) => [path, now.get(path)!]));
    return { post: new Map([[".", sorted]]), unreachable };
  }
}
