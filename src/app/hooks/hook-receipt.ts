import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatCanonical, type JsonObject } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { NewEntry } from "../../core/ports.ts";
import { formatTime } from "../../core/time.ts";
import type { Workspace } from "../config/workspace.ts";
import type { HookRun } from "./hook-rules.ts";
import type { HookPorts } from "./ports.ts";

/** Stream of receipts outside a run. */
const HOOK_STREAM = "hook";
/** Where hooks inside an agent's view leave their receipts, below the run directory. */
export const HOOK_SPOOL = "hooks";
export const HOOK_SPOOL_FILE = "receipts.jsonl";

interface ReceiptPlace {
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly run: HookRun | null;
}

/** Records what a hook decided: in the ledger, or from inside a view in the spool that the agent flow collects. */
export async function recordReceipt(
  ports: HookPorts,
  { run, env, workspace }: ReceiptPlace,
  kind: string,
  body: JsonObject,
): Promise<void> {
  // The view has the ledger read-only; its receipts travel through the one folder that stays writable.
  if (run !== null && (env["VERBATIM_RUN_ID"] ?? "") !== "") {
    const folder = join(run.dir, HOOK_SPOOL);
    if (!existsSync(folder)) {
      throw new VerbatimError("HOOK_RUN_INVALID", {
        message: `the run ${run.id} does not accept receipts`,
        where: folder,
      });
    }
    const line = formatCanonical({ kind, time: formatTime(ports.clock.now()), body });
    ports.append(join(folder, HOOK_SPOOL_FILE), new TextEncoder().encode(`${line}\n`));
    return;
  }
  // Outside a repository a hook judges and makes no workspace: there is no ledger to keep the receipt in.
  const isKept =
    workspace.workTree !== null || existsSync(workspace.state) || (env["VERBATIM_DATABASE_URL"] ?? "") !== "";
  if (!isKept) return;
  const entry: NewEntry = { kind, actor: "hook", body };
  const store = await ports.openLedger(workspace, env);
  try {
    await store.transact(({ ledger }) =>
      ledger.append(run === null ? HOOK_STREAM : `workflow/${run.id}`, "next", [entry]),
    );
  } finally {
    await store.close();
  }
}
