import type { z } from "zod";
import type { LEDGER_OPERATIONS } from "../core/ledger/operations.ts";
import type { TRUST_OPERATIONS } from "../core/trust/operations.ts";
import type { CATALYTIC_OPERATIONS } from "../rooms/catalytic/index.ts";
import type { CONTEXT_OPERATIONS } from "../rooms/context/index.ts";
import type { WORKFLOW_OPERATIONS } from "../rooms/workflow/index.ts";
import type { WORLD_OPERATIONS } from "../rooms/world/index.ts";
import type { AGENT_OPERATIONS } from "./agent/operations.ts";
import type { JOBS_OPERATIONS } from "./compose/jobs.ts";
import type { CONTRACT_OPERATIONS } from "./hall/contract-operations.ts";
import type { HALL_OPERATIONS } from "./hall/operations.ts";
import type { HOOK_OPERATIONS } from "./hooks/operations.ts";

/** The operations by the first word of their names. Types only: a room is loaded when one of its operations is called. */
export interface Rooms {
  readonly agent: typeof AGENT_OPERATIONS;
  readonly catalytic: typeof CATALYTIC_OPERATIONS;
  readonly context: typeof CONTEXT_OPERATIONS;
  readonly contract: typeof CONTRACT_OPERATIONS;
  readonly hall: typeof HALL_OPERATIONS;
  readonly hook: typeof HOOK_OPERATIONS;
  readonly jobs: typeof JOBS_OPERATIONS;
  readonly keys: typeof TRUST_OPERATIONS;
  readonly ledger: typeof LEDGER_OPERATIONS;
  readonly workflow: typeof WORKFLOW_OPERATIONS;
  readonly world: typeof WORLD_OPERATIONS;
}

export type RoomName = keyof Rooms;

/** The table as a type: every operation of the product by its name, as it was defined. */
export type Operations = { readonly [O in Rooms[RoomName][number] as O["name"]]: O };

export type OperationName = keyof Operations;

/** What an operation is called with; fields that have a default may be left out. */
export type Input<N extends OperationName> = z.input<Operations[N]["input"]>;

/** What an operation answers. */
export type Output<N extends OperationName> = z.output<Operations[N]["output"]>;
