import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findRunsRoot, userFolders } from "../config/workspace.ts";
import type { HallPorts } from "./ports.ts";

/** Places of the workspace and of the user that others have rights to, though arguments, goals and output lie there. */
export function findWidePlaces(ports: HallPorts): string[] {
  const { workspace, env, platform, userState } = ports;
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
    findRunsRoot(ports, ports.config().workflow.runs_root),
    keys,
    ...secret.map((name) => join(keys, name)),
  ].filter((place) => ports.isWide(place));
}
