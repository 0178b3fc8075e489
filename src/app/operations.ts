import type { Effect, Operation } from "../core/operation.ts";
import type { Composition } from "./compose.ts";
import type { CallOptions } from "./current-call.ts";

/** An operation together with how the app fills its ports. */
export interface WiredOperation {
  readonly operation: Operation;
  ports(composition: Composition, effect: Effect, name: string, options?: CallOptions): Promise<unknown>;
}

/** What a wiring module gives: the operations of one room and their ports. */
export interface Wiring {
  readonly operations: readonly Operation<never>[];
  ports(composition: Composition, effect: Effect, name: string, options?: CallOptions): Promise<unknown>;
}

/** The table: the first word of an operation's name decides which module is loaded. */
const WIRINGS: Readonly<Record<string, () => Promise<{ readonly wiring: Wiring }>>> = {
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

/** The operation of a name, or null. Loads only the room it belongs to. */
export async function findOperation(name: string): Promise<WiredOperation | null> {
  const room = name.split(".", 1)[0] ?? "";
  const load = Object.hasOwn(WIRINGS, room) ? WIRINGS[room] : undefined;
  if (load === undefined) return null;
  const { wiring } = await load();
  const operation = wiring.operations.find((one) => one.name === name);
  return operation === undefined ? null : { operation: operation as Operation, ports: wiring.ports };
}

/** Every operation of the product, in order of name. Loads all rooms. */
export async function listOperations(): Promise<Operation[]> {
  const all: Operation[] = [];
  for (const load of Object.values(WIRINGS)) {
    const { wiring } = await load();
    all.push(...(wiring.operations as readonly Operation[]));
  }
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names of all operations. */
export async function listOperationNames(): Promise<string[]> {
  return (await listOperations()).map(({ name }) => name);
}
