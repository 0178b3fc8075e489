import { errnoCode } from "../../../core/errors/system.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { LookOptions, TreeMemory } from "../../../rooms/catalytic/ports.ts";
import { compare, KnownTable, rootStat } from "../tree/known-table.ts";
import { TreeChecker } from "../tree/tree-check.ts";
import { openTreeFile, type TreeFile } from "../tree/tree-file.ts";
import { Look } from "../tree/tree-scan.ts";
import { type Hidden, isTouchedOnly, readTable } from "../tree/tree-table.ts";

const GIT = ".git";
/** Where git keeps objects under the hash of their content, so that nothing that is known of a tree depends on them. */
const OBJECTS = /^\.git\/objects\/(?:[0-9a-f]{2}|pack)$/;

interface TreeMemorySetting {
  /** Where the last look is kept; null keeps nothing. */
  readonly place: (root: string) => string | null;
  /** What answers about a tree depend on besides the tree, for example the settings of git. */
  readonly context: (root: string) => Promise<string>;
  readonly now: () => number;
  readonly crypto: SyncCrypto;
  /** Whether the stat of every file of a tree shows each change of its content. */
  readonly isTrusted: (root: string) => boolean;
  /** Trees with fewer entries are compared without help. */
  readonly worthHelp?: number;
}

/** Looks at whole trees. A tree that did not change since the last look costs one `lstat` per path and nothing else. */
export function createTreeMemory(setting: TreeMemorySetting): TreeMemory {
  return {
    async look(root, options) {
      // What a stat does not show, a memory of stats cannot know: everything is read.
      if (!setting.isTrusted(root)) return null;
      const checker = new TreeChecker(setting.worthHelp);
      const place = setting.place(root);
      let opened: TreeFile | null = null;
      try {
        const taken = setting.now();
        const file = place === null ? null : openTreeFile(place);
        opened = file;
        const hidden = toHidden(options.hidden);
        const usable = file !== null && file.root === root && sameHidden(file.hidden, hidden) ? file : null;
        const old = usable === null ? null : new KnownTable(usable);
        // The comparison is under way in other processes while the context is asked for.
        const comparing = old === null ? null : findChanged(checker, root, hidden, old, options);
        const [changed, context] = await Promise.all([comparing, place === null ? "" : setting.context(root)]);
        const isSameRoot = usable !== null && rootStat(root) === usable.top;
        const isSameTree = changed?.size === 0 && isSameRoot;
        const table = isSameTree ? old : takeTable(root, hidden, options, old, changed);
        if (table === null || table !== old) file?.close();
        if (table === null) {
          checker.close();
          return null;
        }
        const isSameState = isSameRoot && [...(changed ?? [])].every((folder) => isOfObjects(old, folder));
        const isSameContext = usable?.context === context;
        const isSame = isSameState && isSameContext && usable?.unsure.length === 0;
        const before =
          isSameContext && old !== null && changed !== null && !isSame
            ? {
                kept: usable!.kept,
                unsure: usable!.unsure,
                table: () => old.get(),
                changed: withTop(changed, isSameRoot),
              }
            : null;
        return new Look(root, hidden, table, checker, {
          place,
          context,
          kept: isSame ? usable!.kept : {},
          notes: isSame ? { ...usable?.notes } : {},
          before,
          last: old === null || changed === null ? null : { table: () => old.get(), changed },
          taken,
          isNew: !isSameTree || usable?.unsure.length !== 0,
          crypto: setting.crypto,
        });
      } catch (thrown) {
        checker.close();
        opened?.close();
        // A folder that cannot be listed, or that goes away meanwhile, is for the careful reading to name.
        if (errnoCode(thrown) !== null) return null;
        throw thrown;
      }
    },
  };
}

async function findChanged(
  checker: TreeChecker,
  root: string,
  hidden: Hidden,
  old: KnownTable,
  { onProgress }: LookOptions,
): Promise<ReadonlySet<number>> {
  const changed = await compare(checker, root, hidden, old, (files) => onProgress?.(files, old.files));
  if (!changed.has(0)) return changed;
  const others = new Set([...changed].filter((folder) => folder !== 0));
  const isTop = [...others].every((folder) => isOfObjects(old, folder));
  return isTop && isTouchedOnly(root, hidden, old.getTop(), GIT) ? others : changed;
}

/** git sets the times of objects that it meets again, also when we ask it for the tree of the working state. */
function isOfObjects(old: KnownTable | null, folder: number): boolean {
  return old !== null && OBJECTS.test(old.get().folders[folder]!);
}

/** The root itself is told with what is in it. */
function withTop(changed: ReadonlySet<number>, isSameRoot: boolean): ReadonlySet<number> {
  return isSameRoot ? changed : new Set([...changed, 0]);
}

function takeTable(
  root: string,
  hidden: Hidden,
  { max_entries, onProgress }: LookOptions,
  old: KnownTable | null,
  changed: ReadonlySet<number> | null,
): KnownTable | null {
  const isSame = (folder: number) => changed?.has(folder) === false;
  const onSeen = (files: number) => onProgress?.(files, null);
  const table = readTable(root, hidden, max_entries, old?.get() ?? null, isSame, onSeen);
  return table === null ? null : new KnownTable(table);
}

function toHidden(paths: readonly string[]): Hidden {
  const hidden: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const path of paths) {
    const slash = path.lastIndexOf("/");
    (hidden[slash === -1 ? "" : path.slice(0, slash)] ??= []).push(path.slice(slash + 1));
  }
  return hidden;
}

function sameHidden(a: Hidden, b: Hidden): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
