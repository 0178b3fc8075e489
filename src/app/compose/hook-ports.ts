import { randomBytes, randomUUID } from "node:crypto";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { appendDurably } from "../../adapters/disk/durable/durable-write.ts";
import { createRunFolders, findRunByRoot } from "../../adapters/disk/runs/run-folders.ts";
import type { HookPorts } from "../hooks/ports.ts";
import { createRepoIdentity } from "./store/repo-identity.ts";
import { createStateFolder, findRunsRoot, findWorkspace } from "./store/workspace.ts";

const clock = { now: () => Date.now() };

/** What a hook needs, apart from the wiring of the operations: agents wait for it at every tool call. */
export const hookPorts: HookPorts = {
  clock,
  sha256: (bytes) => nodeCrypto.sha256(bytes),
  findWorkspace: (start) => findWorkspace(start),
  createStateFolder,
  findRunDir({ workspace, isInView, slug, ...given }, id) {
    const places = { slug, runsRoot: findRunsRoot(given, given.runsRoot), repoRoot: workspace.root };
    if (isInView) return findRunByRoot(places, id);
    const identity = createRepoIdentity(workspace, { bytes: (count) => randomBytes(count) });
    return createRunFolders({ ...places, identity }).open(id)?.dir ?? null;
  },
  append: appendDurably,
  async openLedger(workspace, env) {
    const ports = { crypto: nodeCrypto, clock, ids: { uuid: () => randomUUID() } };
    const url = env["VERBATIM_DATABASE_URL"];
    if (url !== undefined && url !== "") {
      const { openPostgresStore } = await import("../../adapters/sql/postgres/store.ts");
      const name = env["VERBATIM_WORKSPACE"];
      return openPostgresStore({ url, workspace: name === "" ? undefined : name, serverTime: true, ...ports });
    }
    createStateFolder(workspace);
    const { openSqliteStore } = await import("../../adapters/sql/sqlite/store.ts");
    return openSqliteStore({ path: workspace.database, ...ports });
  },
};
