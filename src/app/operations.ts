import type { z } from "zod";
import type { LEDGER_OPERATIONS } from "../core/ledger/operations.ts";
import type { Effect, Operation } from "../core/operation.ts";
import type { TRUST_OPERATIONS } from "../core/trust/operations.ts";
import type { CATALYTIC_OPERATIONS } from "../rooms/catalytic/index.ts";
import type { CONTEXT_OPERATIONS } from "../rooms/context/index.ts";
import type { WORKFLOW_OPERATIONS } from "../rooms/workflow/index.ts";
import type { WORLD_OPERATIONS } from "../rooms/world/index.ts";
import type { AGENT_OPERATIONS } from "./agent/operations.ts";
import type { Composition } from "./compose/compose.ts";
import type { CallOptions } from "./compose/current-call.ts";
import type { JOBS_OPERATIONS } from "./compose/jobs.ts";
import type { CONTRACT_OPERATIONS } from "./hall/contract-operations.ts";
import type { HALL_OPERATIONS } from "./hall/operations.ts";
import type { HOOK_OPERATIONS } from "./hooks/operations.ts";
import type { STORE_OPERATIONS } from "./store/operations.ts";
import type { STUDIO_OPERATIONS } from "./studio/operations.ts";
import type { TEAM_OPERATIONS } from "./team/operations.ts";

/** An operation together with how the app fills its ports. */
export interface WiredOperation {
  readonly operation: Operation;
  readonly ports: MakePorts<never>;
}

type MakePorts<P> = (composition: Composition, effect: Effect, name: string, options?: CallOptions) => Promise<P>;

/** What a wiring module gives: the operations of one room and the ports they run on. */
export interface Wiring<T extends readonly { run(ports: never, input: never): unknown }[]> {
  readonly operations: T;
  readonly ports: MakePorts<Parameters<T[number]["run"]>[0]>;
}

/** A wiring of whichever room. Every operation is an `Operation`; comparing all of them with it would take seconds. */
interface AnyWiring {
  readonly operations: readonly unknown[];
  readonly ports: MakePorts<unknown>;
}

/** The table: the first word of an operation's name decides which module is loaded. */
const WIRINGS: { readonly [R in RoomName]: () => Promise<{ readonly wiring: Wiring<Rooms[R]> }> } = {
  agent: () => import("./compose/agent.ts"),
  catalytic: () => import("./compose/catalytic.ts"),
  context: () => import("./compose/context.ts"),
  contract: () => import("./compose/contract.ts"),
  hall: () => import("./compose/hall.ts"),
  hook: () => import("./compose/hook.ts"),
  jobs: () => import("./compose/jobs.ts"),
  keys: () => import("./compose/keys.ts"),
  ledger: () => import("./compose/ledger.ts"),
  store: () => import("./compose/database.ts"),
  studio: () => import("./compose/studio.ts"),
  team: () => import("./compose/team.ts"),
  world: () => import("./compose/world.ts"),
  workflow: () => import("./compose/workflow.ts"),
};

/** First words of the names of operations. */
export const ROOM_NAMES = Object.keys(WIRINGS) as readonly RoomName[];

/** The operation of a name, or null. Loads only the room it belongs to. */
export async function findOperation(name: string): Promise<WiredOperation | null> {
  const room = name.split(".", 1)[0] ?? "";
  if (!isRoom(room)) return null;
  const { wiring }: { readonly wiring: AnyWiring } = await WIRINGS[room]();
  const operation = operationsOf(wiring).find((one) => one.name === name);
  // The wiring of a room makes what the operations of that room run on; which one this is, is known by its name alone.
  return operation === undefined ? null : { operation, ports: wiring.ports as MakePorts<never> };
}

function operationsOf({ operations }: AnyWiring): readonly Operation[] {
  return operations as readonly Operation[];
}

function isRoom(word: string): word is RoomName {
  return Object.hasOwn(WIRINGS, word);
}

/** Every operation of the product, in order of name. Loads all rooms. */
export async function listOperations(): Promise<Operation[]> {
  const all: Operation[] = [];
  for (const load of Object.values(WIRINGS)) {
    const { wiring }: { readonly wiring: AnyWiring } = await load();
    all.push(...operationsOf(wiring));
  }
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names of all operations. */
export async function listOperationNames(): Promise<string[]> {
  return (await listOperations()).map(({ name }) => name);
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
