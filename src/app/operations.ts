import type { z } from "zod";
import type { Effect, Operation } from "../core/operation.ts";
import type { Composition } from "./compose.ts";
import type { CallOptions } from "./current-call.ts";
import type { RoomName, Rooms } from "./operation-types.ts";

/** An operation together with how the app fills its ports. */
export interface WiredOperation {
  readonly operation: Operation;
  readonly ports: MakePorts<never>;
}

type MakePorts<P> = (composition: Composition, effect: Effect, name: string, options?: CallOptions) => Promise<P>;

/** What the operations of a room run on. */
type PortsOf<T extends readonly Operation[]> = T[number] extends Operation<infer P, z.ZodType, z.ZodType> ? P : never;

/** What a wiring module gives: the operations of one room and their ports. */
export interface Wiring<T extends readonly Operation[]> {
  readonly operations: T;
  readonly ports: MakePorts<PortsOf<T>>;
}

/** A wiring of whichever room. */
interface AnyWiring {
  readonly operations: readonly Operation[];
  readonly ports: MakePorts<unknown>;
}

/** The table: the first word of an operation's name decides which module is loaded. */
const WIRINGS: { readonly [R in RoomName]: () => Promise<{ readonly wiring: Wiring<Rooms[R]> }> } = {
  agent: () => import("./wiring/agent.ts"),
  catalytic: () => import("./wiring/catalytic.ts"),
  context: () => import("./wiring/context.ts"),
  contract: () => import("./wiring/contract.ts"),
  hall: () => import("./wiring/hall.ts"),
  hook: () => import("./wiring/hook.ts"),
  jobs: () => import("./wiring/jobs.ts"),
  keys: () => import("./wiring/keys.ts"),
  ledger: () => import("./wiring/ledger.ts"),
  world: () => import("./wiring/world.ts"),
  workflow: () => import("./wiring/workflow.ts"),
};

/** First words of the names of operations. */
export const ROOM_NAMES = Object.keys(WIRINGS) as readonly RoomName[];

/** The operation of a name, or null. Loads only the room it belongs to. */
export async function findOperation(name: string): Promise<WiredOperation | null> {
  const room = name.split(".", 1)[0] ?? "";
  if (!isRoom(room)) return null;
  const { wiring }: { readonly wiring: AnyWiring } = await WIRINGS[room]();
  const operation = wiring.operations.find((one) => one.name === name);
  // The wiring of a room makes what the operations of that room run on; which one this is, is known by its name alone.
  return operation === undefined ? null : { operation, ports: wiring.ports as MakePorts<never> };
}

function isRoom(word: string): word is RoomName {
  return Object.hasOwn(WIRINGS, word);
}

/** Every operation of the product, in order of name. Loads all rooms. */
export async function listOperations(): Promise<Operation[]> {
  const all: Operation[] = [];
  for (const load of Object.values(WIRINGS)) {
    const { wiring }: { readonly wiring: AnyWiring } = await load();
    all.push(...wiring.operations);
  }
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names of all operations. */
export async function listOperationNames(): Promise<string[]> {
  return (await listOperations()).map(({ name }) => name);
}
