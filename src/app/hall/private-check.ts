import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isWide } from "../../adapters/disk/private-modes.ts";
import type { Composition } from "../compose/compose.ts";
import { findRunsRoot, userFolders } from "../compose/workspace.ts";

/** Places of the workspace and of the user that others have rights to, though arguments, goals and output lie there. */
export function findWidePlaces(composition: Composition): string[] {
  const { workspace, env, platform, userState } = composition;
  const { folder, state, blobs, database } = workspace;
  const keys = join(userFolders(env, platform).config, "keys");
  const secret = existsSync(keys) ? readdirSync(keys).filter((name) => name.endsWith(".key")) : [];
  return [
    folder,
    state,
    blobs,
    join(folder, "runs"),
    ...["", "-wal", "-shm", "-journal"].map((side) => `${database}${side}`),
    userState,
    findRunsRoot(composition, composition.config().workflow.runs_root),
    keys,
    ...secret.map((name) => join(keys, name)),
  ].filter(isWide);
}
