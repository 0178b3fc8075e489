import type { Policy } from "../declare/policy.ts";
import type { Settings } from "../declare/settings.ts";
import { hiddenPaths } from "../guard/watch.ts";
import type { CatalyticPorts, TreeScan } from "../ports.ts";

/** What people read while a tree is looked at, however that is done. */
export const LOOKING = "looking at the tree";

/** Looks at a tree and says how far it is. Null where only the careful reading will do. */
export function lookAt(
  { trees, progress }: Pick<CatalyticPorts, "trees" | "progress">,
  root: string,
  { policy, settings }: { readonly policy: Policy; readonly settings: Settings },
): Promise<TreeScan | null> {
  const onProgress = (done: number, total: number | null) =>
    progress.report({ label: LOOKING, done, ...(total === null ? {} : { total }), unit: "files" });
  return trees.look(root, { hidden: hiddenPaths(policy), max_entries: settings.tripwire.max_entries, onProgress });
}
