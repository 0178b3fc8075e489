import type { Declared, RunRequest } from "./declare.ts";
import { DETECTS, GUARD_FACTS } from "./guard-choice.ts";
import type { Journal } from "./journal.ts";
import type { Places } from "./places.ts";
import type { CatalyticPorts } from "./ports.ts";
import type { GuardRecord } from "./proof.ts";
import type { OutputLog } from "./run-output.ts";
import type { RunRecord } from "./run-record.ts";
import type { ViewRun } from "./view-run.ts";
import type { Watch } from "./watch.ts";
import type { GuardName } from "./words.ts";

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
