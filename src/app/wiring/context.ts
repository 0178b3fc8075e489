import { join } from "node:path";
import { createSourceTree } from "../../adapters/disk/source-tree.ts";
import { createBuildLock } from "../../adapters/sqlite/build-lock.ts";
import { ContentCache } from "../../rooms/context/content-cache.ts";
import { ViewCache } from "../../rooms/context/index-view.ts";
import type { ContextPorts } from "../../rooms/context/operation-ports.ts";
import { CONTEXT_OPERATIONS } from "../../rooms/context/operations.ts";
import type { Composition } from "../compose.ts";
import type { Wiring } from "../operations.ts";

type Kept = Pick<ContextPorts, "tree" | "lock" | "views" | "contents" | "known">;

// Caches live as long as their workspace stays open.
const kept = new WeakMap<Composition, Kept>();

export const wiring: Wiring = {
  operations: CONTEXT_OPERATIONS,
  async ports(composition, effect): Promise<ContextPorts> {
    const { crypto, clock, ids, progress, actor, files } = composition;
    const store = await composition.store(effect);
    const content = await composition.content(effect);
    const config = composition.config().context;
    return {
      store,
      content,
      crypto,
      clock,
      ids,
      progress,
      actor,
      files,
      config,
      ...keep(composition, config.max_file_bytes),
    };
  },
};

function keep(composition: Composition, maxBytes: number): Kept {
  const known = kept.get(composition);
  if (known !== undefined) return known;
  const { workspace, crypto } = composition;
  const tree = createSourceTree(workspace.root, join(workspace.state, "clock"));
  const made: Kept = {
    tree,
    lock: createBuildLock(join(workspace.state, "locks", "index")),
    views: new ViewCache(crypto),
    contents: new ContentCache(tree, crypto, maxBytes),
    known: new Set(),
  };
  kept.set(composition, made);
  return made;
}
