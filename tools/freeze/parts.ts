import type { FrozenFiles } from "./files.ts";
import { freezeStore } from "./store.ts";
import { freezeCatalytic, freezeContext, freezeJob, freezeWorkflow, freezeWorld } from "./stories.ts";
import { freezeSurfaces } from "./surfaces.ts";
import { freezeConfig, freezeContracts, freezeErrors, freezeOperations } from "./table.ts";

/** A part of what is frozen, by what it is. Help is not here: who asks decides which program prints it. */
export const TABLES: Readonly<Record<string, () => Promise<FrozenFiles>>> = {
  operations: freezeOperations,
  contracts: freezeContracts,
  errors: freezeErrors,
  config: freezeConfig,
  store: freezeStore,
  surfaces: freezeSurfaces,
};

/** One run of each kind. The quick ones start no process. */
export const RUNS: Readonly<Record<string, { readonly quick: boolean; make(): Promise<FrozenFiles> }>> = {
  "context-run": { quick: true, make: freezeContext },
  "job-run": { quick: true, make: freezeJob },
  "world-run": { quick: true, make: freezeWorld },
  "catalytic-run": { quick: false, make: freezeCatalytic },
  "workflow-run": { quick: false, make: freezeWorkflow },
};
