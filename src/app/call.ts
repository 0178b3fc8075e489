import type { z } from "zod";
import { toPointerToken } from "../core/canonical/index.ts";
import type { ResolvedConfig } from "../core/contracts/config/index.ts";
import { VerbatimError } from "../core/errors/index.ts";
import { errnoCode, toDiskError } from "../core/errors/system.ts";
import { LOCAL_SURFACES, type Operation } from "../core/operation.ts";
import { findNearest } from "../core/text/index.ts";
import { type CallOptions, type Composition, type CompositionOptions, compose, withCall } from "./compose/compose.ts";
import type { Workspace } from "./config/workspace.ts";
import type { Input, MakePorts, OperationName, Output, RoomName, Rooms, Wiring } from "./operations.ts";

/** Opens the workspace around a folder. Nothing is read or created before an operation needs it. */
export function openApp(options: CompositionOptions): App {
  const composition = compose(options, (start, env) => openApp({ ...options, start, env, notify: () => undefined }));
  const close = () => composition.close();
  const callUnknown: App["callUnknown"] = (name, input, options) =>
    withCall(options, () => call(composition, name, input, options));
  const linesUnknown: App["linesUnknown"] = (name, input) => lines(composition, name, input);
  return {
    workspace: composition.workspace,
    config: () => composition.config(),
    // What comes out was parsed by the operation's own schema, which is where its type was taken from.
    call: callUnknown as App["call"],
    lines: linesUnknown,
    describe: (async (name) => (await find(name)).operation) as App["describe"],
    requireCall: async (name, input) => void parseInput((await find(name)).operation, composition, input),
    callUnknown,
    linesUnknown,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function find(name: string): Promise<WiredOperation> {
  const found = await findOperation(name);
  if (found !== null) return found;
  const near = findNearest(name, await listOperationNames());
  const hint = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
  throw new VerbatimError("OPERATION_UNKNOWN", { message: `there is no operation ${JSON.stringify(name)}${hint}` });
}

async function call(
  composition: Composition,
  name: string,
  input: unknown,
  options: CallOptions | undefined,
): Promise<unknown> {
  const { operation, ports } = await find(name);
  const parsed = parseInput(operation, composition, input);
  const output = await tellFullDisk(async () =>
    operation.run(await ports(composition, operation.effect, name, options), parsed),
  );
  const checked = operation.output.safeParse(output);
  if (checked.success) return checked.data;
  throw new VerbatimError("INTERNAL", {
    message: `the operation ${name} returned a value that does not match its schema`,
    details: { problems: toInputProblems(checked.error, output) },
  });
}

/** A disk may fill up under any write; whoever asked hears of it by its own code. */
async function tellFullDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    if (!["ENOSPC", "EDQUOT"].includes(errnoCode(thrown) ?? "")) throw thrown;
    const { path } = thrown as NodeJS.ErrnoException;
    throw toDiskError(thrown, path ?? "the disk");
  }
}

async function* lines(composition: Composition, name: string, input: unknown): AsyncGenerator<string, unknown> {
  const { operation, ports } = await find(name);
  const parsed = parseInput(operation, composition, input);
  if (operation.lines === undefined) {
    throw new VerbatimError("INTERNAL", { message: `the operation ${name} has no lines` });
  }
  return yield* operation.lines(await ports(composition, operation.effect, name), parsed);
}

function parseInput(operation: Operation, composition: Composition, input: unknown): z.output<z.ZodType> {
  const isClosed = composition.surface === "http" && operation.who === undefined;
  if (isClosed || (operation.surfaces !== undefined && !operation.surfaces.includes(composition.surface))) {
    throw new VerbatimError("OPERATION_UNKNOWN", {
      message: `${operation.name} is not available through this surface`,
    });
  }
  if (!LOCAL_SURFACES.includes(composition.surface)) refuseLocalFields(operation, input);
  const parsed = operation.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = toInputProblems(parsed.error, input);
  throw new VerbatimError("INPUT_INVALID", {
    message: problems.map((one) => `${one.pointer === "" ? "the input" : one.pointer}: ${one.message}`).join("; "),
    where: problems[0]?.pointer ?? "",
    details: { problems },
  });
}

/** A field that widens an operation is refused wherever it stands in the input, whatever its value is. */
function refuseLocalFields({ name, localFields = [] }: Operation, input: unknown): void {
  const given = typeof input === "object" && input !== null ? input : {};
  const found = localFields.find((field) => Object.hasOwn(given, field));
  if (found === undefined) return;
  throw new VerbatimError("LOCAL_ONLY", {
    message: `${name} takes "${found}" only on the machine of the repository`,
    where: `/${toPointerToken(found)}`,
  });
}

/** A problem of an operation's input, at an RFC 6901 pointer. */
interface InputProblem {
  readonly pointer: string;
  readonly message: string;
}

/** zod's issues as pointers and sentences. */
function toInputProblems(error: z.ZodError, value: unknown): InputProblem[] {
  return error.issues.map((issue) => ({
    pointer: issue.path.map((key) => `/${toPointerToken(String(key))}`).join(""),
    message: issue.code === "invalid_type" && isMissing(value, issue.path) ? "is missing" : issue.message,
  }));
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let at = value;
  for (const key of path) at = typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
  return at === undefined;
}

/** One opened workspace, as one surface sees it. */
export interface App extends AsyncDisposable {
  readonly workspace: Workspace;
  /** CONFIG_INVALID */
  config(): ResolvedConfig;
  /** Runs an operation: parses its input, runs it, parses its output. */
  call<N extends OperationName>(name: N, input: Input<N>, options?: CallOptions): Promise<Output<N>>;
  /** The canonical JSON Lines of an operation that has them; the result at the end is an exit code. */
  lines<N extends OperationName>(name: N, input: Input<N>): AsyncGenerator<string, unknown>;
  /** The description of an operation, for surfaces that are generated from it. */
  describe<N extends OperationName>(name: N): Promise<Operation & { readonly name: N }>;
  /** Throws what `callUnknown` would throw before it did anything: no such operation here, or an input it does not take. */
  requireCall(name: string, input: unknown): Promise<void>;
  /** `call` for an input, or a name, that someone outside wrote: what is wrong with it is refused when it is parsed. */
  callUnknown(name: string, input: unknown, options?: CallOptions): Promise<unknown>;
  /** `lines` for an input, or a name, that someone outside wrote. */
  linesUnknown(name: string, input: unknown): AsyncGenerator<string, unknown>;
  close(): Promise<void>;
}

/** An operation together with how the app fills its ports. */
export interface WiredOperation {
  readonly operation: Operation;
  readonly ports: MakePorts<never>;
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
  store: () => import("./compose/store/database.ts"),
  studio: () => import("./compose/studio.ts"),
  team: () => import("./compose/team/team.ts"),
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
