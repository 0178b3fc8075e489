import { type Context, Hono } from "hono";
import type { App } from "../../../app/call.ts";
import type { CallOptions } from "../../../app/compose/compose.ts";
import type { Input, OperationName } from "../../../app/operations.ts";
import { toPointerToken } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Who } from "../../../core/operation.ts";
import { type Caller, requireRight, requireWorld, viewerOf } from "../access/caller.ts";
import { RateLimit } from "../access/rate.ts";

export interface Variables {
  readonly caller: Caller;
  /** Whether the same key would still be let in. */
  readonly still: () => Promise<boolean>;
}

type Env = { Variables: Variables };
export type Call = Context<Env>;

/** One route of worlds, as the OpenAPI document lists it. */
export interface WorldRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly who: "owner" | NonNullable<Who["world"]>;
  readonly summary: string;
  /** Whether it shows something of a world; a test drives a secret at each of them. */
  readonly reads: boolean;
  /** The operation behind it, whose schemas describe the body and the answer. */
  readonly operation?: OperationName;
  /** Names in the query. */
  readonly query?: readonly string[];
}

/** Fields of an operation as a client sent them; their values are parsed when it is called. */
type Sent<N extends OperationName> = { readonly [F in keyof Input<N>]?: unknown };

/** What the OpenAPI document says about a route besides its address, and the operation whose rights it has. */
type RouteFacts = Pick<WorldRoute, "query"> &
  ({ readonly operation: OperationName } | { readonly rightsOf: OperationName });

/** The rights of every operation, by name. */
export type Rights = ReadonlyMap<string, Who | undefined>;

const INVOCATIONS_A_SECOND = 10;
const READS_A_SECOND = 60;

/** The routes of worlds: who may use a route is checked and counted here, before anything is looked at. */
export class WorldRouter {
  readonly app: App;
  readonly hono = new Hono<Env>();
  readonly routes: WorldRoute[] = [];
  readonly #invocations = new RateLimit(INVOCATIONS_A_SECOND);
  readonly #reads = new RateLimit(READS_A_SECOND);

  readonly #rights: Rights;

  constructor(app: App, rights: Rights) {
    this.app = app;
    this.#rights = rights;
  }

  /** Adds a route. */
  route(
    method: WorldRoute["method"],
    path: string,
    summary: string,
    { query, ...named }: RouteFacts,
    handle: (call: Call, world: string) => Promise<Response>,
  ): void {
    const isRead = method === "get" && path !== "";
    const behind = "operation" in named ? named.operation : named.rightsOf;
    const rights = this.#rights.get(behind);
    // A route to an operation that is closed over HTTP is a mistake of ours.
    if (rights === undefined) throw new VerbatimError("INTERNAL", { message: `${behind} says nobody may call it` });
    const facts = { ...("operation" in named ? named : {}), ...(query === undefined ? {} : { query }) };
    const who = rights.world ?? "owner";
    this.routes.push({ method, path: `/api/worlds${path}`, who, summary, reads: isRead, ...facts });
    const limit = method === "post" && path.endsWith("/invocations") ? this.#invocations : this.#reads;
    this.hono.on(method.toUpperCase(), path === "" ? "/" : path, async (call) => {
      const caller = call.get("caller");
      const world = call.req.param("id") ?? "";
      if (world !== "") await this.#requireWorld(caller, world);
      requireRight(caller, rights);
      limit.take(caller.counted_as);
      requireKnownQuery(call, query ?? []);
      return handle(call, world);
    });
  }

  /** A token opens its story's root, and the versions that are kept or once were; an operator's all of them. */
  async #requireWorld(caller: Caller, world: string): Promise<void> {
    const { role, world_id: story } = caller;
    const isElsewhere = role !== "owner" && story !== null && story !== world;
    if (isElsewhere && (await this.app.call("world.opens", { story, world, role })).opens) return;
    requireWorld(caller, world);
  }

  /** Runs an operation and answers with its output. */
  answer<N extends OperationName>(call: Call, name: N, input: Sent<N>, status = 200): Promise<Response> {
    return answerCall(call, this.app, name, dropAbsent(input), status);
  }
}

/** Tells a caller that this is what was answered before, byte for byte. */
export const REPLAYED = { "Idempotent-Replayed": "true" } as const;

/** A name in the query that the route does not know is refused: a misspelt `preview` must not write. */
function requireKnownQuery(call: Call, known: readonly string[]): void {
  const name = Object.keys(call.req.queries()).find((one) => !known.includes(one));
  if (name === undefined) return;
  const problem = { pointer: `/query/${toPointerToken(name)}`, message: "this route has no such parameter" };
  throw new VerbatimError("INPUT_INVALID", {
    message: `${problem.pointer}: ${problem.message}`,
    where: problem.pointer,
    details: { problems: [problem] },
  });
}

/** Runs an operation and answers with its output, marked when it is given again. */
export async function answerCall(
  call: Context,
  app: App,
  name: string,
  input: unknown,
  status = 200,
  more: Pick<CallOptions, "starting" | "actor"> = {},
): Promise<Response> {
  let isReplay = false;
  const onReplay = (): void => {
    isReplay = true;
  };
  const output = (await app.callUnknown(name, input, { ...more, onReplay })) as object;
  return call.json(output, status as 200, isReplay ? REPLAYED : {});
}

/** Under which key a control write happens once. */
export function keyOf(call: Call): string | undefined {
  return call.req.header("idempotency-key");
}

/** As whom this call reads. */
export function viewerIn(call: Call): string | undefined {
  return viewerOf(call.get("caller"), call.req.query("viewer"));
}

/** As whom this call writes: a token says it, never the body. */
export function senderIn(call: Call): { readonly role: "owner" | "operator" | "player"; readonly person?: string } {
  const { role, viewer } = call.get("caller");
  if (role === "operator") return { role };
  if (role === "player" && viewer !== null) return { role, person: viewer };
  if (role === "owner") return { role };
  throw new VerbatimError("OPERATOR_ONLY");
}

/** With which rights this call reads. */
export function readerIn(call: Call): "owner" | "operator" | "player" | "viewer" {
  const { role } = call.get("caller");
  return role === "owner" || role === "operator" || role === "player" ? role : "viewer";
}

/** A number of the query; what is none is refused by the operation. */
export function numberIn(call: Call, name: string): number | undefined {
  const text = call.req.query(name);
  if (text === undefined) return undefined;
  return /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** A number of the address. */
export function numberOf(call: Call, name: string): number {
  const text = call.req.param(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

/** A word of the query. Anything but those it can be is refused: a preview that was mistyped must not write. */
export function wordIn<const W extends string>(call: Call, name: string, words: readonly [W, ...W[]]): W {
  const text = call.req.query(name) ?? words[0];
  const known = words.find((word) => word === text);
  if (known !== undefined) return known;
  const problem = { pointer: `/${name}`, message: `not one of ${words.join(", ")}` };
  throw new VerbatimError("INPUT_INVALID", {
    message: `${problem.pointer}: ${problem.message}`,
    where: problem.pointer,
    details: { problems: [problem] },
  });
}

/** A switch of the query, which is off unless it says true. */
export function switchIn(call: Call, name: string): boolean {
  return wordIn(call, name, ["false", "true"]) === "true";
}

export function dropAbsent(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
