import type { Effect, Operation } from "../core/operation.ts";
import type { Composition } from "./compose/compose.ts";
import type { CallOptions } from "./compose/current-call.ts";
import type { RoomName, Rooms } from "./operation-types.ts";

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
