import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { type AnchorDiff, diffFolders, entryAt, isSameEntry } from "../outputs/staging.ts";
import type { CatalyticPorts, FingerprintScan } from "../ports.ts";
import { diffTree } from "../tree/diff.ts";
import { Reading, viewLimits } from "../tree/reading.ts";
import type { Entry, OtherEntry, Tree } from "../tree/tree.ts";
import type { ViewChanges } from "./view-changes.ts";
import { diffOverlay } from "./view-diff.ts";
import type { ViewScope } from "./view-scope.ts";

/** What a command left, and what it found. */
interface LeftView {
  readonly root: string;
  /** The tree as the command sees it, and the side that it wrote where there is one. */
  readonly merged: string;
  readonly upper: string | null;
  readonly scope: ViewScope;
  readonly is_namespace: boolean;
  readonly max_entries: number;
  /** The real tree when the view began. */
  readonly tree: Tree;
  /** A copy as the command found it: by stat, and by hash where stat is not trusted. */
  readonly seen: FingerprintScan | null;
  readonly found: ReadonlyMap<string, Entry | OtherEntry>;
}

/** Reads what changed in a view before the view is dropped. */
export class ViewCollector {
  readonly #ports: CatalyticPorts;
  readonly #left: LeftView;

  constructor(ports: CatalyticPorts, left: LeftView) {
    this.#ports = ports;
    this.#left = left;
  }

  /** What changed against the tree of the view; its contents are kept. VIEW_TOO_LARGE, VIEW_READ_TIMED_OUT. */
  async collect(): Promise<ViewChanges> {
    const { disk, git, clock } = this.#ports;
    const { root, merged, upper, scope } = this.#left;
    const skip = (path: string) => scope.isUncarried(path);
    const late = new Set<string>();
    const limits = viewLimits(this.#left.max_entries);
    const reading = new Reading(
      disk,
      () => clock.now(),
      limits,
      async (paths, added) => {
        for (const path of paths) if (this.#left.scope.isIgnored(path)) late.add(path);
        const rest = added.filter((path) => !late.has(path));
        // Without a namespace the command may have written what git in the real tree would obey.
        if (this.#left.is_namespace) for (const path of await git.ignoredAmong(root, rest)) late.add(path);
        return late;
      },
    );
    const { changes, not_utf8 } =
      upper === null
        ? await diffFolders(disk, { before: root, after: merged }, skip, reading, this.#left.seen)
        : await diffOverlay(disk, { lower: root, merged, upper }, skip, reading);
    const added = new Map<string, Entry>();
    const removed = new Map<string, Entry>();
    const changed = new Map<string, { before: Entry; after: Entry; fields: readonly string[] }>();
    const refused: string[] = [];
    const large: string[] = [];
    const kept = await this.#keepContents(changes, reading);
    let ignored = 0;
    for (const [path, { after }] of changes) {
      const found = this.#left.found.get(path);
      if (found !== undefined && after !== null && isSameEntry(found, after)) continue;
      const before = this.#left.tree.get(path) ?? null;
      const isUnread = not_utf8.has(path) || after?.type === "other" || (after?.type === "file" && !kept.has(path));
      // What git ignores and what is not read is counted like everything else that it ignores.
      if (this.#left.scope.isIgnored(path) || (isUnread && late.has(path))) ignored++;
      else if (isUnread) {
        refused.push(path);
        if (!not_utf8.has(path) && disk.stat(`${merged}/${path}`)?.kind === "file") large.push(path);
      } else if (after === null) {
        if (before !== null) removed.set(path, before);
      } else if (before === null) added.set(path, after as Entry);
      else {
        const diff = diffTree(new Map([[path, before]]), new Map([[path, after as Entry]]));
        const change = diff.changed.get(path);
        if (change !== undefined) changed.set(path, change);
      }
    }
    // An overlay whose upper side has no `.git` is a repository nobody wrote to.
    const hasCommits = disk.stat(`${upper ?? merged}/.git`) !== null && disk.stat(`${merged}/.git`) !== null;
    const commits = hasCommits ? git.countCommits(merged, root) : 0;
    const reserved = await this.#listReserved(reading);
    return { added, removed, changed, refused, large, reserved, ignored, concurrent: [], commits };
  }

  /** What the command left at forbidden places of its view and in hidden files: it is dropped, but not without a word. */
  async #listReserved(reading: Reading): Promise<string[]> {
    const { disk } = this.#ports;
    const { root, merged, scope } = this.#left;
    const from = scope.holes.filter((hole) => hole !== ".verbatim");
    const options = { from, skip: () => false };
    const was = await reading.scan(root, options);
    const is = await reading.scan(merged, options, was);
    const paths = new Set([...was.packed.keys(), ...is.packed.keys()]);
    const isTouched = (path: string) => {
      const now = disk.stat(`${merged}/${path}`);
      return now?.kind !== "file" || now.size > 0;
    };
    const forbidden = [...paths].filter((path) => {
      const [old, now] = [was.packed.get(path), is.packed.get(path)];
      if (old === now) return false;
      const [a, b] = [old, now].map((packed) => (packed === undefined ? null : disk.unpack(packed)));
      if (b?.type === "dir") return false;
      // Only a file of the size of the real one is read.
      if (a == null || b == null || a.type !== b.type || a.size !== b.size) return true;
      const [before, after] = [entryAt(disk, root, path, was), entryAt(disk, merged, path, is)];
      return before === null || after === null || !isSameEntry(before, after);
    });
    return sortedByCodePoint([...forbidden, ...scope.masked.filter(isTouched)]);
  }

  /** Keeps the contents of files that changed; says of which paths they are what was compared. */
  async #keepContents(changes: AnchorDiff, reading: Reading): Promise<ReadonlySet<string>> {
    const content = await this.#ports.content();
    const kept = new Set<string>();
    for (const [path, { after }] of changes) {
      if (after?.type !== "file" || this.#left.scope.isIgnored(path)) continue;
      reading.check();
      const chunks = this.#ports.disk.readChunks(`${this.#left.merged}/${path}`, after.size);
      if ((await content.putStream(chunks)) === after.sha256) kept.add(path);
    }
    return kept;
  }
}
