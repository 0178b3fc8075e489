import { GUARD_FACTS, type GuardName } from "../../../core/contracts/guards.ts";
import type { Declared, RunRequest } from "../declare/declare.ts";
import { DETECTS } from "../guard/guard-choice.ts";
import type { Watch } from "../guard/watch.ts";
import type { ConnectionLog } from "../network/connection-log.ts";
import type { OutputLog } from "../outputs/run-output.ts";
import type { CatalyticPorts } from "../ports.ts";
import type { Journal } from "../record/journal.ts";
import type { GuardRecord } from "../record/proof.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { ViewRun } from "../view/view-run.ts";
import type { Places } from "./places.ts";
import type { RunCaps } from "./run-caps.ts";

/** What every phase of a run needs: fixed from its declaration on. */
export interface RunContext {
  readonly ports: CatalyticPorts;
  readonly request: RunRequest;
  readonly declared: Declared;
  readonly places: Places;
  readonly guard: GuardName;
  readonly record: RunRecord;
  readonly journal: Journal;
  readonly view: ViewRun | null;
  /** Where the connections of the command are written; null where nobody counts them. */
  readonly connections: ConnectionLog | null;
  /** What the command may use and used; null where nothing limits it. */
  readonly caps: RunCaps | null;
  readonly logs: { readonly stdout: OutputLog; readonly stderr: OutputLog };
}

/** What was found about the guard in the course of a run. */
interface GuardNews {
  readonly watch: Watch | undefined;
  readonly noise: readonly string[];
  readonly launcher: string | null;
}

/** The guard as ledger and proof record it. */
export function toGuardRecord(
  { declared, guard, view }: RunContext,
  { watch, noise, launcher }: GuardNews,
): GuardRecord {
  const { class: kind, restore_method, blocks } = GUARD_FACTS[guard];
  const { jobspec } = declared;
  const statOnly = view?.statOnlyRoots() ?? [];
  return {
    name: guard,
    class: kind,
    requested: jobspec.guard,
    network: jobspec.network,
    restore_method,
    blocks,
    detects: DETECTS,
    tripwire: {
      scope: watch?.scope ?? "full",
      entries: watch?.entries ?? 0,
      ...(noise.length > 0 ? { noise } : {}),
      ...(statOnly.length > 0 ? { stat_only_roots: statOnly } : {}),
    },
    ...(launcher === null ? {} : { launcher }),
  };
}
