import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BaseTree } from "../../rooms/workflow/ports.ts";
import { requireGit } from "./git-process.ts";

/** Runs something with a temporary index that holds a tree; the user's index is never touched. */
export async function withIndex<T>(
  root: string,
  base: BaseTree,
  run: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-index-"));
  try {
    const env: Record<string, string> = { GIT_INDEX_FILE: join(folder, "index") };
    if (base.objects !== null) env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = base.objects;
    await requireGit({ cwd: root, args: ["read-tree", base.tree], env });
    return await run(env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
