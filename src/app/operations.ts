import type { z } from "zod";
import type { LEDGER_OPERATIONS } from "../core/ledger/operations.ts";
import type { Effect } from "../core/operation.ts";
import type { TRUST_OPERATIONS } from "../core/trust/operations.ts";
import type { CATALYTIC_OPERATIONS } from "../rooms/catalytic/index.ts";
import type { CONTEXT_OPERATIONS } from "../rooms/context/index.ts";
import type { WORKFLOW_OPERATIONS } from "../rooms/workflow/index.ts";
import type { WORLD_OPERATIONS } from "../rooms/world/index.ts";
import type { AGENT_OPERATIONS } from "./agent/operations/operations.ts";
import type { CallOptions, Composition } from "./compose/compose.ts";
import type { JOBS_OPERATIONS } from "./compose/jobs.ts";
import type { CONTRACT_OPERATIONS } from "./hall/contract-operations.ts";
import type { HALL_OPERATIONS } from "./hall/operations.ts";
import type { HOOK_OPERATIONS } from "./hooks/operations.ts";
import type { STORE_OPERATIONS } from "./store/operations.ts";
import type { STUDIO_OPERATIONS } from "./studio/operations.ts";
import type { TEAM_OPERATIONS } from "./team/operations.ts";

export type MakePorts<P> = (
  composition: Composition,
  effect: Effect,
  name: string,
  options?: CallOptions,
) => Promise<P>;

/** What a wiring module gives: the operations of one room and the ports they run on. */
export interface Wiring<T extends readonly { run(ports: never, input: never): unknown }[]> {
  readonly operations: T;
  readonly ports: MakePorts<Parameters<T[number]["run"]>[0]>;
}

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
  readonly store: typeof STORE_OPERATIONS;
  readonly studio: typeof STUDIO_OPERATIONS;
  readonly team: typeof TEAM_OPERATIONS;
  readonly workflow: typeof WORKFLOW_OPERATIONS;
  readonly world: typeof WORLD_OPERATIONS;
}

export type RoomName = keyof Rooms;

/** The table as a type: every operation of the product by its name, as it was defined. */
export type Operations = { readonly [O in Rooms[RoomName][number] as O["name"]]: O };

/** The name of an operation: `context.expand`, `agent.run`, ... */
export type OperationName = keyof Operations;

/** What an operation is called with; fields that have a default may be left out. */
export type Input<N extends OperationName> = z.input<Operations[N]["input"]>;

/** What an operation answers. */
export type Output<N extends OperationName> = z.output<Operations[N]["output"]>;
