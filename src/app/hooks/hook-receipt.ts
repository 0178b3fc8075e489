import { existsSync } from "node:fs";
import { join } from "node:path";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { appendDurably } from "../../adapters/disk/durable-write.ts";
import { formatCanonical, type JsonObject } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Clock, Ids, NewEntry, Store } from "../../core/ports.ts";
import { formatTime } from "../../core/time.ts";
import { createStateFolder, type Workspace } from "../compose/workspace.ts";
import type { HookRun } from "./hook-rules.ts";

/** Stream of receipts outside a run. */
const HOOK_STREAM = "hook";
/** Where hooks inside an agent's view leave their receipts, below the run directory. */
export const HOOK_SPOOL = "hooks";
export const HOOK_SPOOL_FILE = "receipts.jsonl";

interface ReceiptPlace {
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly run: HookRun | null;
}

/** Records what a hook decided: in the ledger, or from inside a view in the spool that the agent flow collects. */
export async function recordReceipt(place: ReceiptPlace, kind: string, body: JsonObject): Promise<void> {
  const { run, env, clock, workspace } = place;
  // The view has the ledger read-only; its receipts travel through the one folder that stays writable.
  if (run !== null && (env["VERBATIM_RUN_ID"] ?? "") !== "") {
    const folder = join(run.dir, HOOK_SPOOL);
    if (!existsSync(folder)) {
      throw new VerbatimError("HOOK_RUN_INVALID", { message: `the run ${run.id} takes no receipts`, where: folder });
    }
    const line = formatCanonical({ kind, time: formatTime(clock.now()), body });
    appendDurably(join(folder, HOOK_SPOOL_FILE), new TextEncoder().encode(`${line}\n`));
    return;
  }
  // Outside a repository a hook judges and makes no workspace: there is no ledger to keep the receipt in.
  const isKept =
    workspace.workTree !== null || existsSync(workspace.state) || (env["VERBATIM_DATABASE_URL"] ?? "") !== "";
  if (!isKept) return;
  const entry: NewEntry = { kind, actor: "hook", body };
  const store = await openLedger(place);
  try {
    await store.transact(({ ledger }) =>
      ledger.append(run === null ? HOOK_STREAM : `workflow/${run.id}`, "next", [entry]),
    );
  } finally {
    await store.close();
  }
}

/** Only the ledger is opened: the tables of the rooms would have to be loaded first. */
async function openLedger({ workspace, env, clock, ids }: ReceiptPlace): Promise<Store> {
  const ports = { crypto: nodeCrypto, clock, ids };
  const url = env["VERBATIM_DATABASE_URL"];
  if (url !== undefined && url !== "") {
    const { openPostgresStore } = await import("../../adapters/postgres/store.ts");
    return openPostgresStore({ url, ...ports });
  }
  createStateFolder(workspace);
  const { openSqliteStore } = await import("../../adapters/sqlite/store.ts");
  return openSqliteStore({ path: workspace.database, ...ports });
}
